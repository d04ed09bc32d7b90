import type { Environment } from "../kernel/caller.ts";
import { firstId } from "../kernel/ids.ts";
import type { ClockAdvance, Cursor } from "../kernel/clock-advance.ts";
import type { Scheme, Side } from "../kernel/scheme.ts";
import type { Visibility } from "../kernel/visibility.ts";
import {
  type Db,
  fragment,
  query,
  type Query,
  sql,
  type Tx,
} from "../platform/postgres/postgres.ts";
import {
  bigint,
  day,
  int,
  json,
  shape,
  table,
  text,
  textList,
  time,
} from "../platform/postgres/table.ts";
import { type BuyFacts, quoteWindowMaxMs, type SellFacts } from "./quote-rules.ts";

type Terms = {
  readonly scheme: Scheme;
  readonly price_bps: number;
  readonly all_in_paise: number;
};

type SellTerms = Terms &
  SellFacts & {
    readonly side: "sell";
    readonly scrip_no: string | null;
    readonly face_paise: number;
    readonly requirement_paise: null;
    readonly covered_paise: null;
    readonly scrip_nos: null;
  };

type BuyTerms = Terms &
  BuyFacts & {
    readonly side: "buy";
    readonly scrip_no: null;
    readonly face_paise: null;
    readonly requirement_paise: number;
    readonly covered_paise: number;
    readonly scrip_nos: readonly string[];
  };

/** Columns that both sides have. */
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

// Divided by the month of the ref, whose first digits are its time. A statement on some quotes names
// their refs as a list, so that PostgreSQL leaves out the other months before it begins.
const quotes = table("quotes", {
  quote_ref: text(),
  environment: text<Environment>(),
  desk_id: text(),
  firm_id: text(),
  key_id: text(),
  side: text<Side>(),
  scheme: text<Scheme>(),
  scrip_no: text().orNull,
  face_paise: bigint().orNull,
  requirement_paise: bigint().orNull,
  covered_paise: bigint().orNull,
  scrip_nos: textList().orNull,
  credit_id: text().orNull,
  expires_on: day().orNull,
  face_min_paise: bigint().orNull,
  days_left_min: int().orNull,
  offers: json<BuyFacts["offers"]>().orNull,
  price_bps: int(),
  all_in_paise: bigint(),
  card_version: int(),
  created_at: time(),
  valid_until: time(),
  order_id: text().orNull,
});
const quoteColumns = quotes.as("quotes");

const termsOfBoth = [
  "quote_ref",
  "environment",
  "desk_id",
  "firm_id",
  "key_id",
  "scheme",
  "price_bps",
  "all_in_paise",
  "card_version",
  "created_at",
  "valid_until",
] as const;
const sellColumns = [
  ...termsOfBoth,
  "scrip_no",
  "face_paise",
  "credit_id",
  "expires_on",
  "face_min_paise",
  "days_left_min",
] as const;
const buyColumns = [
  ...termsOfBoth,
  "requirement_paise",
  "covered_paise",
  "scrip_nos",
  "offers",
] as const;

export async function insertSells(db: Db, rows: readonly SellRow[]): Promise<void> {
  await db.rows(sql`
    insert into quotes ${quotes.values(sellColumns, rows, { side: "sell" })}`);
}

export async function insertBuys(db: Db, rows: readonly BuyRow[]): Promise<void> {
  await db.rows(sql`
    insert into quotes ${quotes.values(buyColumns, rows, { side: "buy" })}`);
}

/** The PANs of firms. */
export function listPans(
  firmIds: readonly string[],
): Query<{ readonly firm_id: string; readonly pan: string | null }[]> {
  return query(sql`
    select firm_id, pan
    from firms
    where firm_id = any(${firmIds}::text[])`);
}

type AskedQuote = Visibility & { readonly quoteRef: string };

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

const refs = shape({ ref: text(), of_desk: text(), of_firm: text().orNull });

type QuoteAt = QuoteRow & { readonly position: number };

const joinAsked = fragment`
  join quotes on quote_ref = asked.ref and desk_id = asked.of_desk
    and (asked.of_firm is null or firm_id = asked.of_firm)`;

/** Existing quotes with their index in `asked`. */
export function listQuoteRows(asked: readonly AskedQuote[]): Query<QuoteAt[]> {
  return query(sql`
    select ${quoteColumns}, asked.position::int - 1 as position
    from ${numberAsked(asked)} as asked
    ${joinAsked}
    where quote_ref = any(${asked.map(({ quoteRef }) => quoteRef)}::text[])`);
}

/** The same, locked in the sequence of their refs: no deadlock. */
export function lockQuoteRows(asked: readonly AskedQuote[]): Query<QuoteAt[]> {
  return query(sql`
    select ${quoteColumns}, asked.position::int - 1 as position
    from ${numberAsked(asked)} as asked
    ${joinAsked}
    where quote_ref = any(${asked.map(({ quoteRef }) => quoteRef)}::text[])
    order by quote_ref
    for update of quotes`);
}

function numberAsked(asked: readonly AskedQuote[]) {
  return refs.numbered(
    {
      ref: ({ quoteRef }) => quoteRef,
      of_desk: ({ deskId }) => deskId,
      of_firm: ({ firmId }) => firmId,
    },
    asked,
  );
}

export type QuoteUse = { readonly quoteRef: string; readonly orderId: string };

/** Sets the order of unused quotes; returns their refs. */
export function setQuoteOrders(uses: readonly QuoteUse[]): Query<string[]> {
  const used = quotes.rows(
    { quote_ref: ({ quoteRef }) => quoteRef, order_id: ({ orderId }) => orderId },
    uses,
  );
  return query<{ quote_ref: string }>(sql`
    update quotes
    set order_id = use.order_id
    from ${used} as use
    where quotes.quote_ref = use.quote_ref and quotes.order_id is null
      and quotes.quote_ref = any(${uses.map(({ quoteRef }) => quoteRef)}::text[])
    returning quotes.quote_ref`).map((rows) => rows.map((row) => row.quote_ref));
}

/** Moves the expiry of open quotes of a desk earlier; returns their refs. */
export async function moveQuoteExpiriesEarlier(
  tx: Tx,
  { environment, deskId, seconds, now }: ClockAdvance,
  { after, limit }: Cursor,
): Promise<string[]> {
  const rows = await tx.rows<{ quote_ref: string }>(sql`
    update quotes
    set valid_until = valid_until - make_interval(secs => ${seconds})
    where quote_ref = any(array(
      select quote_ref
      from quotes
      where quote_ref > ${after} and environment = ${environment} and desk_id = ${deskId}
        and order_id is null and valid_until > ${now} and created_at <= ${now}
      order by quote_ref
      limit ${limit}
      for update
    ))
    returning quote_ref`);
  return rows.map(({ quote_ref }) => quote_ref).toSorted();
}

export type OpenQuoteTotals = {
  readonly count: number;
  readonly face_paise: number;
  readonly last_valid_until: Date | null;
};

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
    where quote_ref >= ${firstId("qte", new Date(now.getTime() - quoteWindowMaxMs))}
      and environment = ${environment} and scheme = ${scheme}
      and valid_until > ${now} and order_id is null`);
  return row ?? { count: 0, face_paise: 0, last_valid_until: null };
}
