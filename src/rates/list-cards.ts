import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Context } from "../platform/context.ts";
import type { AuthoredCard } from "./rules.ts";
import { listCards as listRows } from "./store.ts";

export type CardSearch = {
  readonly environment: Environment | null;
  readonly scheme: Scheme | null;
  /** Every version, newest first, instead of only the one in force. */
  readonly history: boolean;
};

/** The cards of every environment: the operator's view. */
export async function listCards(
  { db }: Pick<Context, "db">,
  search: CardSearch,
): Promise<AuthoredCard[]> {
  return await listRows(db, search);
}
