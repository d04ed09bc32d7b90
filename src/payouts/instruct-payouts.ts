import type { Change } from "../kernel/actor.ts";
import type { Tx } from "../platform/postgres.ts";
import { changeOfPayout } from "./change-of-payout.ts";
import { instructTogether, type MovedPayout } from "./decide-payouts.ts";
import { movePayout } from "./move-payout.ts";
import type { PlannedRemittance } from "./plan-remittances.ts";
import { lockRemitted, setPayouts } from "./store.ts";

/** Remittances that were locked are in a file from here on. The first payout of each names it. */
export async function instructPayouts(
  tx: Tx,
  planned: readonly PlannedRemittance[],
  now: Date,
): Promise<{ readonly leadIds: readonly string[]; readonly changes: readonly Change[] }> {
  const moved = planned.map(({ ifsc, last4, payouts }) =>
    instructTogether(
      payouts.map((row) => ({ ...row, ifsc, last4 })),
      now,
    ),
  );
  const changes = await storeMoved(tx, moved.flat());
  return { leadIds: moved.map(([first]) => first?.after.payout_id ?? ""), changes };
}

/** What was in a file that the bank never got is due again. */
export async function releaseInstructed(
  tx: Tx,
  leadIds: readonly string[],
  { reason, now }: { readonly reason: string; readonly now: Date },
): Promise<readonly Change[]> {
  const instructed = await lockRemitted(tx, leadIds);
  const moved = instructed
    .filter((row) => row.state === "instructed")
    .map((before): MovedPayout => {
      return { action: "void", before, after: movePayout(before, "void", { reason, now }) };
    });
  return await storeMoved(tx, moved);
}

async function storeMoved(tx: Tx, moved: readonly MovedPayout[]): Promise<readonly Change[]> {
  if (moved.length === 0) return [];
  await setPayouts(
    tx,
    moved.map(({ after }) => after),
  );
  return moved.map(changeOfPayout);
}
