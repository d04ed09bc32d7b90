// Certificates by which less is withheld from a payee, what was used of them, and what was withheld.

import type { Environment } from "../kernel/caller.ts";
import { sumParts } from "../kernel/money.ts";
import type { IstDay } from "../kernel/time.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import {
  bigint,
  day,
  int,
  type RowOf,
  shape,
  table,
  text,
  time,
} from "../platform/postgres/table.ts";
import type { LegTax } from "./tax-rules.ts";

const certificates = table("tds_certificates", {
  environment: text<Environment>(),
  certificate_no: text(),
  pan: text(),
  rate_bps: int(),
  limit_paise: bigint(),
  used_paise: bigint(),
  effective_from: day(),
  effective_until: day(),
  set_by: text(),
  set_at: time(),
});
export type CertificateRow = RowOf<typeof certificates>;

/** False when there is one of this number. */
export async function insertCertificate(tx: Tx, row: CertificateRow): Promise<boolean> {
  const inserted = await tx.rows(sql`
    insert into tds_certificates ${certificates.values(certificates.all, [row])}
    on conflict do nothing
    returning 1`);
  return inserted.length > 0;
}

export async function listCertificates(
  db: Db,
  environment: Environment,
): Promise<CertificateRow[]> {
  return await db.rows(sql`
    select ${certificates.columns}
    from tds_certificates
    where environment = ${environment}
    order by effective_until desc, certificate_no`);
}

/** The certificate of each PAN that is valid on a day: of several, the one that ends first. */
export async function lockValidCertificates(
  tx: Tx,
  {
    environment,
    pans,
    on,
  }: { readonly environment: Environment; readonly pans: readonly string[]; readonly on: IstDay },
): Promise<CertificateRow[]> {
  const rows = await tx.rows<CertificateRow>(sql`
    select ${certificates.columns}
    from tds_certificates
    where environment = ${environment} and pan = any(${pans}::text[])
      and effective_from <= ${on}::date and effective_until >= ${on}::date
      and used_paise < limit_paise
    order by certificate_no
    for update`);
  // The last of a PAN wins in a map by PAN.
  return rows.toSorted((one, other) => (one.effective_until < other.effective_until ? 1 : -1));
}

const used = shape({ environment: text(), certificate_no: text(), paise: bigint() });

/** Adds what these taxes used of certificates; a reversal gives it back. */
export async function addToCertificates(tx: Tx, taxes: readonly LegTax[]): Promise<void> {
  const certified = taxes.flatMap(({ environment, tds_certificate, kind, tds_base_paise }) =>
    tds_certificate === null
      ? []
      : [
          {
            environment,
            tds_certificate,
            paise: kind === "invoice" ? tds_base_paise : -tds_base_paise,
          },
        ],
  );
  if (certified.length === 0) return;
  const sums = [...Map.groupBy(certified, ({ tds_certificate }) => tds_certificate)].flatMap(
    ([certificate_no, [first, ...rest]]) =>
      first
        ? [
            {
              environment: first.environment,
              certificate_no,
              paise: sumParts([first, ...rest].map(({ paise }) => paise)),
            },
          ]
        : [],
  );
  const numbers = sums.map(({ certificate_no }) => certificate_no);
  await tx.rows(sql`
    with locked as materialized (
      select environment, certificate_no
      from tds_certificates
      where certificate_no = any(${numbers}::text[])
      order by certificate_no, environment
      for update
    )
    update tds_certificates as c
    set used_paise = c.used_paise + u.paise
    from locked
    join ${used.rows(["environment", "certificate_no", "paise"], sums)} as u
      using (environment, certificate_no)
    where c.environment = locked.environment and c.certificate_no = locked.certificate_no`);
}

/** Tax withheld from one seller in one deal and returned by its reversal, as rows of the return. */
export type Deduction = {
  readonly kind: LegTax["kind"];
  readonly taxed_at: Date;
  readonly firm_id: string;
  readonly legal_name: string;
  readonly pan: string | null;
  readonly settlement_id: string;
  readonly tds_act: string | null;
  readonly tds_section: string | null;
  readonly tds_code: string | null;
  readonly tds_certificate: string | null;
  readonly tds_bps: number;
  readonly base_paise: number;
  readonly tds_paise: number;
};

export async function listDeductions(
  db: Db,
  {
    environment,
    from,
    to,
  }: { readonly environment: Environment; readonly from: Date; readonly to: Date },
): Promise<Deduction[]> {
  return await db.rows(sql`
    select t.kind, max(t.taxed_at) as taxed_at, t.firm_id, f.legal_name, f.pan, t.settlement_id,
      t.tds_act, t.tds_section, t.tds_code, t.tds_certificate, t.tds_bps,
      sum(t.tds_base_paise)::bigint as base_paise, sum(t.tds_paise)::bigint as tds_paise
    from leg_taxes as t
    join firms as f on f.environment = t.environment and f.firm_id = t.firm_id
    where t.environment = ${environment} and t.tds_base_paise > 0
      and t.taxed_at >= ${from} and t.taxed_at < ${to}
    group by t.kind, t.firm_id, f.legal_name, f.pan, t.settlement_id, t.tds_act, t.tds_section,
      t.tds_code, t.tds_certificate, t.tds_bps
    order by taxed_at, t.settlement_id, t.firm_id, t.kind`);
}
