import { readCalendar } from "../calendar/read-calendar.ts";
import { fundingReference } from "../deposits/rules.ts";
import { takeDeposits } from "../deposits/take-deposits.ts";
import { recordChanges } from "../events/record-changes.ts";
import type { Answered } from "../inquiries/rules.ts";
import type { Actor } from "../kernel/actor.ts";
import { assertWritten } from "../ledger/rules.ts";
import { postEntries } from "../ledger/write-books.ts";
import type { Tx } from "../platform/postgres.ts";
import { changesOfCross } from "./change-of-cross.ts";
import { escrowEntry } from "./escrow.ts";
import { moveToDeadline } from "./move-cross.ts";
import { lockCrosses, setCrosses } from "./store.ts";

type Funding = Answered<"deal_funding">;

/** What the bank says about payments that crosses wait for. One that did not come can be made anew. */
export async function applyCrossFunding(
  tx: Tx,
  actor: Actor,
  answered: readonly Funding[],
  now: Date,
): Promise<void> {
  const said = new Map(answered.map((inquiry) => [inquiry.subject_id, inquiry]));
  const waiting = (await lockCrosses(tx, [...said.keys()])).filter((row) => row.state === "agreed");
  if (waiting.length === 0) return;
  const when = { now, calendar: await readCalendar(tx) };
  const decided = waiting.map((before) => {
    const inquiry = said.get(before.cross_id);
    const after = inquiry?.answer.arrived
      ? moveToDeadline(before, "fund", when)
      : { ...before, payment_ref: null, version: before.version + 1, updated_at: now };
    return { inquiry, before, after };
  });
  await setCrosses(
    tx,
    decided.map(({ after }) => after),
  );
  const funded = decided.filter(({ after }) => after.state === "funded");
  const taken = await takeDeposits(
    tx,
    funded.map(({ inquiry, after }) => ({
      environment: after.environment,
      reference: inquiry?.answer.reference ?? fundingReference(after.cross_id),
      deskId: after.buyer_desk_id ?? "",
      firmId: after.buyer_firm_id ?? "",
      paise: after.buyer_paise,
      settlementId: null,
    })),
    now,
  );
  const holds = funded.map(({ after }) => escrowEntry(after));
  assertWritten(await postEntries(tx, [...taken.entries, ...holds], now));
  const changes = decided.flatMap(({ before, after }) => {
    const isFunded = after.state === "funded";
    const action = isFunded ? "fund" : "miss_payment";
    return changesOfCross({ action, isTold: isFunded, before, after });
  });
  await recordChanges(tx, actor, [...taken.changes, ...changes], now);
}
