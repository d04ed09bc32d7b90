import type { Caller } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { firmOfCaller } from "./firm-of-caller.ts";
import type { Firm } from "./schema.ts";
import { viewFirm } from "./view-firm.ts";

export async function readFirm(ctx: Context, caller: Caller, firmId: string): Promise<Firm> {
  return viewFirm(await firmOfCaller(ctx.db, caller, firmId), ctx.now());
}
