// Rows by the hundred thousand, without statistics: the small world that the service has made itself,
// copied as a whole under new ids, and the rows of one desk once more and many times over. What refers
// to each other in the world does so in its copies.

import type pg from "pg";

import { houseFirmId } from "../../src/kernel/ids.ts";

/** What is one of a kind, or belongs to the service rather than to a desk. */
const notCopied = new Set([
  "schema_migrations",
  "plans",
  "rate_cards",
  "match_locks",
  "ledger_verdict",
  "master_key_checks",
  "market_logs",
  "market_updates",
  "market_depths",
  "house_days",
  "house_quoted",
  "deal_minutes",
  "rate_index_days",
  "approvals",
  "enquiries",
  "port_outages",
  // A check of what stands in for the bank and customs would find their questions unanswered.
  "questions",
]);

/** What workers would begin with at once is left out: how they find it is measured, not their work. */
const atRest: Readonly<Record<string, string>> = {
  payouts: "look_at is null",
  settlements: "due_at is null or environment = 'live'",
  settlement_legs: "not awaited or environment = 'live'",
};

const houses = Object.values(houseFirmId)
  .map((id) => `'${id}'`)
  .join(", ");

/** A new id that begins like the old one; `deep` copies stay with their firms and keys. */
const renaming = `
  create function pg_temp.renamed(v text, copy int, deep boolean) returns text
  language sql immutable as $$
    select case
      when v in (${houses}) then v
      when deep and left(v, 4) in ('frm_', 'key_', 'grp_') then v
      when length(v) = 30 and substr(v, 4, 1) = '_'
        then left(v, 14) || substr(md5(v || copy || deep), 1, 16)
      when strpos(v, ':frm_') > 0 and not deep
        then left(v, -16) || substr(md5(right(v, 30) || copy || deep), 1, 16)
      else v
    end
  $$;
  create function pg_temp.renumbered(v text, copy int, deep boolean) returns text
  language sql immutable as $$
    select case when v is not null then 'X' || upper(substr(md5(v || copy || deep), 1, 20)) end
  $$`;

export type FillSize = {
  /** How many copies of the whole world. */
  readonly worlds: number;
  /** The desk whose rows are copied again, and how many rows of each kind it gets. */
  readonly desk: string;
  readonly firm: string;
  readonly ofDesk: number;
  /** How many credits there are at the end, a tenth of them the house's. */
  readonly credits: number;
};

export async function fill(
  owner: pg.Client,
  size: FillSize,
  say: (line: string) => void,
): Promise<void> {
  await owner.query("set statement_timeout = 0; set session_replication_role = replica");
  await owner.query("set synchronous_commit = off; set auto_explain.log_min_duration = -1");
  await leaveUncounted(owner);
  await owner.query(renaming);
  const tables = await tablesToCopy(owner);
  for (const table of tables) {
    const where = atRest[table] ?? "true";
    await copyRows(owner, { table, where, copies: size.worlds, deep: false });
  }
  say(`${size.worlds} copies of ${tables.length} tables`);
  const { desk, firm } = size;
  const ofDesk: Readonly<Record<string, string>> = {
    orders: `desk_id = '${desk}' and state = 'matched'`,
    settlements: `settlement_id in (select settlement_id from settlement_legs where seller_desk_id = '${desk}') and state = 'settled'`,
    settlement_legs: `seller_desk_id = '${desk}' and state = 'delivered'`,
    payouts: `desk_id = '${desk}' and state = 'paid'`,
    quotes: `desk_id = '${desk}'`,
    journal_blocks: `desk_id = '${desk}'`,
    journal_clients: `desk_id = '${desk}'`,
    ledger_firm_entries: `firm_id = '${firm}'`,
    ledger_entries: `entry_no in (select entry_no from ledger_firm_entries where firm_id = '${firm}')`,
  };
  for (const [table, where] of Object.entries(ofDesk)) {
    await copyRows(owner, { table, where, rows: size.ofDesk, deep: true });
  }
  say(`${size.ofDesk} rows of each kind of one desk`);
  const count = async (where: string) => {
    const { rows } = await owner.query<{ n: string }>(
      `select count(*) as n from credits where ${where}`,
    );
    return Number(rows[0]?.n);
  };
  const ofHouse = `firm_id = '${houseFirmId.sandbox}' and state = 'listed'`;
  const house = size.credits / 10 - (await count(ofHouse));
  await copyRows(owner, { table: "credits", where: ofHouse, rows: house, deep: true });
  const ofFirm = `firm_id = '${firm}' and state = 'listed'`;
  const others = size.credits - (await count("true"));
  await copyRows(owner, { table: "credits", where: ofFirm, rows: others, deep: true });
  say(`${await count("true")} credits`);
}

