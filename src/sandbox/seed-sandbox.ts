import { seedFirmCredits } from "../credits/seed-firm-credits.ts";
import { recordChanges } from "../events/record-changes.ts";
import { firmOfCaller, refuseOffboarded } from "../firms/firm-of-caller.ts";
import type { FirmOfDesk } from "../firms/firm-of-desk.ts";
import { actorOf, type Change } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { onlySandbox } from "./only-sandbox.ts";
import type { SeedCreditsBody, SeededCredits } from "./schema.ts";

/** Listed credits to try things with. */
export async function seedSandbox(
  ctx: Pick<Context, "db" | "now">,
  call: Call,
  command: SeedCreditsBody,
): Promise<SeededCredits> {
  onlySandbox(call.caller);
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const firm = await firmOfCaller(tx, call.caller, command.firm_id ?? call.caller.firmId);
      refuseOffboarded(firm);
      const seed = command.seed ?? call.requestId;
      const { count, scheme } = command;
      const scripNos = await seedFirmCredits(tx, firm, { count, scheme, seed, now });
      const seeded = { firm_id: firm.firm_id, scrip_nos: scripNos };
      await recordChanges(tx, actorOf(call), [changeOf(firm, seeded)], now);
      return seeded;
    },
    { rollBack: call.dryRun },
  );
}

/** One record for all of them: a seed is a fixture, but who asked for it is known. */
function changeOf({ environment, desk_id, firm_id, version }: FirmOfDesk, after: object): Change {
  return {
    environment,
    deskId: desk_id,
    firmId: firm_id,
    action: "sandbox.seed",
    entity: { type: "firm", id: firm_id, version, href: `/v1/firms/${firm_id}/credits` },
    before: null,
    after,
  };
}
