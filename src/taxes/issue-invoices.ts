// Fees that bear divided tax are invoiced after their delivery, not within it: the numbers of a series
// have no gap, so whoever numbers waits for whoever did before, and no deal should. A set is numbered
// in one transaction with the row of its series. What does not commit has used no number.

import { financialYear } from "../kernel/time.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { type Choice, noOffenders, type Offenders, workInParts } from "../platform/offenders.ts";
import {
  findUninvoicedKinds,
  insertInvoices,
  type InvoiceRow,
  listUninvoiced,
  lockSeries,
  raiseSeries,
  setInvoiceNos,
} from "./invoice-store.ts";
import { type DocumentKind, documentNo } from "./rules.ts";

const setSizeMax = 500;

/** One set of each series that has something to number. */
export async function issueInvoices(
  ctx: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  let issued = 0;
  for (const series of await findUninvoicedKinds(ctx.db)) {
    issued += await workInParts(offenders, (choice, note) =>
      issue(ctx, { ...series, choice, note }),
    );
  }
  return issued > 0 ? "more" : "idle";
}

type Issuing = {
  readonly environment: Environment;
  readonly kind: DocumentKind;
  readonly choice: Choice;
  readonly note: (ids: readonly string[]) => void;
};

async function issue(
  ctx: Pick<Context, "db" | "now">,
  { environment, kind, choice, note }: Issuing,
): Promise<number> {
  const issued_at = ctx.now();
  const year = financialYear(issued_at);
  return await ctx.db.transaction(async (tx) => {
    const before = await lockSeries(tx, environment, { kind, year });
    const due = await listUninvoiced(tx, environment, {
      kind,
      limit: setSizeMax,
      ...choice,
    });
    note([...new Set(due.map(({ settlement_id }) => settlement_id))]);
    if (due.length === 0) return 0;
    const after = before + due.length;
    // Of two that begin a series, the one that comes second finds nothing of its own to number.
    if (!(await raiseSeries(tx, environment, { kind, year, before, after }))) return 0;
    const invoices = due.map(({ ordinals, ...row }, at) => {
      const number = before + at + 1;
      const invoice_no = documentNo(kind, year, number);
      const invoice: InvoiceRow = { ...row, financial_year: year, number, invoice_no, issued_at };
      return { invoice, legs: ordinals.map((ordinal) => ({ ...invoice, ordinal })) };
    });
    await insertInvoices(
      tx,
      invoices.map(({ invoice }) => invoice),
    );
    await setInvoiceNos(
      tx,
      invoices.flatMap(({ legs }) => legs),
    );
    return due.length;
  });
}
