import { recordChanges } from "../events/record-changes.ts";
import type { Answered } from "../inquiries/rules.ts";
import type { Actor } from "../kernel/actor.ts";
import { assertWritten } from "../ledger/rules.ts";
import { resolveEntries } from "../ledger/write-books.ts";
import type { Tx } from "../platform/postgres.ts";
import { changeOfPayout } from "./change-of-payout.ts";
import { answerPayout, endOf } from "./decide-payouts.ts";
import { lockRemitted, setPayouts } from "./store.ts";

/** What the bank says about money that was sent: it arrived, or it is the firm's balance again. */
export async function applyPayments(
  tx: Tx,
  actor: Actor,
  answered: readonly Answered<"payout">[],
  now: Date,
): Promise<void> {
  const said = new Map(answered.map((inquiry) => [inquiry.subject_id, inquiry.answer]));
  const sent = (await lockRemitted(tx, [...said.keys()])).filter((row) => row.state === "sent");
  if (sent.length === 0) return;
  const moved = sent.map((before) =>
    answerPayout(before, said.get(before.remitted_with ?? ""), now),
  );
  await setPayouts(
    tx,
    moved.map(({ after }) => after),
  );
  const resolutions = moved.map(({ after }) => endOf(after));
  assertWritten(await resolveEntries(tx, resolutions, now));
  await recordChanges(tx, actor, moved.map(changeOfPayout), now);
}
