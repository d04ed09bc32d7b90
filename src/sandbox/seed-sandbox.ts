import { seedFirmCredits } from "../credits/seed-firm-credits.ts";
import { firmOfCaller, refuseOffboarded } from "../firms/firm-of-caller.ts";
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
      return { firm_id: firm.firm_id, scrip_nos: scripNos };
    },
    { rollBack: call.dryRun },
  );
}
