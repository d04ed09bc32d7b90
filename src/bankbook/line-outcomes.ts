import { explainPlan, type LinePlan, type LineReason, type QueueReason } from "./rules.ts";
import type { BankLineRow, ExplainedRow } from "./store.ts";

export type ExplainedEntry = Pick<ExplainedRow, "kind" | "subject">;

/** The outcome of one line. */
export type LineOutcome = {
  readonly line: BankLineRow;
  readonly state: "matched" | "queued";
  readonly reason: LineReason;
  readonly firmId?: string | undefined;
  readonly dealId?: string | null | undefined;
  readonly explains: readonly ExplainedEntry[];
};

export type PlannedLine<To extends LinePlan["to"]> = BankLineRow & {
  readonly plan: Extract<LinePlan, { to: To }>;
};

export function filterByPlan<To extends LinePlan["to"]>(
  lines: readonly BankLineRow[],
  to: To,
): PlannedLine<To>[] {
  return lines.filter((line): line is PlannedLine<To> => line.plan.to === to);
}

/** A line whose plan no longer holds. */
export type RequeuedLine = PlannedLine<"queue">;

export function requeue(line: BankLineRow, reason: QueueReason): RequeuedLine {
  const { plan } = line;
  const isNamed = plan.to === "queue" || (plan.to === "deposit" && plan.found_by !== "payment_ref");
  return { ...line, plan: { to: "queue", reason, firm_id: isNamed ? plan.firm_id : undefined } };
}

/** Why a line went where it did, or will go while its statement waits for a second person. */
export function explainLine({ state, reason, plan }: BankLineRow): string {
  return state === "new" || reason === null ? explainPlan(plan) : reason;
}
