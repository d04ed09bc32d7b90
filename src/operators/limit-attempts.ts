// Limits attempts to sign in and to enrol, for each name and network:
//
//   own network     an IPv4 address, or the /64 of an IPv6 address: a few failures are free, then each
//                   one doubles the wait
//   neighbourhood   the /24 or /48 around it, as much as sixteen networks: whoever owns one has more
//                   addresses than attempts
//   everywhere      makes nobody wait; after some failures the admins are told
//
// So whoever hammers a name makes their own neighbourhood wait and nobody else, and the person of that
// name gets in from elsewhere. Names that nobody has are counted alike.

import { recordChanges } from "../journal/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import {
  findNeighbourhood,
  networksOfNeighbourhood,
  subscriberNetwork,
} from "../kernel/networks.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import {
  type AttemptsRow,
  forgetAttempts,
  forgetOldAttempts,
  lockAttempts,
  setAttempts,
} from "./store.ts";
import { buildOperatorChange } from "./manage-operators.ts";
import { computeWaitS, tooManyAttempts } from "./rules.ts";
import { findOperator } from "./store.ts";

type SignInAttempt = {
  readonly nameKey: string;
  /** Where it comes from: an address, or a word where there is none. */
  readonly from: string;
  readonly requestId: string | null;
};

/** Where commands run: they have no address. */
export const commandLine = "command line";

/** A count is forgotten a day after its last wait. */
const forgetAfterMs = 86_400_000;
/** More counts than this are forgotten, the oldest first, so that made-up names do not fill the table. */
const countsMax = 20_000;
/** Failures under one name within a day, wherever they come from, before the admins are told. */
const failuresToTell = 10;
/** They are told of one name so often at most. */
const tellEveryMs = 3_600_000;

const everywhere = "everywhere";

/**
 * An attempt is counted before it runs, so that parallel ones cannot escape the count; a success resets
 * the counts of its networks.
 */
export async function limitAttempts<Result>(
  ctx: Pick<Context, "db" | "now">,
  attempt: SignInAttempt,
  run: () => Promise<Result>,
): Promise<Result> {
  const now = ctx.now();
  const waitMs = await ctx.db.transaction(async (tx) => await countAttempt(tx, attempt, now));
  if (waitMs > 0) throw tooManyAttempts(Math.ceil(waitMs / 1_000));
  try {
    const result = await run();
    for (const { network } of listCounters(attempt.from)) {
      await forgetAttempts(ctx.db, { nameKey: attempt.nameKey, network });
    }
    return result;
  } catch (error) {
    if (error instanceof Failure) {
      await ctx.db.transaction(async (tx) => await noteFailure(tx, attempt, now));
    }
    throw error;
  }
}

type Counter = { readonly network: string; readonly networks: number };

/** The own network before its neighbourhood: everybody locks the counts in this order. */
function listCounters(from: string): readonly Counter[] {
  const own = { network: subscriberNetwork(from) ?? from, networks: 1 };
  const neighbourhood = findNeighbourhood(from);
  return neighbourhood === undefined
    ? [own]
    : [own, { network: neighbourhood, networks: networksOfNeighbourhood }];
}

/** How long the attempt has to wait; counts it when it has not. */
async function countAttempt(tx: Tx, { nameKey, from }: SignInAttempt, now: Date): Promise<number> {
  const since = new Date(now.getTime() - forgetAfterMs);
  const counted: AttemptsRow[] = [];
  for (const { network, networks } of listCounters(from)) {
    const row = await lockAttempts(tx, { nameKey, network }, { now, since });
    const waitMs = row.next_at.getTime() - now.getTime();
    if (waitMs > 0) return waitMs;
    const failures = row.failures + 1;
    const next_at = new Date(now.getTime() + computeWaitS(failures, networks) * 1_000);
    counted.push({ ...row, failures, next_at });
  }
  for (const row of counted) await setAttempts(tx, row);
  const isNew = counted.some(({ failures }) => failures === 1);
  if (isNew) await forgetOldAttempts(tx, { since, most: countsMax });
  return 0;
}

async function noteFailure(tx: Tx, attempt: SignInAttempt, now: Date): Promise<void> {
  const { nameKey } = attempt;
  const since = new Date(now.getTime() - forgetAfterMs);
  const row = await lockAttempts(tx, { nameKey, network: everywhere }, { now, since });
  const failures = row.failures + 1;
  if (failures < failuresToTell || row.next_at > now) {
    await setAttempts(tx, { ...row, failures });
    return;
  }
  const next_at = new Date(now.getTime() + tellEveryMs);
  await setAttempts(tx, { ...row, failures: 0, next_at });
  await tellAdmins(tx, attempt, { failures, now });
}

async function tellAdmins(
  tx: Tx,
  { nameKey, from, requestId }: SignInAttempt,
  { failures, now }: { readonly failures: number; readonly now: Date },
): Promise<void> {
  const person = await findOperator(tx, nameKey);
  if (!person || person.disabled_at !== null) return;
  const visitor: Actor = { kind: "visitor", id: "sign-in", requestId };
  const event = {
    name: "operator.sign_in_failing",
    from: null,
    to: null,
    data: { name: person.name, failures, last_from: from },
  };
  const change = { ...buildOperatorChange("sign_in_failing", person), event };
  await recordChanges(tx, visitor, [change], now);
}
