import type { Answered } from "../inquiries/rules.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Tx } from "../platform/postgres.ts";

/** What the registry found about claims: confirmed ones are listed, the others rejected. */
export async function applyHoldings(
  _tx: Tx,
  _actor: Actor,
  _answered: readonly Answered<"credit_holding">[],
  _now: Date,
): Promise<void> {
  throw new Error("holdings are confirmed by the credits slice");
}
