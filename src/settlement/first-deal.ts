import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Db } from "../platform/postgres.ts";
import { findFirstDealAt } from "./tape-store.ts";

/** When the first credit of a scheme changed hands; undefined while none has. */
export async function firstDealAt(
  db: Db,
  market: { readonly environment: Environment; readonly scheme: Scheme },
): Promise<Date | undefined> {
  return await findFirstDealAt(db, market);
}
