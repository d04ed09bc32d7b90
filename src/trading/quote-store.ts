import type { Environment } from "../kernel/caller.ts";
import { firstId } from "../kernel/ids.ts";
import type { Passage } from "../kernel/passage.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Visibility } from "../kernel/visibility.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres/postgres.ts";
import type { BuyFacts, SellFacts } from "./quote-rules.ts";

type Terms = {
  readonly scheme: Scheme;
  readonly price_bps: number;
  readonly all_in_paise: number;
};

export type SellTerms = Terms &
  SellFacts & {
    readonly side: "sell";
    readonly scrip_no: string | null;
    readonly face_paise: number;
    readonly requirement_paise: null;
    readonly covered_paise: null;
    readonly scrip_nos: null;
  };

export type BuyTerms = Terms &
  BuyFacts & {
    readonly side: "buy";
    readonly scrip_no: null;
    readonly face_paise: null;
    readonly requirement_paise: number;
    readonly covered_paise: number;
    readonly scrip_nos: readonly string[];
  };

/** What quotes of both sides have. */
export type QuoteBase = {
  readonly quote_ref: string;
  readonly environment: Environment;
  readonly desk_id: string;
  readonly firm_id: string;
  readonly key_id: string;
  readonly card_version: number;
  readonly created_at: Date;
  readonly valid_until: Date;
  readonly order_id: string | null;
};

export type SellRow = QuoteBase & SellTerms;
export type BuyRow = QuoteBase & BuyTerms;
export type QuoteRow = SellRow | BuyRow;

const quoteColumns = fragment`
  quote_ref, environment, desk_id, firm_id, key_id, side, scheme, scrip_no, face_paise,
  requirement_paise, covered_paise, scrip_nos, credit_id, expires_on, face_min_paise,
  days_left_min, offers, price_bps, all_in_paise, card_version, created_at, valid_until, order_id`;

export async function insertSells(db: Db, rows: readonly SellRow[]): Promise<void> {
  await db.rows(sql`
    insert into quotes (
      quote_ref, environment, desk_id, firm_id, key_id, side, scheme, scrip_no, face_paise,
      credit_id, expires_on, face_min_paise, days_left_min, price_bps, all_in_paise, card_version,
      created_at, valid_until
    )
    select
      quote_ref, environment, desk_id, firm_id, key_id, 'sell', scheme, scrip_no, face_paise,
      credit_id, expires_on, face_min_paise, days_left_min, price_bps, all_in_paise, card_version,
      created_at, valid_until
    from unnest(
      ${rows.map((row) => row.quote_ref)}::text[],
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.desk_id)}::text[],
      ${rows.map((row) => row.firm_id)}::text[],
      ${rows.map((row) => row.key_id)}::text[],
      ${rows.map((row) => row.scheme)}::text[],
      ${rows.map((row) => row.scrip_no)}::text[],
      ${rows.map((row) => row.face_paise)}::bigint[],
      ${rows.map((row) => row.credit_id)}::text[],
      ${rows.map((row) => row.expires_on)}::date[],
      ${rows.map((row) => row.face_min_paise)}::bigint[],
      ${rows.map((row) => row.days_left_min)}::int[],
      ${rows.map((row) => row.price_bps)}::int[],
      ${rows.map((row) => row.all_in_paise)}::bigint[],
      ${rows.map((row) => row.card_version)}::int[],
      ${rows.map((row) => row.created_at)}::timestamptz[],
      ${rows.map((row) => row.valid_until)}::timestamptz[]
    ) as r (
      quote_ref, environment, desk_id, firm_id, key_id, scheme, scrip_no, face_paise, credit_id,
      expires_on, face_min_paise, days_left_min, price_bps, all_in_paise, card_version, created_at,
      valid_until
    )`);
}

/** A bundle travels as one text, because arrays of arrays must be of one length; no number has a comma. */
export async function insertBuys(db: Db, rows: readonly BuyRow[]): Promise<void> {
  await db.rows(sql`
    insert into quotes (
      quote_ref, environment, desk_id, firm_id, key_id, side, scheme, requirement_paise,
      covered_paise, scrip_nos, offers, price_bps, all_in_paise, card_version, created_at,
      valid_until
    )
    select
      quote_ref, environment, desk_id, firm_id, key_id, 'buy', scheme, requirement_paise,
      covered_paise, string_to_array(scrip_nos, ','), offers, price_bps, all_in_paise,
      card_version, created_at, valid_until
    from unnest(
      ${rows.map((row) => row.quote_ref)}::text[],
      ${rows.map((row) => row.environment)}::text[],
      ${rows.map((row) => row.desk_id)}::text[],
      ${rows.map((row) => row.firm_id)}::text[],
      ${rows.map((row) => row.key_id)}::text[],
      ${rows.map((row) => row.scheme)}::text[],
      ${rows.map((row) => row.requirement_paise)}::bigint[],
      ${rows.map((row) => row.covered_paise)}::bigint[],
      ${rows.map((row) => row.scrip_nos.join(","))}::text[],
      ${rows.map((row) => JSON.stringify(row.offers))}::jsonb[],
      ${rows.map((row) => row.price_bps)}::int[],
      ${rows.map((row) => row.all_in_paise)}::bigint[],
      ${rows.map((row) => row.card_version)}::int[],
      ${rows.map((row) => row.created_at)}::timestamptz[],
      ${rows.map((row) => row.valid_until)}::timestamptz[]
    ) as r (
      quote_ref, environment, desk_id, firm_id, key_id, scheme, requirement_paise, covered_paise,
      scrip_nos, offers, price_bps, all_in_paise, card_version, created_at, valid_until
    )`);
}

