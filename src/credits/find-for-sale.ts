import type { Caller } from "../kernel/caller.ts";
import type { Db } from "../platform/postgres.ts";
import { type CreditForSale as Found, listForSale } from "./deal-store.ts";
import { holderOf } from "./holder-of.ts";
import { meantOf, normalScripNo } from "./rules.ts";

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
  const numbersByDesk = new Map<string, Set<string>>();
  const names = asked.map(({ caller: { deskId }, scripNo: text }) => {
    const scripNo = normalScripNo(text);
    if (scripNo === undefined) return undefined;
    const numbers = numbersByDesk.get(deskId) ?? new Set();
    numbersByDesk.set(deskId, numbers.add(scripNo));
    return nameOf(deskId, scripNo);
  });
  if (numbersByDesk.size === 0) return asked.map(() => undefined);
  const rows = await listForSale(db, numbersByDesk);
  const held = Map.groupBy(rows, (row) => nameOf(row.desk_id, row.scrip_no));
  return asked.map(({ caller, firmId = null }, at) =>
    meantOf(held.get(names[at] ?? "") ?? [], holderOf(caller).firmId ?? firmId),
  );
}

/** A number is known to its desk only: another's of the same set does not see it. */
function nameOf(deskId: string, scripNo: string): string {
  return `${deskId} ${scripNo}`;
}
