import type { Db } from "../platform/postgres.ts";
import { findLastSequence } from "./store.ts";

/** The number of a desk's last event; 0 before there is one. */
export async function lastSequence(db: Db, deskId: string): Promise<number> {
  return await findLastSequence(db, deskId);
}
