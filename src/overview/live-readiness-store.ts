import { type Db, sql } from "../platform/postgres/postgres.ts";

type LiveFacts = {
  readonly has_key: boolean;
  readonly has_statement: boolean;
  readonly has_mail_of_people: boolean;
};

/** What there is of live, each found at the first row. */
export async function findLiveFacts(db: Db): Promise<LiveFacts> {
  const [row] = await db.rows<LiveFacts>(sql`
    select
      exists (
        select from api_keys
        where environment = 'live' and state = 'active' and kind = 'root'
      ) as has_key,
      exists (
        select from bank_statements
        where environment = 'live' and state = 'applied'
      ) as has_statement,
      exists (
        select from notice_addresses
        where operator_id is not null and removed_at is null
      ) as has_mail_of_people`);
  if (!row) throw new Error("a select of three flags has one row");
  return row;
}
