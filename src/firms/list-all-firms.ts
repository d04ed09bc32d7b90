import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import type { FirmState } from "./rules.ts";
import type { Firm } from "./schema.ts";
import { listAllFirms as listRows } from "./store.ts";
import { viewFirm } from "./view-firm.ts";

/** Every desk's firms, for the operator. */
export async function listAllFirms(
  ctx: Pick<Context, "db" | "now">,
  filter: {
    readonly environment: Environment | null;
    readonly connectionState: FirmState | null;
    readonly limit: number;
  },
): Promise<{ desk_name: string; firm: Firm }[]> {
  const now = ctx.now();
  const rows = await listRows(ctx.db, filter);
  return rows.map((row) => ({ desk_name: row.desk_name, firm: viewFirm(row, now) }));
}
