import { firstId } from "../kernel/ids.ts";
import type { Passage } from "../kernel/passage.ts";
import type { Tx } from "../platform/postgres.ts";
import { bringQuotesNearer } from "./store.ts";

/** No card gives a quote longer than this. */
const windowMaxMs = 86_400_000;

export async function passTimeOfQuotes(tx: Tx, passage: Passage): Promise<number> {
  const oldest = new Date(passage.now.getTime() - windowMaxMs);
  return await bringQuotesNearer(tx, passage, firstId("qte", oldest));
}
