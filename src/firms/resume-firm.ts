import { advance } from "../kernel/lifecycle.ts";
import type { Context } from "../platform/context.ts";
import { changeFirm } from "./change-firm.ts";
import { type Doer, refuseToOverrule } from "./doer.ts";
import { firmLifecycle } from "./rules.ts";
import type { Firm } from "./schema.ts";

/** Ends a suspension. What the operator suspended, only the operator resumes. */
export async function resumeFirm(
  ctx: Pick<Context, "db" | "now">,
  doer: Doer,
  firmId: string,
): Promise<Firm> {
  return await changeFirm(ctx, doer, {
    firmId,
    async decide(_tx, firm) {
      refuseToOverrule(doer, firm);
      const state = advance(firmLifecycle, firm.connection_state, "resume");
      return {
        action: "resume",
        changes: { connection_state: state, suspended_by: null, suspension_reason: null },
        event: { name: "firm.resumed", data: { suspended_by: firm.suspended_by } },
      };
    },
  });
}
