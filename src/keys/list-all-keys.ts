import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import type { Key } from "./schema.ts";
import { listAllKeys as listRows } from "./store.ts";
import { viewKey } from "./view-key.ts";

/** Every desk's keys, for the operator. */
export async function listAllKeys(
  ctx: Pick<Context, "db" | "now">,
  environment: Environment | null,
): Promise<{ legal_name: string; key: Key }[]> {
  const now = ctx.now();
  const rows = await listRows(ctx.db, environment);
  return rows.map((row) => ({ legal_name: row.legal_name, key: viewKey(row, now) }));
}
