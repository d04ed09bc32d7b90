// Databases of tests, lent to one test after another. In a new database every connection is opened,
// every statement is planned and every table is looked up for the first time, which took PostgreSQL
// longer than all the rest of most tests. So what a test has written is taken out afterwards, and the
// next one has the database with its open connections.
//
// A database is lent again only where nothing but rows can differ: not after a test that took a
// connection for itself, worked as the owner, closed it or changed a table, nor while one of its
// connections is still busy.

import pg from "pg";

import { type Database, openDatabase } from "../../src/platform/postgres/postgres.ts";

/** By then the rows that were taken out weigh more than a new database. */
const lendsMax = 40;
const sparesMax = 2;

/** How a database is made, and dropped when it is not lent again. */
export type Makers = {
  readonly make: () => Promise<pg.ClientConfig>;
  readonly drop: (connection: pg.ClientConfig) => Promise<void>;
};

export type Loan = {
  /** Refuses everything once it was given back. */
  readonly db: Database;
  readonly giveBack: () => Promise<void>;
};

type KeptDatabase = {
  readonly connection: pg.ClientConfig;
  readonly db: Database;
  /** Takes out what was written. */
  readonly owner: pg.Client;
  readonly clients: ReadonlySet<pg.ClientBase & Holding>;
  lends: number;
  isSpoilt: boolean;
};

/** Whether an open connection keeps the process alive. */
type Holding = { ref(): void; unref(): void };

const spares: KeptDatabase[] = [];
const lentAs = new WeakMap<pg.Pool, KeptDatabase>();

export async function lendDatabase(makers: Makers): Promise<Loan> {
  const kept = (await takeSpare(makers)) ?? (await open(await makers.make()));
  kept.lends += 1;
  const { db, end } = lend(kept);
  return {
    db,
    async giveBack() {
      end();
      if (kept.isSpoilt || kept.lends >= lendsMax || spares.length >= sparesMax) {
        await discard(kept, makers);
        return;
      }
      for (const client of kept.clients) client.unref();
      spares.push(kept);
    },
  };
}

/** Says that from now on a database differs in more than rows. */
export function spoil({ pool }: Pick<Database, "pool">): void {
  const kept = lentAs.get(pool);
  if (kept) kept.isSpoilt = true;
}

async function open(connection: pg.ClientConfig): Promise<KeptDatabase> {
  const owner = new pg.Client(connection) as pg.Client & Holding;
  owner.on("error", () => {}); // The next statement tells.
  await owner.connect();
  await owner.query(await writeEmptying(owner));
  owner.unref();
  const db = openDatabase({ connection, role: "scripdesk_app", onIdleError() {} });
  const clients = new Set<pg.PoolClient & Holding>();
  db.pool.on("connect", (client) => clients.add(client as pg.PoolClient & Holding));
  db.pool.on("remove", (client) => clients.delete(client as pg.PoolClient & Holding));
  return { connection, db, owner, clients, lends: 0, isSpoilt: false };
}

async function discard({ db, owner, connection }: KeptDatabase, makers: Makers): Promise<void> {
  await Promise.all([db.pool.ended ? undefined : db.close(), owner.end()]);
  await makers.drop(connection);
}

async function takeSpare(makers: Makers): Promise<KeptDatabase | undefined> {
  for (let kept = spares.pop(); kept; kept = spares.pop()) {
    for (const client of kept.clients) client.ref();
    if (await tryEmpty(kept)) return kept;
    await discard(kept, makers);
  }
  return undefined;
}

async function tryEmpty({ db, owner }: KeptDatabase): Promise<boolean> {
  if (db.connections().busy > 0) return false;
  try {
    await owner.query("select pg_temp.empty()");
    return true;
  } catch {
    return false;
  }
}

/** Tables and indexes with what was counted in them: it changes with each of them and with ANALYZE. */
const shape = `(
  select concat_ws(' ', count(*), max(oid::bigint), sum(reltuples))
  from pg_class
  where relnamespace = 'public'::regnamespace)`;

