// A call is admitted when it fits its key's window of 60 seconds and its key's monthly quota. A
// refused call is counted in neither.
//
// Calls of a cached key are confirmed instead: they count when the key's stamp is unchanged and all
// of them fit. Unconfirmed calls are counted nowhere; their key is looked up and they are metered.

import type { Caller } from "../kernel/caller.ts";
import type { Metered } from "../kernel/metered.ts";
import { istDay, istMonth, nextIstMonthStart } from "../kernel/time.ts";
import type { Allowance } from "./authenticate.ts";
import { type ItemResult, workInHalves } from "../platform/postgres/split.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import type { RateRequest, RateWindow } from "./rate-window.ts";
import type { WindowState } from "./usage-rules.ts";
import {
  type CallGroup,
  countAlone,
  countCalls,
  countFitting,
  type CountedGroup,
  insertCounters,
  type KeyTotal,
  type Period,
} from "./usage-store.ts";

type MeteredCall = {
  readonly caller: Caller;
  readonly allowance: Allowance;
  readonly route: string;
  /** For a cached key: the stamp that it must still have for the call to count. */
  readonly stamp?: string;
};

/** One outcome per call, in their order. */
export type Meter = (calls: readonly MeteredCall[]) => Promise<ItemResult<Metered>[]>;

/** A call of a cached root key. */
export type RememberedCall = MeteredCall & { readonly stamp: string };

/** One outcome per call, in their order; undefined when the key must be looked up. */
export type Confirm = (
  calls: readonly RememberedCall[],
) => Promise<(ItemResult<Metered> | undefined)[]>;

/** A call with its window; a call that the window refused only reads the counter. */
type Windowed = { readonly call: MeteredCall; readonly ask: RateRequest; window: WindowState };

type Counted = { readonly granted: boolean; readonly used: number };

/** The quota of keys without one: the column is compared with a number. */
const unlimited = Number.MAX_SAFE_INTEGER;

export function openMeter({ db, now }: Pick<Context, "db" | "now">, rateWindow: RateWindow): Meter {
  const countWhole = (calls: readonly Windowed[]) => countFittingSet({ db, now }, calls);
  const countAny = (calls: readonly Windowed[]) => countSet({ db, now }, calls);

  /** One short statement counts keys whose calls all fit; the others are counted call by call. */
  async function count(calls: readonly Windowed[]): Promise<readonly ItemResult<Counted>[]> {
    const outcomes = new Map<Windowed, ItemResult<Counted>>();
    const admitted = calls.filter(({ window }) => window.admitted);
    const tried = await workInHalves(countWhole, admitted);
    if (admitted.length === calls.length && isDecided(tried)) return tried;
    admitted.forEach((item, at) => {
      const outcome = tried[at];
      if (outcome) outcomes.set(item, outcome);
    });
    const rest = calls.filter((call) => !outcomes.has(call));
    const decided = await workInHalves(countAny, rest);
    rest.forEach((call, at) => outcomes.set(call, decided[at] as ItemResult<Counted>));
    return calls.map((call) => outcomes.get(call) as ItemResult<Counted>); // Each is in it.
  }

  async function giveBack(item: Windowed): Promise<void> {
    item.window = await rateWindow.giveBack(item.ask, item.window);
  }

  return async function meterCalls(calls) {
    const windowed = await takeWindows(rateWindow, calls);
    const outcomes = await count(windowed);
    const overQuota = windowed.filter(({ window }, at) => {
      const outcome = outcomes[at] as ItemResult<Counted>;
      return window.admitted && !(outcome instanceof Error) && !outcome.granted;
    });
    if (overQuota.length > 0) await Promise.all(overQuota.map(giveBack));
    return windowed.map((item, at) => {
      const outcome = outcomes[at] as ItemResult<Counted>;
      if (outcome instanceof Error) return outcome;
      const metered = toMetered(item.call.allowance, item.window, outcome);
      return overQuota.includes(item) ? { ...metered, quotaReset: secondsToMonth(now()) } : metered;
    });
  };
}

function secondsToMonth(now: Date): number {
  return Math.ceil((nextIstMonthStart(now).getTime() - now.getTime()) / 1_000);
}

export function openConfirmer(
  { db, now }: Pick<Context, "db" | "now">,
  rateWindow: RateWindow,
): Confirm {
  return async function confirmCalls(calls) {
    const windowed = await takeWindows(rateWindow, calls);
    const fitting = windowed.filter(({ window }) => window.admitted);
    const tried = await workInHalves((set) => countFittingSet({ db, now }, set), fitting);
    const outcomes = new Map(fitting.map((item, at) => [item, tried[at]]));
    const unconfirmed = fitting.filter((item) => outcomes.get(item) === undefined);
    await Promise.all(unconfirmed.map(({ ask, window }) => rateWindow.giveBack(ask, window)));
    return windowed.map((item) => {
      const outcome = outcomes.get(item);
      if (outcome === undefined || outcome instanceof Error) return outcome;
      return toMetered(item.call.allowance, item.window, outcome);
    });
  };
}

