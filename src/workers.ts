// Everything the service does without being asked, and how often it looks.

import { simulatedAccount } from "./bank/rules.ts";
import { applyHoldings } from "./credits/apply-holdings.ts";
import { expireCredits } from "./credits/expire-credits.ts";
import { applyChecks } from "./firms/apply-checks.ts";
import { finishOffboarding, type Offboarding } from "./firms/offboard-firm.ts";
import { answerDueInquiries, type Appliers } from "./inquiries/answer-inquiries.ts";
import type { Simulators } from "./inquiries/rules.ts";
import { checkLedgerWhenDue } from "./ledger/check-ledger.ts";
import { offboarding as everySlice } from "./offboarding.ts";
import type { Context } from "./platform/context.ts";
import type { WorkerOptions } from "./platform/worker.ts";
import { simulatedHolding, simulatedIdentity } from "./registry/rules.ts";

export type Work = Pick<WorkerOptions, "name" | "pauseMs" | "work">;

export const simulators: Simulators = {
  firm_identity: simulatedIdentity,
  bank_account: simulatedAccount,
  credit_holding: simulatedHolding,
};

export const appliers: Appliers = {
  firms: applyChecks,
  credits: applyHoldings,
};

export function workOf(ctx: Context, offboarding: Offboarding = everySlice): Work[] {
  return [
    // First, so that whatever sends money out finds a verdict of this moment.
    { name: "ledger-check", pauseMs: 10_000, work: () => checkLedgerWhenDue(ctx) },
    {
      name: "simulation",
      pauseMs: 250,
      work: () => answerDueInquiries(ctx, simulators, appliers),
    },
    {
      name: "offboarding",
      pauseMs: 2_000,
      work: () => finishOffboarding(ctx, offboarding),
    },
    { name: "expiry", pauseMs: 15_000, work: () => expireCredits(ctx) },
  ];
}
