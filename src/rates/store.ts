import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres.ts";
import type { RateCard } from "./rules.ts";

const cardColumns = fragment`
  environment, scheme, version, state, mid_bps, half_spread_bps, size_bands, validity_bands,
  floor_bps, ceiling_bps, ask_ceiling_bps, face_max_paise, house_limit_paise, quote_window_s,
  margin_bps, fee_bps, published_at, published_by, note`;

/** The card in force of every scheme that has one. */
export async function listCurrentCards(db: Db, environment: Environment): Promise<RateCard[]> {
  return await db.rows(sql`
    select distinct on (scheme) ${cardColumns}
    from rate_cards
    where environment = ${environment}
    order by scheme, version desc`);
}

/** The cards of a scheme, newest first. */
export async function listCards(
  db: Db,
  { environment, scheme, limit }: { environment: Environment; scheme: Scheme; limit: number },
): Promise<RateCard[]> {
  return await db.rows(sql`
    select ${cardColumns}
    from rate_cards
    where environment = ${environment} and scheme = ${scheme}
    order by version desc
    limit ${limit}`);
}

/**
 * Cards are only added, so there may be no row to lock: whoever publishes for a scheme waits here
 * for whoever does so already, and then sees that one's card.
 */
export async function lockScheme(tx: Tx, environment: Environment, scheme: Scheme): Promise<void> {
  await tx.rows(sql`
    select pg_advisory_xact_lock(hashtext('rate_cards'), hashtext(${`${environment} ${scheme}`}))`);
}

export async function findCurrentCard(
  db: Db,
  environment: Environment,
  scheme: Scheme,
): Promise<RateCard | undefined> {
  const [card] = await db.rows<RateCard>(sql`
    select ${cardColumns}
    from rate_cards
    where environment = ${environment} and scheme = ${scheme}
    order by version desc
    limit 1`);
  return card;
}

export async function insertCard(tx: Tx, card: RateCard): Promise<void> {
  await tx.rows(sql`
    insert into rate_cards (${cardColumns})
    values (
      ${card.environment}, ${card.scheme}, ${card.version}, ${card.state}, ${card.mid_bps},
      ${card.half_spread_bps}, ${JSON.stringify(card.size_bands)}::jsonb,
      ${JSON.stringify(card.validity_bands)}::jsonb, ${card.floor_bps}, ${card.ceiling_bps},
      ${card.ask_ceiling_bps}, ${card.face_max_paise}, ${card.house_limit_paise},
      ${card.quote_window_s}, ${card.margin_bps}, ${card.fee_bps}, ${card.published_at},
      ${card.published_by}, ${card.note}
    )`);
}