async function takeWindows(
  rateWindow: RateWindow,
  calls: readonly MeteredCall[],
): Promise<Windowed[]> {
  const asks = calls.map(toAsk);
  const windows = await rateWindow.take(asks);
  return calls.map((call, at) => {
    return { call, ask: asks[at] as RateRequest, window: windows[at] as WindowState }; // One for each call.
  });
}

/** Whether every call was counted by the short statement. */
function isDecided(
  tried: readonly ItemResult<Counted | undefined>[],
): tried is readonly ItemResult<Counted>[] {
  return tried.every((outcome) => outcome !== undefined);
}

function toAsk({ caller, allowance }: MeteredCall): RateRequest {
  return { keyId: caller.keyId, limit: allowance.enforced ? allowance.perMinute : Infinity };
}

function toMetered(allowance: Allowance, window: WindowState, counted: Counted): Metered {
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

function toPeriod(instant: Date): Period {
  return { month: istMonth(instant), day: istDay(instant), now: instant };
}

/** Undefined for keys whose calls do not all fit their quota. */
async function countFittingSet(
  { db, now }: Pick<Context, "db" | "now">,
  calls: readonly Windowed[],
): Promise<ItemResult<Counted | undefined>[]> {
  if (calls.length === 0) return [];
  const { groups } = groupCalls(calls);
  const stamps = new Map(calls.map(({ call }) => [call.caller.keyId, call.stamp]));
  const totals = new Map<string, KeyTotal>();
  for (const { key_id, calls: more, quota } of groups) {
    const soFar = totals.get(key_id)?.calls ?? 0;
    const stamp = stamps.get(key_id) ?? null;
    totals.set(key_id, { key_id, calls: soFar + more, quota, stamp });
  }
  const raised = await countTotals(db, { totals: [...totals.values()], groups }, toPeriod(now()));
  const usedBefore = new Map(
    raised.map(({ key_id, calls: shown }) => [key_id, shown - (totals.get(key_id)?.calls ?? 0)]),
  );
  return calls.map(({ call: { caller } }) => {
    const before = usedBefore.get(caller.keyId);
    if (before === undefined) return undefined;
    usedBefore.set(caller.keyId, before + 1);
    return { granted: true, used: before + 1 };
  });
}

async function countTotals(
  db: Db,
  {
    totals,
    groups,
  }: { readonly totals: readonly KeyTotal[]; readonly groups: readonly CallGroup[] },
  period: Period,
): Promise<{ key_id: string; calls: number }[]> {
  const [total] = totals;
  const [group] = groups;
  if (groups.length === 1 && group && total && total.stamp !== null) {
    const raised = await countAlone(db, total, group, period);
    // Otherwise it may be the month's first call, whose counter is missing.
    if (raised.length > 0) return raised;
  }
  return await countFitting(db, { totals, groups }, period);
}

async function countSet(
  { db, now }: Pick<Context, "db" | "now">,
  calls: readonly Windowed[],
): Promise<ItemResult<Counted>[]> {
  if (calls.length === 0) return [];
  const period = toPeriod(now());
  const { groups, groupPositions } = groupCalls(calls);
  const counted = await countCalls(db, groups, period);
  const byPosition = new Map(counted.map((group) => [group.position, { ...group, next: 0 }]));
  let fault = new Error("every group of a set is counted");
  if (counted.length < groups.length) {
    try {
      const fresh = groups.map((_, position) => position).filter((at) => !byPosition.has(at));
      for (const group of await countNewKeys(db, { groups, fresh }, period)) {
        byPosition.set(group.position, { ...group, next: 0 });
      }
    } catch (error) {
      // The other calls are counted already. Only the new keys get this error: a retry of the
      // whole set would count the others twice.
      fault = error instanceof Error ? error : new Error(String(error));
    }
  }
  return groupPositions.map((position) => {
    const group = byPosition.get(position);
    if (!group) return fault;
    const granted = group.next < group.granted;
    if (granted) group.next += 1;
    return { granted, used: group.used_before + group.next };
  });
}

/** Counts groups whose key has no counter this month, after inserting it. */
async function countNewKeys(
  db: Db,
  { groups, fresh }: { groups: readonly CallGroup[]; fresh: readonly number[] },
  period: Period,
): Promise<CountedGroup[]> {
  const newcomers = fresh.map((position) => groups[position] as CallGroup); // Positions in groups.
  const keyIds = newcomers.map(({ key_id }) => key_id);
  await insertCounters(db, [...new Set(keyIds)], period.month);
  const counted = await countCalls(db, newcomers, period);
  return counted.map((group) => ({ ...group, position: fresh[group.position] ?? -1 }));
}

/** One group per key and route, in the order of their first call, and each call's position. */
function groupCalls(calls: readonly Windowed[]) {
  const positions = new Map<string, number>();
  const groups: (CallGroup & { calls: number })[] = [];
  const groupPositions = calls.map(({ call: { caller, allowance, route }, window }) => {
    const name = `${caller.keyId} ${window.admitted} ${route}`;
    let position = positions.get(name);
    if (position === undefined) {
      position = groups.length;
      positions.set(name, position);
      groups.push({
        key_id: caller.keyId,
        route,
        calls: 0,
        quota: allowance.quota ?? unlimited,
      });
    }
    const group = groups[position];
    if (group && window.admitted) group.calls += 1;
    return position;
  });
  return { groups, groupPositions };
}
