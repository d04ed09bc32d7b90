import { unprocessable } from "../kernel/failure.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Context } from "../platform/context.ts";
import { changeFirm } from "./change-firm.ts";
import type { Doer } from "./doer.ts";
import { firmLifecycle } from "./rules.ts";
import type { Firm } from "./schema.ts";

/** Stops trading for a firm. The operator's suspension stands over the desk's own. */
export async function suspendFirm(
  ctx: Pick<Context, "db" | "now">,
  doer: Doer,
  { firmId, reason: given }: { firmId: string; reason: string },
): Promise<Firm> {
  const reason = given.trim();
  if (reason === "") throw unprocessable({ path: "reason", problem: "is required" });
  const by = doer.actor.kind === "operator" ? "operator" : "desk";
  return await changeFirm(ctx, doer, {
    firmId,
    async decide(_tx, firm) {
      if (firm.connection_state === "suspended") {
        if (by === "desk" || firm.suspended_by === "operator") return undefined;
        return { action: "suspend", changes: { suspended_by: by, suspension_reason: reason } };
      }
      const state = advance(firmLifecycle, firm.connection_state, "suspend");
      return {
        action: "suspend",
        changes: { connection_state: state, suspended_by: by, suspension_reason: reason },
        event: { name: "firm.suspended", data: { by, reason } },
      };
    },
  });
}
