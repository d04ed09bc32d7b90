// What firms owe is taken from their payouts that have not left: they are recalled, the books set the
// dues off, and what is left is scheduled anew. A payout that is in a file or with the bank goes on.

import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { type Environment, environments } from "../kernel/caller.ts";
import { addPaise, type PaiseSum } from "../kernel/money.ts";
import { findDues } from "../ledger/read-books.ts";
import { assertWritten } from "../ledger/rules.ts";
import { writeBooks } from "../ledger/write-books.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workInParts } from "../platform/postgres/offenders.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { claimOwing, claimUnsentByFirm, lockUnsent } from "./dues-store.ts";
import { buildResendEarning, recallAll } from "./decide-payouts.ts";
import { storeRecall } from "./recall-payouts.ts";
import { schedulePayouts } from "./schedule-payouts.ts";
import { listLines, type PayoutRow } from "./store.ts";

/** Why a payout came back whose money paid dues. */
const setOffReason = "dues_set_off";

/** The firms are of one environment; their payouts and then their money were locked, as `owing`. */
export async function setOffUnsentPayouts(
  tx: Tx,
  environment: Environment,
  firmIds: readonly string[],
  now: Date,
): Promise<readonly Change[]> {
  if (firmIds.length === 0) return [];
  const unsent = await claimUnsentByFirm(tx, firmIds);
  const owed = await tx.run(findDues(environment, firmIds));
  const rows = selectOwed(unsent, owed);
  if (rows.length === 0) return [];
  const recalled = await storeRecall(tx, recallAll(rows, setOffReason, now));
  const lines = Map.groupBy(
    await listLines(
      tx,
      rows.map(({ payout_id }) => payout_id),
    ),
    ({ payout_id }) => payout_id,
  );
  const earnings = recalled.rows.map((row) =>
    buildResendEarning(row, { lines: lines.get(row.payout_id) ?? [], isReversed: false }),
  );
  const { entries, changes } = await schedulePayouts(tx, earnings, now);
  const written = await writeBooks(tx, { resolutions: recalled.resolutions, entries }, now);
  assertWritten(written.resolutions);
  assertWritten(written.entries);
  return [...recalled.changes, ...changes];
}

/** The oldest payouts of each firm, as many as it takes to cover what it owes. */
function selectOwed(
  unsent: readonly PayoutRow[],
  owed: ReadonlyMap<string, PaiseSum>,
): PayoutRow[] {
  const taken = new Map<string, PaiseSum>();
  return unsent.filter(({ firm_id, paise }) => {
    const before = taken.get(firm_id) ?? 0;
    if (before >= (owed.get(firm_id) ?? 0)) return false;
    taken.set(firm_id, addPaise(before, paise));
    return true;
  });
}

const setSizeMax = 100;
const duesWorker: Actor = { kind: "worker", id: "dues", requestId: null };

/** Collects from one set of firms that owe although they have money: those that owed before this rule. */
export async function collectDues(
  ctx: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const now = ctx.now();
  let more = false;
  for (const environment of environments) {
    const done = await workInParts(offenders, (choice, note) =>
      ctx.db.transaction(async (tx) => {
        const firmIds = await claimOwing(tx, environment, { limit: setSizeMax, ...choice });
        note(firmIds);
        if (firmIds.length === 0) return 0;
        await lockUnsent(tx, firmIds);
        const owing = firmIds.map((firmId) => ({ environment, firmId }));
        const { owing: left } = await writeBooks(tx, { owing }, now);
        const changes = await setOffUnsentPayouts(tx, environment, [...left], now);
        await recordChanges(tx, duesWorker, changes, now);
        return firmIds.length;
      }),
    );
    more ||= done === setSizeMax;
  }
  return more ? "more" : "idle";
}
