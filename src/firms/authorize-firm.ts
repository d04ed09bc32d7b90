import { unprocessable } from "../kernel/failure.ts";
import { advance } from "../kernel/lifecycle.ts";
import { istTimestamp, parseInstant } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { changeFirm } from "./change-firm.ts";
import type { Doer } from "./doer.ts";
import { firmLifecycle, type Mandate } from "./rules.ts";
import type { AuthorizeFirmBody, Firm } from "./schema.ts";

/** The firm's mandate lets the desk trade for it. The same mandate twice is one. */
export async function authorizeFirm(
  ctx: Pick<Context, "db" | "now">,
  doer: Doer,
  { firmId, mandate: given }: { firmId: string; mandate: AuthorizeFirmBody["mandate"] },
): Promise<Firm> {
  const mandate = plainMandate(given, ctx.now());
  return await changeFirm(ctx, doer, {
    firmId,
    async decide(_tx, firm) {
      const isGiven = firm.mandate !== null && isSame(firm.mandate, mandate);
      if (firm.connection_state === "authorized" && isGiven) return undefined;
      const state = advance(firmLifecycle, firm.connection_state, "authorize");
      return {
        action: "authorize",
        changes: { connection_state: state, mandate },
        event: {
          name: "firm.authorized",
          data: { mandate: { reference: mandate.reference, valid_until: mandate.valid_until } },
        },
      };
    },
  });
}

function plainMandate(given: AuthorizeFirmBody["mandate"], now: Date): Mandate {
  const signatory = given.signatory_name.trim();
  const reference = given.reference.trim();
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(given.valid_until);
  const until = parseInstant(isDay ? `${given.valid_until}T23:59:59+05:30` : given.valid_until);
  const problems = [
    ...(signatory === "" ? [{ path: "mandate.signatory_name", problem: "is required" }] : []),
    ...(reference === "" ? [{ path: "mandate.reference", problem: "is required" }] : []),
    ...(until === undefined
      ? [{ path: "mandate.valid_until", problem: "must be ISO 8601 with an offset, or a day" }]
      : []),
    ...(until && until <= now
      ? [{ path: "mandate.valid_until", problem: "must be in the future" }]
      : []),
  ];
  if (problems.length > 0 || !until) throw unprocessable(...problems);
  return { signatory_name: signatory, reference, valid_until: istTimestamp(until) };
}

function isSame(one: Mandate, other: Mandate): boolean {
  return (
    one.signatory_name === other.signatory_name &&
    one.reference === other.reference &&
    one.valid_until === other.valid_until
  );
}
