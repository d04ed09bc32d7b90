// What the tests of metering look at: the headers of an answer, and how many calls got through.

import type { Answer, Send } from "./service.ts";

/** The numbers of an answer's headers, under the names that GET /v1/usage gives them. */
export function meterHeaders({ headers }: Answer) {
  const number = (name: string) => {
    const text = headers.get(name);
    return text === null ? undefined : Number(text);
  };
  const quota = number("x-ratelimit-quota");
  return {
    plan: headers.get("x-ratelimit-plan"),
    limit: number("x-ratelimit-limit"),
    remaining: number("x-ratelimit-remaining"),
    reset: number("x-ratelimit-reset"),
    ...(quota !== undefined && { quota }),
    quota_used: number("x-ratelimit-quota-used"),
  };
}

/** How often each status was answered. */
export function countStatuses(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const routes = ["/v1/whoami", "/v1/meta/states", "/v1/usage"];

/** So many calls at once, spread over the nodes, the keys and a few routes. */
export async function callAtOnce(
  calls: number,
  { nodes, keys }: { nodes: readonly { readonly send: Send }[]; keys: readonly string[] },
): Promise<Answer[]> {
  return await Promise.all(
    Array.from({ length: calls }, async (_, call) => {
      const node = nodes[call % nodes.length]!;
      const key = keys[Math.floor(call / nodes.length) % keys.length]!;
      return await node.send("GET", routes[call % routes.length]!, { key });
    }),
  );
}

/** A child of a root key, with limits of its own. */
export async function mintChild(
  { send }: { readonly send: Send },
  root: string,
  limits: { per_minute?: number; monthly_quota?: number } = {},
): Promise<{ key_id: string; api_key: string }> {
  const body = { name: "child", kind: "app", scopes: ["*"], limits };
  return (await send("POST", "/v1/keys", { key: root, body, expect: 201 })).body;
}
