import type { Answered } from "../inquiries/rules.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Tx } from "../platform/postgres.ts";

/** What the registry and the bank found about firms: their checks, and the state that follows. */
export async function applyChecks(
  _tx: Tx,
  _actor: Actor,
  _answered: readonly Answered<"firm_identity" | "bank_account">[],
  _now: Date,
): Promise<void> {
  throw new Error("firms are verified by the firms slice");
}
