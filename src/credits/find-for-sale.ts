import type { Caller } from "../kernel/caller.ts";
import type { Db } from "../platform/postgres.ts";
import { holderOf } from "./holder-of.ts";
import { normalScripNo } from "./rules.ts";
import { type CreditForSale as Found, findForSale as findRows } from "./deal-store.ts";

/** A credit that somebody means by its number. */
export type CreditForSale = Found;

/** What each caller means by a number, in one statement; undefined where it is none of theirs. */
export async function findForSale(
  db: Db,
  asked: readonly {
    readonly caller: Caller;
    readonly scripNo: string;
    /** Only a holding of this firm, within what the caller sees. */
    readonly firmId?: string | null;
  }[],
): Promise<readonly (CreditForSale | undefined)[]> {
  // No credit has the number that stands for a text which is none.
  const numbers = asked.map(({ caller, scripNo, firmId }) => {
    const holder = holderOf(caller);
    return {
      deskId: holder.deskId,
      firmId: holder.firmId ?? firmId ?? null,
      scripNo: normalScripNo(scripNo) ?? "",
    };
  });
  const found = asked.map((): CreditForSale | undefined => undefined);
  for (const row of await findRows(db, numbers)) found[row.position] = row;
  return found;
}
