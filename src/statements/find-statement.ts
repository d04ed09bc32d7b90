import type { FirmOfDesk } from "../firms/firm-of-desk.ts";
import { notFound } from "../kernel/failure.ts";
import { readExactJson } from "../kernel/json.ts";
import type { Letterhead } from "../kernel/letterhead.ts";
import { istMonth } from "../kernel/time.ts";
import { firstEntryAt } from "../ledger/read-money.ts";
import type { Db } from "../platform/postgres.ts";
import { accountFor } from "./account-for.ts";
import { isPeriod } from "./rules.ts";
import type { Statement } from "./schema.ts";
import { findStatement } from "./store.ts";

/** The first month that there is a statement of; the running one when the books say nothing yet. */
export async function firstPeriodOf(db: Db, firmId: string, now: Date): Promise<string> {
  const first = await firstEntryAt(db, firmId);
  return istMonth(first ?? now);
}

/** As it was kept once it is final, from the books until then; not found outside the firm's months. */
export async function statementOf(
  db: Db,
  firm: FirmOfDesk,
  {
    period,
    letterhead,
    now,
  }: { readonly period: string; readonly letterhead: Letterhead; readonly now: Date },
): Promise<Statement> {
  if (!isPeriod(period) || period > istMonth(now)) throw notFound();
  const frozen = await findStatement(db, firm.firm_id, period);
  if (!frozen) {
    if (period < (await firstPeriodOf(db, firm.firm_id, now))) throw notFound();
    return await accountFor(db, { firm, period, letterhead, now });
  }
  if (!frozen.is_whole) throw new Error(`the statement ${firm.firm_id} ${period} was changed`);
  const kept = readExactJson(frozen.body) as Statement; // Written by the freezer, as its digest proves.
  return { ...kept, digest: frozen.digest.toString("hex") };
}
