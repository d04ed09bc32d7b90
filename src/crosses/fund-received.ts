import { readCalendar } from "../calendar/read-calendar.ts";
import type { Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { type PaiseSum, subtractPaise } from "../kernel/sums.ts";
import type { Entry } from "../ledger/rules.ts";
import type { Db, Tx } from "../platform/postgres.ts";
import { changesOfCross } from "./change-of-cross.ts";
import { escrowEntry } from "./escrow.ts";
import { moveToDeadline } from "./move-cross.ts";
import { listAwaitedPayments, listBuyers } from "./read-store.ts";
import { type CrossRow, lockCrosses, setCrosses } from "./store.ts";

/** A cross as other slices know it. */
export type AwaitedCross = CrossRow;

/** Who buys in these crosses, as far as it is known. */
export async function buyersOfCrosses(
  db: Db,
  crossIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (crossIds.length === 0) return new Map();
  const rows = await listBuyers(db, crossIds);
  return new Map(
    rows.flatMap(({ cross_id, buyer_firm_id }) =>
      buyer_firm_id === null ? [] : [[cross_id, buyer_firm_id]],
    ),
  );
}

/** The payments that crosses wait for, by what their buyers named them. */
export async function awaitedPayments(db: Db, environment: Environment) {
  return await listAwaitedPayments(db, environment);
}

export async function lockCrossesById(
  tx: Tx,
  crossIds: readonly string[],
): Promise<readonly AwaitedCross[]> {
  return crossIds.length === 0 ? [] : await lockCrosses(tx, crossIds);
}

/** What is left for the caller: the entries to write with its own, and the changes to record. */
export type FundedCrosses = {
  readonly dealIds: readonly string[];
  readonly entries: readonly Entry[];
  readonly changes: readonly Change[];
};

/**
 * Puts into escrow what locked crosses cost, where what their buyers have now reaches for all of it;
 * what is used up is taken from `available`. The others wait for the rest.
 */
export async function fundReceivedCrosses(
  tx: Tx,
  crosses: readonly AwaitedCross[],
  {
    available,
    reference,
    now,
  }: {
    readonly available: Map<string, PaiseSum>;
    /** What the bank named the money by, for a buyer who named it by nothing. */
    readonly reference: (crossId: string) => string;
    readonly now: Date;
  },
): Promise<FundedCrosses> {
  const waiting = crosses.filter(({ state }) => state === "agreed");
  if (waiting.length === 0) return { dealIds: [], entries: [], changes: [] };
  const when = { now, calendar: await readCalendar(tx) };
  const funded = waiting
    .filter(({ buyer_firm_id, buyer_paise }) => {
      const left = subtractPaise(available.get(buyer_firm_id ?? "") ?? 0, buyer_paise);
      if (left >= 0) available.set(buyer_firm_id ?? "", left);
      return left >= 0;
    })
    .map((before) => {
      const payment_ref = before.payment_ref ?? reference(before.cross_id);
      return { before, after: { ...moveToDeadline(before, "fund", when), payment_ref } };
    });
  if (funded.length === 0) return { dealIds: [], entries: [], changes: [] };
  await setCrosses(
    tx,
    funded.map(({ after }) => after),
  );
  return {
    dealIds: funded.map(({ after }) => after.cross_id),
    entries: funded.map(({ after }) => escrowEntry(after)),
    changes: funded.flatMap(({ before, after }) =>
      changesOfCross({ action: "fund", before, after }),
    ),
  };
}
