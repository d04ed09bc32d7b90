import { askOutside } from "../inquiries/ask-outside.ts";
import type { Tx } from "../platform/postgres.ts";
import { payoutScenarios } from "../scenarios/rules.ts";
import { takeFrom, takeScenarios } from "../scenarios/take-scenarios.ts";
import type { PayoutRow } from "./store.ts";

/** Asks what became of money that was sent: once for a remittance, by the payout that names it. */
export async function askBank(tx: Tx, left: readonly PayoutRow[], now: Date): Promise<void> {
  const sent = left.filter((row) => row.remitted_with === row.payout_id);
  const sandboxed = sent.filter((row) => row.environment === "sandbox");
  const scenarios = await takeScenarios(tx, "sandbox", {
    deskIds: sandboxed.map((row) => row.desk_id),
    wanted: payoutScenarios,
  });
  await askOutside(
    tx,
    sent.map((row) => ({
      environment: row.environment,
      deskId: row.desk_id,
      port: "bank",
      kind: "payout",
      subjectId: row.payout_id,
      facts: {
        rail: row.rail,
        utr: row.utr ?? "",
        paise: row.remitted_paise ?? row.paise,
        ifsc: row.ifsc ?? "",
        last4: row.last4 ?? "",
        scenario: takeFrom(scenarios, row.desk_id),
      },
    })),
    now,
  );
}
