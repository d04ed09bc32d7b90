// How crosses end before they are released: by a party, by the clock or by customs. What was reserved
// is let go, and what was in escrow goes back, in one transaction with the end.

import { releaseCredits } from "../credits/reserve-credits.ts";
import { dropQuestions } from "../inquiries/ask-outside.ts";
import type { Change } from "../kernel/actor.ts";
import { assertWritten } from "../ledger/rules.ts";
import { resolveEntries } from "../ledger/write-books.ts";
import type { Tx } from "../platform/postgres.ts";
import { changesOfCross } from "./change-of-cross.ts";
import { escrowName } from "./escrow.ts";
import { moveCross } from "./move-cross.ts";
import type { LastMove } from "./rules.ts";
import { type AddressedFirm, type CrossRow, listAddressed, setCrosses } from "./store.ts";

/** A locked cross, and how it ends. */
export type Ending = {
  readonly cross: CrossRow;
  readonly move: LastMove;
  readonly action: string;
  readonly reason: string | null;
};

export async function endCrosses(
  tx: Tx,
  endings: readonly Ending[],
  now: Date,
): Promise<readonly Change[]> {
  if (endings.length === 0) return [];
  const ended = endings.map(({ cross: before, move, action, reason }) => ({
    action,
    before,
    after: moveCross(before, move, { reason, now }),
  }));
  await setCrosses(
    tx,
    ended.map(({ after }) => after),
  );
  const reserving = ended.filter(({ before }) => before.state !== "proposed");
  await releaseCredits(
    tx,
    reserving.flatMap(({ before: { environment, scrip_nos, cross_id } }) =>
      scrip_nos.map((scripNo) => ({ environment, scripNo, reservedFor: cross_id })),
    ),
    now,
  );
  const funded = ended.filter(({ before }) => before.state === "funded");
  const voided = funded.map(({ before }) => ({ ...escrowName(before), as: "voided" as const }));
  assertWritten(await resolveEntries(tx, voided, now));
  const paying = ended.filter(({ before }) => before.payment_ref !== null);
  await dropQuestions(
    tx,
    paying.map(({ before }) => before.cross_id),
  );
  const addressed = await addressedBy(
    tx,
    ended.map(({ after }) => after),
  );
  return ended.flatMap(({ action, before, after }) =>
    changesOfCross({ action, before, after, addressed }),
  );
}

/** Those who could have answered, and now cannot. */
async function addressedBy(tx: Tx, crosses: readonly CrossRow[]): Promise<AddressedFirm[]> {
  const found: AddressedFirm[] = [];
  for (const [environment, rows] of Map.groupBy(crosses, (row) => row.environment)) {
    const iecs = rows.map((row) => row.awaited_iec).filter((iec) => iec !== null);
    if (iecs.length > 0) found.push(...(await listAddressed(tx, environment, iecs)));
  }
  return found;
}
