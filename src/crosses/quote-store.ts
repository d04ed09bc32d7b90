import type { Environment } from "../kernel/caller.ts";
import type { Scheme, Side } from "../kernel/scheme.ts";
import type { Visibility } from "../kernel/visibility.ts";
import { type Db, sql, type Tx } from "../platform/postgres/postgres.ts";
import {
  bigint,
  int,
  type RowOf,
  table,
  text,
  textList,
  time,
} from "../platform/postgres/table.ts";
import type { CrossKind } from "./rules.ts";

const crossQuotes = table("cross_quotes", {
  cross_quote_ref: text(),
  environment: text<Environment>(),
  desk_id: text(),
  firm_id: text(),
  key_id: text(),
  side: text<Side>(),
  kind: text<CrossKind>(),
  counterparty_firm_id: text().orNull,
  seller_iec: text(),
  buyer_iec: text(),
  scheme: text<Scheme>(),
  scrip_nos: textList().orNull,
  face_paise: bigint(),
  price_bps: int(),
  fee_bps: int(),
  gst_bps: int(),
  terms_hash: text(),
  created_at: time(),
  valid_until: time(),
  cross_id: text().orNull,
});
export type CrossQuoteRow = RowOf<typeof crossQuotes>;

export async function insertCrossQuote(db: Db, row: CrossQuoteRow): Promise<void> {
  await db.rows(sql`
    insert into cross_quotes ${crossQuotes.values(crossQuotes.all, [row])}`);
}

export async function lockCrossQuote(
  tx: Tx,
  { deskId, firmId }: Visibility,
  crossQuoteRef: string,
): Promise<CrossQuoteRow | undefined> {
  const [row] = await tx.rows<CrossQuoteRow>(sql`
    select ${crossQuotes.columns}
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