/** Who firms are to the state. */
export async function listPans(
  db: Db,
  firmIds: readonly string[],
): Promise<{ readonly firm_id: string; readonly pan: string | null }[]> {
  return await db.rows(sql`
    select firm_id, pan
    from firms
    where firm_id = any(${firmIds}::text[])`);
}

export type AskedQuote = Visibility & { readonly quoteRef: string };

export async function findQuote(
  db: Db,
  { deskId, firmId, quoteRef }: AskedQuote,
): Promise<QuoteRow | undefined> {
  const [row] = await db.rows<QuoteRow>(sql`
    select ${quoteColumns}
    from quotes
    where desk_id = ${deskId} and quote_ref = ${quoteRef}
      and (${firmId}::text is null or firm_id = ${firmId})`);
  return row;
}

/**
 * Those of the asked that exist, with their place among them, from 0. Locked in the order of their
 * refs, so that two sets never wait for each other in a circle.
 */
export async function lockQuoteRows(
  tx: Tx,
  asked: readonly AskedQuote[],
): Promise<(QuoteRow & { readonly position: number })[]> {
  return await tx.rows(sql`
    select ${quoteColumns}, asked.position::int - 1 as position
    from unnest(
      ${asked.map(({ quoteRef }) => quoteRef)}::text[],
      ${asked.map(({ deskId }) => deskId)}::text[],
      ${asked.map(({ firmId }) => firmId)}::text[]
    ) with ordinality as asked (ref, of_desk, of_firm, position)
    join quotes on quote_ref = asked.ref and desk_id = asked.of_desk
      and (asked.of_firm is null or firm_id = asked.of_firm)
    order by quote_ref
    for update of quotes`);
}

export type QuoteUse = { readonly quoteRef: string; readonly orderId: string };

/** The refs that had no order before. */
export async function setQuoteOrders(tx: Tx, uses: readonly QuoteUse[]): Promise<string[]> {
  const rows = await tx.rows<{ quote_ref: string }>(sql`
    update quotes
    set order_id = use.order_id
    from unnest(
      ${uses.map(({ quoteRef }) => quoteRef)}::text[],
      ${uses.map(({ orderId }) => orderId)}::text[]
    ) as use (quote_ref, order_id)
    where quotes.quote_ref = use.quote_ref and quotes.order_id is null
    returning quotes.quote_ref`);
  return rows.map((row) => row.quote_ref);
}

/** Those of a desk that can still be ordered on end sooner; how many there are. */
export async function moveQuoteExpiriesEarlier(
  tx: Tx,
  { environment, deskId, seconds, now }: Passage,
  oldestRef: string,
): Promise<number> {
  const rows = await tx.rows(sql`
    update quotes
    set valid_until = valid_until - make_interval(secs => ${seconds})
    where quote_ref >= ${oldestRef} and environment = ${environment} and desk_id = ${deskId}
      and order_id is null and valid_until > ${now}
    returning quote_ref`);
  return rows.length;
}

export type OpenQuoteTotals = {
  readonly count: number;
  readonly face_paise: number;
  readonly last_valid_until: Date | null;
};

/** The longest that a card may bind a price, in milliseconds: older quotes have ended. */
const windowMsMax = 86_400_000;

export async function sumOpenQuotes(
  db: Db,
  { environment, scheme }: { readonly environment: Environment; readonly scheme: Scheme },
  now: Date,
): Promise<OpenQuoteTotals> {
  const [row] = await db.rows<OpenQuoteTotals>(sql`
    select count(*)::int as count,
      least(coalesce(sum(coalesce(face_paise, covered_paise)), 0), 9007199254740991)::bigint
        as face_paise,
      max(valid_until) as last_valid_until
    from quotes
    where quote_ref >= ${firstId("qte", new Date(now.getTime() - windowMsMax))}
      and environment = ${environment} and scheme = ${scheme}
      and valid_until > ${now} and order_id is null`);
  return row ?? { count: 0, face_paise: 0, last_valid_until: null };
}
