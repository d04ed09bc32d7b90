// What is withheld from sellers: confirming a proposed line, certificates of payees, and the sums per PAN.

import { recordChanges } from "../journal/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure, notFound, unprocessable } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { findPanProblem, normalizeIdentifier } from "../kernel/identifiers.ts";
import { type PaiseSum, sumPaise } from "../kernel/money.ts";
import {
  addDays,
  financialYear,
  financialYearEnd,
  type FinancialYear,
  financialYearStart,
  isCalendarDay,
  type IstDay,
  istDay,
} from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import {
  type CertificateRow,
  type Deduction,
  insertCertificate,
  listCertificates,
  listDeductions,
} from "./certificate-store.ts";
import { buildTaxChange } from "./taxes.ts";
import { isProposed, type RateRow, type TaxLine } from "./tax-rules.ts";
import { confirmRate, listRates } from "./tax-store.ts";

type Confirmation = {
  readonly environment: Environment;
  readonly line: TaxLine;
  readonly from: IstDay;
};

/**
 * A person has found a line right that came with the program. A proposal that should have been in force
 * before today is so from the next day on, in the sandbox from today: what was delivered stays as it
 * was taxed.
 */
export async function confirmTax(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { environment, line, from }: Confirmation,
): Promise<RateRow> {
  const now = ctx.now();
  const today = istDay(now);
  return await ctx.db.transaction(async (tx) => {
    const rows = await tx.run(listRates({ environment, upTo: null }));
    const own = rows.filter((row) => row.line === line);
    const known = own.find(({ effective_from }) => effective_from === from);
    if (!known) throw notFound("from");
    if (known.confirmed_by !== null) return known;
    const earliest = environment === "live" ? addDays(today, 1) : today;
    const isLate = isProposed(known) && from < earliest;
    const after: RateRow = {
      ...known,
      confirmed_by: actor.id,
      effective_from: isLate ? earliest : from,
    };
    if (isLate && own.some((row) => row.effective_from === earliest)) throw dayTaken(earliest);
    await confirmRate(tx, after, { from, now });
    await recordChanges(tx, actor, [buildTaxChange(after)], now);
    return after;
  });
}

function dayTaken(day: IstDay): Failure {
  return new Failure("conflict", `another line begins on ${day}: confirm this one a day later`, {
    detail: { reason: "tax_day_taken" },
  });
}

type CertificateGiven = Pick<
  CertificateRow,
  | "environment"
  | "certificate_no"
  | "pan"
  | "rate_bps"
  | "limit_paise"
  | "effective_from"
  | "effective_until"
>;

const rateBpsMax = 3_000;

/** Less is withheld from a payee from now on, within the certificate's days and its limit. */
export async function addCertificate(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  given: CertificateGiven,
): Promise<CertificateRow> {
  const now = ctx.now();
  const pan = normalizeIdentifier(given.pan);
  const problem = findPanProblem(pan);
  if (problem !== undefined) throw unprocessable({ path: "pan", problem });
  const certificate_no = normalizeIdentifier(given.certificate_no);
  if (!/^[0-9A-Z/-]{4,20}$/.test(certificate_no)) {
    const form = "must be 4 to 20 digits, capitals, slashes and dashes";
    throw unprocessable({ path: "certificate_no", problem: form });
  }
  if (given.rate_bps > rateBpsMax) {
    throw unprocessable({ path: "rate_bps", problem: `must be at most ${rateBpsMax}` });
  }
  const { effective_from, effective_until } = given;
  if (!isCalendarDay(effective_from) || !isCalendarDay(effective_until)) {
    throw unprocessable({ path: "effective_from", problem: "must be days" });
  }
  if (effective_until < effective_from) {
    throw unprocessable({ path: "effective_until", problem: "must not be before its first day" });
  }
  const row: CertificateRow = {
    ...given,
    pan,
    certificate_no,
    used_paise: 0,
    set_by: actor.id,
    set_at: now,
  };
  await ctx.db.transaction(async (tx) => {
    if (!(await insertCertificate(tx, row))) throw certificateKnown();
    const house = houseFirmId[row.environment];
    const change = {
      environment: row.environment,
      deskId: house,
      firmId: house,
      action: "tax.certify",
      entity: { type: "tax", id: certificate_no, version: 1, href: "/v1/statements" },
      after: { certificate_no, rate_bps: row.rate_bps, effective_from, effective_until },
    } as const;
    await recordChanges(tx, actor, [change], now);
  });
  return row;
}

function certificateKnown(): Failure {
  return new Failure("conflict", "there is a certificate of this number", {
    detail: { reason: "certificate_known" },
  });
}

export async function readCertificates(
  { db }: Pick<Context, "db">,
  environment: Environment,
): Promise<readonly CertificateRow[]> {
  return await listCertificates(db, environment);
}

/** What was withheld in a span, deal by deal. */
export async function readDeductions(
  db: Db,
  span: Parameters<typeof listDeductions>[1],
): Promise<readonly Deduction[]> {
  return await listDeductions(db, span);
}

/** What was withheld from one PAN in a financial year under one citation. */
type WithheldSum = Pick<
  Deduction,
  "pan" | "legal_name" | "tds_act" | "tds_section" | "tds_code"
> & { readonly base_paise: PaiseSum; readonly tds_paise: PaiseSum };

export async function sumWithheldByPan(
  ctx: Pick<Context, "db" | "now">,
  {
    environment,
    year = financialYear(ctx.now()),
  }: { environment: Environment; year?: FinancialYear | undefined },
): Promise<WithheldSum[]> {
  const rows = await listDeductions(ctx.db.planned, {
    environment,
    from: financialYearStart(year),
    to: financialYearEnd(year),
  });
  const groups = Map.groupBy(rows, ({ pan, firm_id, tds_act, tds_section, tds_code }) =>
    [pan ?? firm_id, tds_act, tds_section, tds_code].join(" "),
  );
  return [...groups.values()].flatMap((own) => {
    const [first] = own;
    if (!first) return [];
    const { pan, legal_name, tds_act, tds_section, tds_code } = first;
    const sum = (field: "base_paise" | "tds_paise") =>
      sumPaise(own.map((row) => (row.kind === "invoice" ? row[field] : -row[field])));
    const sums = { base_paise: sum("base_paise"), tds_paise: sum("tds_paise") };
    return [{ pan, legal_name, tds_act, tds_section, tds_code, ...sums }];
  });
}
