// A call is let in when it fits three counts: its key's window of 60 seconds, its key's own monthly
// quota and the monthly pool of its root key. A call that is refused enters none of them.

import type { Caller } from "../kernel/caller.ts";
import type { Metered } from "../kernel/metered.ts";
import { istDay, istMonth } from "../kernel/time.ts";
import type { Allowance } from "../keys/authenticate.ts";
import { coalesce } from "../platform/coalesce.ts";
import type { Context } from "../platform/context.ts";
import type { Metrics } from "../platform/metrics.ts";
import { isRefusedByServer } from "../platform/postgres.ts";
import type { RateWindow } from "./rate-window.ts";
import type { WindowState } from "./rules.ts";
import { type CallGroup, countCalls, insertCounters } from "./store.ts";

export type Meter = (caller: Caller, allowance: Allowance, route: string) => Promise<Metered>;

type Call = {
  readonly caller: Caller;
  readonly allowance: Allowance;
  readonly route: string;
  /** False for a call that is already refused and only asks what the counter shows. */
  readonly draws: boolean;
};

type Counted = { readonly granted: boolean; readonly used: number };

const setSizeMax = 512;
const queueMax = 20_000;
/** Where there is no quota a bigint still has to be compared with something. */
const unlimited = Number.MAX_SAFE_INTEGER;

export function meter(
  { db, now }: Pick<Context, "db" | "now">,
  rateWindow: RateWindow,
  { setSize }: Pick<Metrics, "setSize">,
): Meter {
  const count = coalesce((calls: readonly Call[]) => countSet({ db, now }, calls), {
    setSizeMax,
    queueMax,
    mayRetry: isRefusedByServer,
    onSet: (size) => setSize.observe({ set: "calls" }, size),
  });

  return async function meterCall(caller, allowance, route) {
    const ask = {
      keyId: caller.keyId,
      limit: allowance.enforced ? allowance.perMinute : Infinity,
    };
    const window = await rateWindow.take(ask);
    const counted = await count({ caller, allowance, route, draws: window.admitted });
    const isOverQuota = window.admitted && !counted.granted;
    return metered(
      allowance,
      isOverQuota ? await rateWindow.giveBack(ask, window) : window,
      counted,
    );
  };
}

function metered(allowance: Allowance, window: WindowState, counted: Counted): Metered {
  return {
    admitted: window.admitted && counted.granted,
    plan: allowance.plan,
    limit: allowance.perMinute,
    remaining: Math.max(0, allowance.perMinute - window.used),
    reset: Math.ceil(window.clearsInMs / 1_000),
    quota: allowance.quota,
    quotaUsed: counted.used,
  };
}

async function countSet(
  { db, now }: Pick<Context, "db" | "now">,
  calls: readonly Call[],
): Promise<Counted[]> {
  const instant = now();
  const period = { month: istMonth(instant), day: istDay(instant) };
  const { groups, groupOf } = groupCalls(calls);
  let counted = await countCalls(db, groups, period);
  if (counted.length < groups.length) {
    // A key's first call of the month. Nothing was granted to it, so only it is asked for again.
    const known = new Set(counted.map(({ position }) => position));
    const fresh = groups.flatMap((_, position) => (known.has(position) ? [] : [position]));
    const newcomers = fresh.map((position) => groups[position] as CallGroup); // Made from groups.
    const keyIds = newcomers.flatMap(({ key_id, root_key_id }) => [key_id, root_key_id]);
    await insertCounters(db, [...new Set(keyIds)], period.month);
    const later = await countCalls(db, newcomers, period);
    counted = [
      ...counted,
      ...later.map((group) => ({ ...group, position: fresh[group.position] ?? -1 })),
    ];
  }
  const byPosition = new Map(counted.map((group) => [group.position, { ...group, next: 0 }]));
  return groupOf.map((position) => {
    const group = byPosition.get(position);
    if (!group) throw new Error("every group of a set is counted");
    const granted = group.next < group.granted;
    if (granted) group.next += 1;
    return { granted, used: group.used_before + group.next };
  });
}

/** One group per key and route, in the order of their first call, and each call's group. */
function groupCalls(calls: readonly Call[]) {
  const positions = new Map<string, number>();
  const groups: (CallGroup & { calls: number })[] = [];
  const groupOf = calls.map(({ caller, allowance, route, draws }) => {
    const name = `${caller.keyId} ${draws} ${route}`;
    let position = positions.get(name);
    if (position === undefined) {
      position = groups.length;
      positions.set(name, position);
      groups.push({
        key_id: caller.keyId,
        root_key_id: caller.rootKeyId,
        route,
        calls: 0,
        quota: allowance.quota ?? unlimited,
        pool_quota: allowance.poolQuota ?? unlimited,
      });
    }
    const group = groups[position];
    if (group && draws) group.calls += 1;
    return position;
  });
  return { groups, groupOf };
}
