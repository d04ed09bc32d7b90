import { portStatus } from "../inquiries/port-status.ts";
import type { Caller } from "../kernel/caller.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { firmOfCaller } from "./firm-of-caller.ts";
import type { Connection } from "./schema.ts";
import { viewState } from "./view-firm.ts";

export async function readConnection(
  ctx: Context,
  caller: Caller,
  firmId: string,
): Promise<Connection> {
  const now = ctx.now();
  const firm = await firmOfCaller(ctx.db, caller, firmId);
  return {
    firm_id: firm.firm_id,
    ...viewState(firm, now),
    ports: await portStatus(ctx.db, firm.environment),
    as_of: istTimestamp(now),
  };
}
