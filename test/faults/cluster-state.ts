// What Patroni says of its cluster, and what it is told.

import { type Member, ports } from "./cluster-config.ts";

const askMs = 1_500;

type Seen = {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
};

type View = { readonly leader: string | undefined; readonly members: readonly Seen[] };

/** What the members that can be asked say of the cluster; undefined while there is no primary. */
export async function look(members: readonly Member[]): Promise<View | undefined> {
  for (const { address } of members) {
    const answer = (await ask(`http://${address}:${ports.patroni}/cluster`)) as
      | { readonly members: readonly Seen[] }
      | undefined;
    const leader = answer?.members.find(({ role }) => role === "leader")?.name;
    if (!answer || leader === undefined) continue;
    // A lease that has not run out names one that is gone.
    const member = members.find(({ name }) => name === leader);
    if (!member || (await ask(`http://${member.address}:${ports.patroni}/primary`)) === undefined) {
      continue;
    }
    return { leader, members: answer.members };
  }
  return undefined;
}

export async function isWhole(
  members: readonly Member[],
  isSynchronous: boolean,
): Promise<boolean> {
  const view = await look(members);
  if (view?.members.length !== members.length) return false;
  const timeline = view.members.find(({ role }) => role === "leader")?.timeline;
  const areThere = view.members.every(
    (member) => ["running", "streaming"].includes(member.state) && member.timeline === timeline,
  );
  if (!areThere || !isSynchronous) return areThere;
  return view.members.some(({ role }) => role === "sync_standby");
}

export async function ask(url: string): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(askMs) });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

export async function configure(members: readonly Member[], settings: object): Promise<void> {
  const [{ address }] = members as readonly [Member];
  await fetch(`http://${address}:${ports.patroni}/config`, {
    method: "PATCH",
    body: JSON.stringify(settings),
  });
}
