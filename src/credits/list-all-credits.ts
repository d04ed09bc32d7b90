import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Context } from "../platform/context.ts";
import { normalScripNo } from "./rules.ts";
import { type CreditRow, listAllCredits as listRows } from "./store.ts";

export type CreditSearch = {
  readonly environment: Environment;
  readonly firmId?: string | undefined;
  readonly scripNo?: string | undefined;
  readonly scheme?: Scheme | undefined;
  readonly status?: string | undefined;
  readonly limit: number;
};

/** Credits of every desk, newest first: the operator's view. */
export async function listAllCredits(
  { db }: Pick<Context, "db">,
  { environment, firmId, scripNo, scheme, status, limit }: CreditSearch,
): Promise<CreditRow[]> {
  const filter = {
    environment,
    firmId: firmId ?? null,
    scripNo: scripNo === undefined ? null : (normalScripNo(scripNo) ?? ""),
    scheme: scheme ?? null,
    status: status ?? null,
  };
  return await listRows(db.planned, filter, limit);
}
