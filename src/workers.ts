// Everything the service does without being asked, and how often it looks.

import { simulatedAccount } from "./bank/rules.ts";
import { applyHoldings } from "./credits/apply-holdings.ts";
import { expireCredits } from "./credits/expire-credits.ts";
import { applyChecks } from "./firms/apply-checks.ts";
import { answerDueInquiries, type Appliers } from "./inquiries/answer-inquiries.ts";
import type { Simulators } from "./inquiries/rules.ts";
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
  firm_identity: applyChecks,
  bank_account: applyChecks,
  credit_holding: applyHoldings,
};

export function workOf(ctx: Context): Work[] {
  return [
    {
      name: "simulation",
      pauseMs: 250,
      work: () => answerDueInquiries(ctx, simulators, appliers),
    },
    { name: "expiry", pauseMs: 15_000, work: () => expireCredits(ctx) },
  ];
}
