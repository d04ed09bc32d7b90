import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { listAllCrosses as listRows } from "./read-store.ts";
import type { CrossState } from "./rules.ts";
import type { CrossRow } from "./store.ts";

export type CrossSearch = {
  readonly environment?: Environment | undefined;
  readonly status?: CrossState | undefined;
  readonly crossId?: string | undefined;
  readonly limit: number;
};

/** Crosses of every desk with both of their sides, newest first, for the operator. */
export async function listAllCrosses(
  { db }: Pick<Context, "db">,
  { environment, status, crossId, limit }: CrossSearch,
): Promise<CrossRow[]> {
  const filter = {
    environment: environment ?? null,
    status: status ?? null,
    crossId: crossId ?? null,
  };
  return await listRows(db.planned, filter, limit);
}