/** Nobody counts the rows until somebody says so; also makes every connection plan anew. */
export async function leaveUncounted(owner: pg.Client): Promise<void> {
  const { rows } = await owner.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
  );
  for (const { name } of rows) {
    await owner.query(`alter table ${name} set (autovacuum_enabled = false)`);
  }
}

async function tablesToCopy(owner: pg.Client): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `select relname as name
    from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    order by 1`,
  );
  return rows.map(({ name }) => name).filter((name) => !notCopied.has(name));
}

type Copied = { readonly table: string; readonly deep: boolean; readonly where?: string } & (
  | { readonly copies: number }
  | { readonly rows: number }
);

async function copyRows(owner: pg.Client, copied: Copied): Promise<void> {
  const { table, deep, where = "true" } = copied;
  await owner.query("drop table if exists pg_temp.originals");
  await owner.query(`create temp table originals as select * from ${table} where ${where}`);
  const { rows } = await owner.query<{ n: string }>("select count(*) as n from originals");
  const originals = Number(rows[0]?.n);
  if (originals === 0) {
    if ("rows" in copied) throw new Error(`there is nothing to copy in ${table}`);
    return;
  }
  const copies = "copies" in copied ? copied.copies : Math.ceil(copied.rows / originals);
  const columns = await listColumns(owner, table);
  const values = columns.map((column) => writeValue(table, column, deep));
  await owner.query(
    `insert into ${table} (${columns.map(({ name }) => name).join(", ")})
    select ${values.join(", ")}
    from generate_series(1, $1::int) as copy, originals
    on conflict do nothing`,
    [copies],
  );
}

/** Where it says when a deal was made. */
const dealtAt: Readonly<Record<string, string>> = {
  settlements: "created_at",
  settlement_legs: "dealt_at",
};

/** Columns that say which thing is meant, or whose. */
const namesThing = /(_id|_ref|^origin|^subject|^scope|^account|^balance|^reserved_for|^resend_of)$/;

/** Columns that number what happened on a desk. */
const numbers = /^(?:first_|last_)?seq(?:uence)?$/;

type Column = { readonly name: string; readonly type: string };

/** What a copy has in a column, as an expression over the original and `copy`. */
function writeValue(table: string, { name, type }: Column, deep: boolean): string {
  const call = (how: string, of: string) => `pg_temp.${how}(${of}, copy, ${deep})`;
  const each = (how: string) =>
    `case when ${name} is not null then array(
      select ${call(how, "one")} from unnest(${name}) with ordinality as o (one, place) order by place
    ) end`;
  if (name === "legal_name") return "legal_name || ' ' || copy";
  if (name === "utr" || (table === "deposits" && name === "reference")) {
    return `upper(substr(md5(${name} || copy || ${deep}), 1, 20))`;
  }
  if (/(entry_no|^resolves)$/.test(name))
    return `${name} + copy * ${deep ? 100_000_000 : 1_000_000}::bigint`;
  // Deals of one instant are few: the last one is found among them.
  if (dealtAt[table] === name) return `${name} - copy * interval '1 ms'`;
  if (deep && numbers.test(name)) return `${name} + copy * 1000000::bigint`;
  if (deep && name === "entities") {
    return "array(select one + copy from unnest(entities) as one order by one)";
  }
  if (type === "text" && name === "scrip_no") return call("renumbered", name);
  if (type === "text[]" && name.endsWith("scrip_nos")) return each("renumbered");
  if (type === "text[]" && name === "settlement_ids") return each("renamed");
  const namesSomething = type === "text" && namesThing.test(name);
  return namesSomething ? call("renamed", name) : name;
}

async function listColumns(owner: pg.Client, table: string): Promise<Column[]> {
  const { rows } = await owner.query<Column>(
    `select attname as name, format_type(atttypid, atttypmod) as type
    from pg_attribute
    where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''
      and attidentity <> 'a'
    order by attnum`,
    [table],
  );
  return rows;
}
