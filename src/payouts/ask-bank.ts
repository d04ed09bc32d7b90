import { askOutside } from "../inquiries/ask-outside.ts";
import type { Tx } from "../platform/postgres.ts";
import { payoutScenarios } from "../scenarios/rules.ts";
import { takeFrom, takeScenarios } from "../scenarios/take-scenarios.ts";
import type { PayoutRow } from "./store.ts";

/** Asks what became of money that was sent. */
export async function askBank(tx: Tx, sent: readonly PayoutRow[], now: Date): Promise<void> {
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
        paise: row.paise,
        ifsc: row.ifsc ?? "",
        last4: row.last4 ?? "",
        scenario: takeFrom(scenarios, row.desk_id),
      },
    })),
    now,
  );
}
