import { firmOfCaller } from "../firms/firm-of-caller.ts";
import { portStatus } from "../inquiries/port-status.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { resultOf, sumsOf } from "./result-of.ts";
import type { DeclarationResults } from "./schema.ts";
import { simulatedCredits } from "./simulated-credits.ts";
import { takeDeclarations } from "./take-declarations.ts";

/**
 * What the registry says the firm holds. Customs offers no interface for machines, so only the
 * sandbox's simulation can be asked; live desks declare, or import the portal's report.
 */
export async function syncCredits(
  ctx: Context,
  call: Call,
  firmId: string,
): Promise<DeclarationResults> {
  const now = ctx.now();
  const today = istDay(now);
  return await ctx.db.transaction(
    async (tx) => {
      const firm = await firmOfCaller(tx, call.caller, firmId);
      if (firm.environment === "live") {
        throw new Failure("conflict", "customs offers no interface to take credits from", {
          detail: { reason: "registry_attested_only" },
        });
      }
      const ports = await portStatus(tx, firm.environment);
      const outage = ports.find(({ port, state }) => port === "registry" && state === "outage");
      if (outage) {
        throw new Failure("conflict", "the registry does not answer", {
          detail: { reason: "registry_outage", since: outage.since },
        });
      }
      const outcomes = await takeDeclarations(
        tx,
        { firm, actor: actorOf(call), mode: { followsBalance: true }, now },
        simulatedCredits(firm.iec ?? "", today),
      );
      const view = { firmState: firm.connection_state, today };
      const results = outcomes.map((outcome, index) => ({
        index,
        ...resultOf(outcome, view, call.requestId),
      }));
      return { results, ...sumsOf(results) };
    },
    { rollBack: call.dryRun },
  );
}
