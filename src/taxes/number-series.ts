// Numbers what is due in a series of papers. A series is a kind in a financial year; its row is locked from
// reading what is due until the commit, so numbers follow each other and a rollback uses none.

import type { Environment } from "../kernel/caller.ts";
import type { FinancialYear } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { formatPaperNo, type SeriesKind } from "./tax-rules.ts";
import { lockSeries, raiseSeries } from "./tax-store.ts";

type Series = {
  readonly environment: Environment;
  readonly kind: SeriesKind;
  readonly year: FinancialYear;
};

type Numbered<Due> = Due & { readonly number: number; readonly no: string };

/** How many were numbered. `note` is told what was tried, also where the transaction fails. */
export async function numberSeries<Due extends { readonly settlement_id: string }>(
  { db }: Pick<Context, "db">,
  { environment, kind, year }: Series,
  {
    list,
    store,
    note,
  }: {
    readonly list: (tx: Tx) => Promise<readonly Due[]>;
    readonly store: (tx: Tx, numbered: readonly Numbered<Due>[]) => Promise<void>;
    readonly note: (ids: readonly string[]) => void;
  },
): Promise<number> {
  return await db.transaction(async (tx) => {
    const before = await lockSeries(tx, environment, { kind, year });
    const due = await list(tx);
    note([...new Set(due.map(({ settlement_id }) => settlement_id))]);
    if (due.length === 0) return 0;
    const after = before + due.length;
    // Two transactions can start a new series at once; the second stops here and retries later.
    if (!(await raiseSeries(tx, environment, { kind, year, before, after }))) return 0;
    const numbered = due.map((row, at) => {
      const number = before + at + 1;
      return { ...row, number, no: formatPaperNo(kind, year, number) };
    });
    await store(tx, numbered);
    return due.length;
  });
}
