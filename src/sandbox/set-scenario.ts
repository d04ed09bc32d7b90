import { recordChanges } from "../journal/record-changes.ts";
import { toActor } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { readScenarios, setScenario as setForDesk } from "../outside/scenarios.ts";
import { requireSandboxDesk } from "./reset-sandbox.ts";
import type { ScenarioList, SetScenarioBody } from "./schema.ts";

export async function setScenario(
  ctx: Pick<Context, "db" | "now">,
  call: Call,
  { scenario }: SetScenarioBody,
): Promise<ScenarioList> {
  requireSandboxDesk(call.caller);
  const { deskId, environment } = call.caller;
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      await setForDesk(tx, { deskId, scenario, now });
      const scenarios = await readScenarios(tx, deskId);
      const change = {
        environment,
        deskId,
        firmId: deskId,
        action: "sandbox.set_scenario",
        entity: { type: "scenario", id: scenario, version: 1, href: "/v1/sandbox/scenarios" },
        before: null,
        after: { scenarios },
      };
      await recordChanges(tx, toActor(call), [change], now);
      return { scenarios };
    },
    { rollBack: call.dryRun },
  );
}
