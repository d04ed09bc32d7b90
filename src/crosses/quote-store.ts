import type { Environment } from "../kernel/caller.ts";
import type { Scheme, Side } from "../kernel/scheme.ts";
import type { Visibility } from "../kernel/visibility.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { CrossKind } from "./rules.ts";

export type CrossQuoteRow = {
  readonly cross_quote_ref: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly firm_id: string;
  readonly key_id: string;
  readonly side: Side;
  readonly kind: CrossKind;
  readonly counterparty_firm_id: string | null;
  readonly seller_iec: string;
  readonly buyer_iec: string;
  readonly scheme: Scheme;
  readonly scrip_nos: readonly string[] | null;
  readonly face_paise: number;
  readonly price_bps: number;
  readonly fee_bps: number;
  readonly gst_bps: number;
  readonly terms_hash: string;
  readonly created_at: Date;
  readonly valid_until: Date;
  readonly cross_id: string | null;
};

const quoteColumns = fragment`
  cross_quote_ref, environment, desk_id, firm_id, key_id, side, kind, counterparty_firm_id,
  seller_iec, buyer_iec, scheme, scrip_nos, face_paise, price_bps, fee_bps, gst_bps, terms_hash, created_at,
  valid_until, cross_id`;

export async function insertCrossQuote(db: Db, row: CrossQuoteRow): Promise<void> {
  await db.rows(sql`
    insert into cross_quotes (${quoteColumns})
    values (
      ${row.cross_quote_ref}, ${row.environment}, ${row.desk_id}, ${row.firm_id}, ${row.key_id},
      ${row.side}, ${row.kind}, ${row.counterparty_firm_id}, ${row.seller_iec}, ${row.buyer_iec},
      ${row.scheme}, ${row.scrip_nos}::text[], ${row.face_paise}, ${row.price_bps}, ${row.fee_bps},
      ${row.gst_bps},
      ${row.terms_hash}, ${row.created_at}, ${row.valid_until}, ${row.cross_id}
    )`);
}

export async function lockCrossQuote(
  tx: Tx,
  { deskId, firmId }: Visibility,
  crossQuoteRef: string,
): Promise<CrossQuoteRow | undefined> {
  const [row] = await tx.rows<CrossQuoteRow>(sql`
    select ${quoteColumns}
    from cross_quotes
    where cross_quote_ref = ${crossQuoteRef} and desk_id = ${deskId}
      and (${firmId}::text is null or firm_id = ${firmId})
    for update`);
  return row;
}

/** The quote is locked and unused. */
export async function setCrossOfQuote(
  tx: Tx,
  crossQuoteRef: string,
  crossId: string,
): Promise<void> {
  await tx.rows(sql`
    update cross_quotes
    set cross_id = ${crossId}
    where cross_quote_ref = ${crossQuoteRef}`);
}
