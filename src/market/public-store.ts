import type { TimeSpan } from "../kernel/query-time.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { IstDay } from "../kernel/time.ts";
import {
  type Db,
  fragment,
  type Query,
  query,
  sql,
  type Tx,
} from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import {
  bigint,
  bytes,
  int,
  type RowOf,
  shape,
  table,
  text,
  time,
} from "../platform/postgres/table.ts";
import type { EnquiryKind, EnquiryStatus, IndexFigure } from "./public-rules.ts";

const figureColumns = fragment`
  scheme, day, basis, index_bps, deals_on, deal_count, seller_count, face_paise`;

/** Fixes a day, unless another process has fixed it before. */
export async function insertFigure(db: Db, figure: IndexFigure, now: Date): Promise<void> {
  await db.rows(sql`
    insert into rate_index_days (
      scheme, day, basis, index_bps, deals_on, deal_count, seller_count, face_paise, fixed_at
    )
    values (
      ${figure.scheme}, ${figure.day}, ${figure.basis}, ${figure.index_bps}, ${figure.deals_on},
      ${figure.deal_count}, ${figure.seller_count}, ${figure.face_paise}, ${now}
    )
    on conflict (scheme, day) do nothing`);
}

export async function findFigure(
  db: Db,
  scheme: Scheme,
  day: IstDay,
): Promise<IndexFigure | undefined> {
  const [row] = await db.rows<IndexFigure>(sql`
    select ${figureColumns}
    from rate_index_days
    where scheme = ${scheme} and day = ${day}`);
  return row;
}

/** The last fixed figure, or the last one before a day. */
export function findLastFigure(
  scheme: Scheme,
  before: IstDay | null,
): Query<IndexFigure | undefined> {
  return query<IndexFigure>(sql`
    select ${figureColumns}
    from rate_index_days
    where scheme = ${scheme} and (${before}::date is null or day < ${before}::date)
    order by day desc
    limit 1`).map(([row]) => row);
}

/** Fixed figures by day, both ends included. */
export async function listFigures(
  db: Db,
  scheme: Scheme,
  { from, to }: { readonly from: IstDay; readonly to: IstDay },
): Promise<IndexFigure[]> {
  return await db.rows(sql`
    select ${figureColumns}
    from rate_index_days
    where scheme = ${scheme} and day between ${from} and ${to}
    order by day`);
}

const enquiries = table("enquiries", {
  enquiry_ref: text(),
  kind: text<EnquiryKind>(),
  scheme: text<Scheme>().orNull,
  amount_paise: bigint().orNull,
  status: text<EnquiryStatus>(),
  person_sealed: bytes(),
  outcome: text().orNull,
  forget_at: time(),
  version: int(),
  created_at: time(),
  updated_at: time(),
});
export type EnquiryRow = RowOf<typeof enquiries>;

/** Returns the new enquiry, or the open one with the same content. */
export async function insertEnquiry(
  tx: Tx,
  row: EnquiryRow,
  digest: Buffer,
): Promise<EnquiryRow | undefined> {
  const [kept] = await tx.rows<EnquiryRow>(sql`
    insert into enquiries (
      enquiry_ref, kind, scheme, amount_paise, status, person_sealed, digest, forget_at, version,
      created_at, updated_at
    )
    values (
      ${row.enquiry_ref}, ${row.kind}, ${row.scheme}, ${row.amount_paise}, ${row.status},
      ${row.person_sealed}, ${digest}, ${row.forget_at}, ${row.version}, ${row.created_at},
      ${row.updated_at}
    )
    on conflict (digest) where status = 'received' do update
    set digest = excluded.digest
    returning ${enquiries.columns}`);
  return kept;
}

export const { find: findEnquiry, lock: lockEnquiry } = rowsBy(enquiries, { key: ["enquiry_ref"] });

/** Newest first. References are made in the order of time. */
export async function listEnquiries(
  db: Db,
  {
    status,
    before,
    from,
    to,
    limit,
  }: TimeSpan & {
    readonly status: EnquiryStatus | null;
    readonly before: string | null;
    readonly limit: number;
  },
): Promise<EnquiryRow[]> {
  return await db.rows(sql`
    select ${enquiries.columns}
    from enquiries
    where (${status}::text is null or status = ${status})
      and (${before}::text is null or enquiry_ref < ${before})
      and (${from}::timestamptz is null or created_at >= ${from})
      and (${to}::timestamptz is null or created_at < ${to})
    order by enquiry_ref desc
    limit ${limit}`);
}

export async function setEnquiry(
  tx: Tx,
  row: Pick<EnquiryRow, "enquiry_ref" | "status" | "outcome" | "forget_at">,
  now: Date,
): Promise<EnquiryRow | undefined> {
  const [changed] = await tx.rows<EnquiryRow>(sql`
    update enquiries
    set status = ${row.status}, outcome = ${row.outcome}, forget_at = ${row.forget_at},
      updated_at = ${now}, version = version + 1
    where enquiry_ref = ${row.enquiry_ref}
    returning ${enquiries.columns}`);
  return changed;
}

/** Deletes expired enquiries, skipping those locked by another process. */
export async function deleteExpired(tx: Tx, now: Date, limit: number): Promise<EnquiryRow[]> {
  return await tx.rows(sql`
    delete from enquiries
    where enquiry_ref in (
      select enquiry_ref
      from enquiries
      where forget_at <= ${now}
      order by forget_at
      limit ${limit}
      for update skip locked
    )
    returning ${enquiries.columns}`);
}

const resealedPersons = shape({ id: text(), before: bytes(), after: bytes(), digest: bytes() });

export type SealedEnquiry = {
  readonly id: string;
  readonly sealed: Buffer;
  readonly kind: EnquiryKind;
  readonly scheme: Scheme | null;
  readonly amount_paise: number | null;
};

/** Sealed personal data, by reference. */
export async function listSealedPersons(
  db: Db,
  after: string,
  limit: number,
): Promise<SealedEnquiry[]> {
  return await db.rows(sql`
    select enquiry_ref as id, person_sealed as sealed, kind, scheme, amount_paise
    from enquiries
    where enquiry_ref > ${after}
    order by enquiry_ref
    limit ${limit}`);
}

/** Only where it is still sealed as it was, locked in order first; the keyed digest is made with the same key. */
export async function setSealedPersons(
  db: Db,
  rows: readonly {
    readonly id: string;
    readonly before: Buffer;
    readonly sealed: Buffer;
    readonly digest: Buffer;
  }[],
): Promise<void> {
  const resealed = resealedPersons.rows(
    {
      id: ({ id }) => id,
      before: ({ before }) => before,
      after: ({ sealed }) => sealed,
      digest: ({ digest }) => digest,
    },
    rows,
  );
  await db.rows(sql`
    update enquiries as t
    set person_sealed = n.after, digest = n.digest
    from (
      select r.enquiry_ref, given.after, given.digest
      from (
        select id, before, after, digest
        from ${resealed} as given
        order by id
      ) as given
      cross join lateral (
        select enquiry_ref
        from enquiries
        where enquiry_ref = given.id and person_sealed = given.before
        for no key update
      ) as r
    ) as n
    where t.enquiry_ref = n.enquiry_ref`);
}