let emptying: string | undefined;

/** A function that makes a database like the one it is written from; its statements are planned once. */
async function writeEmptying(owner: pg.Client): Promise<string> {
  if (emptying !== undefined) return emptying;
  const { rows: tables } = await owner.query<{ name: string; columns: string }>(`
    select quote_ident(relname) as name, (
      select string_agg(quote_ident(attname), ', ' order by attnum)
      from pg_attribute
      where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
    ) as columns
    from pg_class as c
    where relnamespace = 'public'::regnamespace and relkind = 'r'
    order by relname`);
  const steps: string[] = [];
  for (const { name, columns } of tables) {
    const written = `(select coalesce(jsonb_agg(t order by t::text), '[]')::text from ${name} as t)`;
    const found = await readText(owner, `select ${written} as text`);
    if (found === "[]") {
      steps.push(`delete from ${name};`);
      continue;
    }
    const rows = pg.escapeLiteral(found);
    steps.push(`
      if ${written} <> ${rows} then
        delete from ${name};
        insert into ${name} (${columns}) overriding system value
        select ${columns} from jsonb_populate_recordset(null::${name}, ${rows}::jsonb);
      end if;`);
  }
  const sequences = await readText(
    owner,
    `select string_agg(
      format('perform setval(%L, %s, %L);', sequencename, coalesce(last_value, start_value), last_value is not null),
      ' ') as text
    from pg_sequences
    where schemaname = 'public'`,
  );
  const before = pg.escapeLiteral(await readText(owner, `select ${shape} as text`));
  emptying = `
    set session_replication_role = replica;
    set plan_cache_mode = force_generic_plan;
    create function pg_temp.empty() returns void language plpgsql as $emptying$
    begin
      if ${shape} <> ${before} then raise 'a table is another one now'; end if;
      ${steps.join("\n")}
      ${sequences}
    end;
    $emptying$`;
  return emptying;
}

async function readText(owner: pg.Client, statement: string): Promise<string> {
  const { rows } = await owner.query<{ text: string }>(statement);
  return rows[0]?.text ?? "";
}

/** The database as one test has it. */
function lend(kept: KeptDatabase): { db: Database; end: () => void } {
  let isEnded = false;
  const leave: (() => void)[] = [];
  const assertLent = () => {
    if (isEnded) throw new Error("the test that this database was lent to has ended");
  };
  const lasting = <Work extends (...args: never[]) => Promise<unknown>>(work: Work): Work =>
    (async (...args: never[]) => {
      assertLent();
      return await work(...args);
    }) as Work;
  const asking = ({ rows, run, pipeline }: Pick<Database, "rows" | "run" | "pipeline">) => ({
    rows: lasting(rows),
    run: lasting(run),
    pipeline: lasting(pipeline),
  });
  const pool = new Proxy(kept.db.pool, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        assertLent();
        if (name !== "query" || !onlyRows.test(String(args[0]))) kept.isSpoilt = true;
        return Reflect.apply(value, target, args);
      };
    },
  });
  lentAs.set(pool, kept);
  const view = (db: Database): Database => ({
    ...db,
    ...asking(db),
    planned: asking(db.planned),
    awaited: asking(db.awaited),
    transaction: lasting<Database["transaction"]>((work, options) => db.transaction(work, options)),
    onAnnounced(topic, listener) {
      const off = db.onAnnounced(topic, listener);
      leave.push(off);
      return off;
    },
    for: (environment) => views[environment],
    pool,
    async close() {
      kept.isSpoilt = true;
      await db.close();
    },
  });
  const views = { live: view(kept.db.for("live")), sandbox: view(kept.db.for("sandbox")) };
  return {
    db: views.live,
    end() {
      isEnded = true;
      for (const off of leave) off();
    },
  };
}

/** Statements that leave nothing but rows behind. */
const onlyRows = /^\s*(select|insert|update|delete|with)\b/i;
