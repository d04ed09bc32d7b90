import { Failure } from "../kernel/failure.ts";
import { advance, allowedActions } from "../kernel/lifecycle.ts";
import type { Context } from "../platform/context.ts";
import { askAboutFirm } from "./ask-about-firm.ts";
import { changeFirm } from "./change-firm.ts";
import type { Doer } from "./doer.ts";
import { firmLifecycle } from "./rules.ts";
import type { Firm } from "./schema.ts";
import type { FirmRow } from "./store.ts";

/** Asks outside whether the firm is who it says. The answers come later; asking twice is one. */
export async function verifyFirm(
  ctx: Pick<Context, "db" | "now">,
  doer: Doer,
  firmId: string,
): Promise<Firm> {
  return await changeFirm(ctx, doer, {
    firmId,
    async decide(tx, firm, now) {
      if (firm.connection_state === "verifying") return undefined;
      const state = advance(firmLifecycle, firm.connection_state, "verify");
      refuseIncomplete(firm);
      const checks = await askAboutFirm(tx, firm, now);
      return { action: "verify", changes: { connection_state: state, checks } };
    },
  });
}

/** A desk's own firm may have been opened without identifiers. */
function refuseIncomplete({ iec, pan, connection_state }: FirmRow): void {
  const missing = Object.entries({ iec, pan }).flatMap(([name, value]) => (value ? [] : [name]));
  if (missing.length === 0) return;
  throw new Failure("conflict", "the firm has no IEC or PAN yet", {
    detail: {
      reason: "identity_incomplete",
      missing,
      state: connection_state,
      allowed_actions: allowedActions(firmLifecycle, connection_state),
    },
  });
}
