import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Context } from "../platform/context.ts";
import { sumOpenQuotes, type OpenQuotes } from "./store.ts";

/** Binding prices that are still out in a market: whatever is published, they are honoured. */
export async function countOpenQuotes(
  { db, now }: Pick<Context, "db" | "now">,
  market: { readonly environment: Environment; readonly scheme: Scheme },
): Promise<OpenQuotes> {
  return await sumOpenQuotes(db, market, now());
}
