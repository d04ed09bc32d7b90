import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import fc from "fast-check";
import pg from "pg";

import {
  type AuditRecord,
  formerForm,
  linkAfter,
  startOfChain,
  writeRecord,
} from "../src/journal/audit-rules.ts";
import { verifyChain } from "../src/journal/verify-chain.ts";
import {
  listMigrationFiles,
  migrate,
  migrationsDir,
  pendingMigrations,
  readMigrations,
} from "../src/platform/postgres/migrate.ts";
import { openDatabase } from "../src/platform/postgres/postgres.ts";
import { newId } from "../src/kernel/ids.ts";
import { dayMs, istDay, istMonth, nextIstMonthStart } from "../src/kernel/time.ts";
import { monthlyTables } from "../src/retention/rules.ts";
import { Unusable } from "../src/platform/http/errors.ts";
import { eventually } from "./faults/acked-orders.ts";
import { testDatabase } from "./support/database.ts";
import { schemaFile } from "./support/golden.ts";
import { dumpSchema } from "./support/schema-dump.ts";

/** A connection as the owner of the database, ended with the test. */
async function owner(t: TestContext, connection: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(connection);
  client.on("error", () => {}); // The database may be dropped under it.
  await client.connect();
  t.after(() => client.end());
  return client;
}

test("migrations/schema.sql is the schema that the migrations make", async (t) => {
  const { connection } = await testDatabase(t);
  // Compared without a message of its own, so that a failure prints the lines that differ.
  assert.equal(await dumpSchema(await owner(t, connection)), await readFile(schemaFile, "utf8"));
});

test("control: the dump of the schema shows a column, an index, a check and a grant", async (t) => {
  const { connection } = await testDatabase(t);
  const client = await owner(t, connection);
  const golden = await readFile(schemaFile, "utf8");
  const changes = [
    "alter table plans add column note text",
    "create index on plans (per_minute)",
    "alter table plans drop constraint plans_per_minute_check",
    "revoke delete on plans from scripdesk_app",
    "alter table plans alter column per_minute drop not null",
  ];
  for (const change of changes) {
    await client.query("begin");
    await client.query(change);
    assert.notEqual(await dumpSchema(client), golden, change);
    await client.query("rollback");
  }
  assert.equal(await dumpSchema(client), golden);
});

test("migrating an empty database applies every migration once, and repeating it does nothing", async (t) => {
  const { connection } = await testDatabase(t, { template: "template0" });
  const files = (await readMigrations()).map(({ file }) => file);
  assert.deepEqual(await migrate(connection), { applied: files, role: "scripdesk_app" });
  const client = await owner(t, connection);
  const first = await client.query("select * from schema_migrations order by file");
  const { version } = JSON.parse(await readFile(join(migrationsDir, "../package.json"), "utf8"));
  assert.ok(first.rows.every((row) => row.version === version));
  assert.deepEqual(await migrate(connection), { applied: [], role: "scripdesk_app" });
  const second = await client.query("select * from schema_migrations order by file");
  assert.deepEqual(second.rows, first.rows);
  assert.equal(await dumpSchema(client), await readFile(schemaFile, "utf8"));
});

test("a migration that loses a deadlock with a node at work is repeated", async (t) => {
  const { connection } = await testDatabase(t);
  const node = await owner(t, connection);
  // Whoever first looks for a deadlock is ended: the migration, and not before there is one.
  await node.query("set deadlock_timeout = '1min'");
  await node.query(`alter database ${connection.database} set deadlock_timeout = '3s'`);
  // It makes indexes of several tables anew under their old names, so it can be applied again.
  const file = "0080-lists-grow-at-their-end.sql";
  await node.query("delete from schema_migrations where file = $1", [file]);
  await node.query("begin");
  await node.query("lock table settlements in row exclusive mode");
  const migrated = migrate(connection);
  await eventually(async () => {
    const { rowCount } = await node.query(
      "select from pg_locks where not granted and relation = 'settlements'::regclass",
    );
    return rowCount ? true : undefined;
  }, "the migration's wait for the node");
  await node.query("lock table orders in row exclusive mode");
  await node.query("commit");
  assert.deepEqual((await migrated).applied, [file]);
  assert.equal(await dumpSchema(node), await readFile(schemaFile, "utf8"));
});

test("of five processes that migrate one empty database concurrently one does it", async (t) => {
  const { connection } = await testDatabase(t, { template: "template0" });
  const files = (await readMigrations()).map(({ file }) => file);
  const results = await Promise.all(Array.from({ length: 5 }, () => migrate(connection)));
  const applied = results.map((result) => result.applied).toSorted((a, b) => b.length - a.length);
  assert.deepEqual(applied, [files, [], [], [], []]);
  const client = await owner(t, connection);
  assert.equal(await dumpSchema(client), await readFile(schemaFile, "utf8"));
});

test("a migration that was edited after it was applied is refused and nothing is changed", async (t) => {
  const { connection } = await testDatabase(t);
  const client = await owner(t, connection);
  const [first] = await readMigrations();
  await client.query("update schema_migrations set checksum = 'other' where file = $1", [
    first?.file,
  ]);
  await assert.rejects(migrate(connection), (error) => {
    assert.ok(error instanceof Unusable);
    assert.equal(error.message, `migration ${first?.file} was changed after it was applied`);
    return true;
  });
  assert.equal(await dumpSchema(client), await readFile(schemaFile, "utf8"));
});

test("a database that a newer version migrated is refused with the version that it takes", async (t) => {
  const { connection } = await testDatabase(t);
  const client = await owner(t, connection);
  const { version } = JSON.parse(await readFile(join(migrationsDir, "../package.json"), "utf8"));
  const refusal = async () =>
    await migrate(connection).then(
      () => "",
      (error: unknown) => (error instanceof Unusable ? error.message : String(error)),
    );
  await client.query(
    `insert into schema_migrations (file, checksum, version)
     values ('9998-of-tomorrow.sql', '', '8.1.0'), ('9999-after-it.sql', '', '9.0.0')`,
  );
  assert.equal(
    await refusal(),
    `a newer version migrated this database (9998-of-tomorrow.sql, 9999-after-it.sql): run 9.0.0 or later, not ${version}, or restore the backup from before it`,
  );
  for (const unnamed of [null, version]) {
    const update = "update schema_migrations set version = $1 where file > '9000'";
    await client.query(update, [unnamed]);
    assert.match(await refusal(), /: run a program that has these migrations, or restore/);
  }
});

test("an unapplied migration is listed as pending", async (t) => {
  const { db, connection } = await testDatabase(t);
  const client = await owner(t, connection);
  assert.deepEqual(await pendingMigrations(db, await listMigrationFiles()), []);
  const last = (await readMigrations()).at(-1)?.file;
  await client.query("delete from schema_migrations where file = $1", [last]);
  assert.deepEqual(await pendingMigrations(db, await listMigrationFiles()), [last]);
});

test("a failed migration is rolled back and named", async (t) => {
  const { db, connection } = await testDatabase(t);
  const client = await owner(t, connection);
  // Applying the first one a second time runs into its own tables.
  const first = (await readMigrations()).at(0)?.file;
  await client.query("delete from schema_migrations where file = $1", [first]);
  await assert.rejects(migrate(connection), (error) => {
    assert.ok(error instanceof Unusable);
    assert.match(error.message, new RegExp(`^migration ${first} failed: `));
    return true;
  });
  assert.deepEqual(await pendingMigrations(db, await listMigrationFiles()), [first]);
});

test("a check constraint with a separate length accepts the same texts as one pattern", async (t) => {
  const { connection } = await testDatabase(t);
  const client = await owner(t, connection);
  const checks = [
    ["credits", "scrip_no", "^[A-Z0-9][A-Z0-9/-]{5,24}$"],
    ["idempotency_keys", "idempotency_key", "^[!-~]{1,255}$"],
    ["deposits", "reference", "^[A-Z0-9]{12,22}$"],
    ["payouts", "utr", "^[A-Z0-9]{12,22}$"],
  ] as const;
  const character = fc.oneof(
    { arbitrary: fc.constantFrom("A", "Z", "0", "9"), weight: 40 },
    { arbitrary: fc.constantFrom("/", "-"), weight: 2 },
    {
      arbitrary: fc.constantFrom("a", "@", "[", "!", "~", " ", "\n", "\u007F", "À", "😀"),
      weight: 1,
    },
  );
  const lengthOf = fc.oneof(fc.nat(30), fc.integer({ min: 250, max: 260 }));
  const text = lengthOf.chain((length) =>
    fc.string({ unit: character, minLength: length, maxLength: length }),
  );
  for (const [table, column, pattern] of checks) {
    const { rows: found } = await client.query<{ check: string }>(
      "select pg_get_expr(conbin, conrelid) as check from pg_constraint where conname = $1",
      [`${table}_${column}_check`],
    );
    const { rows } = await client.query<{ text: string; accepted: boolean; expected: boolean }>(
      `select ${column} as text, ${found[0]?.check} as accepted, ${column} ~ $2 as expected
      from unnest($1::text[]) as r (${column})`,
      [fc.sample(text, 5_000), pattern],
    );
    const differing = rows.filter(({ accepted, expected }) => accepted !== expected);
    assert.deepEqual(differing, [], table);
    assert.equal(new Set(rows.map(({ accepted }) => accepted)).size, 2, `${table}: both answers`);
  }
});

test("the service's role can change neither the schema nor the record of migrations", async (t) => {
  const { db } = await testDatabase(t);
  const { rows } = await db.pool.query("select current_user as role");
  assert.deepEqual(rows, [{ role: "scripdesk_app" }]);
  const forbidden = [
    "create table mine (id int)",
    "create schema mine",
    "create role mine",
    "create function mine() returns int language sql as 'select 1'",
    "alter table api_keys add column note text",
    "alter table api_keys disable trigger all",
    "create index on api_keys (name)",
    "drop table usage_days",
    "truncate usage_days",
    "insert into schema_migrations (file, checksum) values ('9999-mine.sql', 'x')",
    "update schema_migrations set checksum = 'x'",
    "delete from schema_migrations",
    "grant all on api_keys to public",
    "copy plans to program 'true'",
  ];
  for (const statement of forbidden) {
    const code = await db.pool.query(statement).then(
      () => "allowed",
      (error: unknown) => (error instanceof pg.DatabaseError ? error.code : error),
    );
    // 42501 is what PostgreSQL calls an insufficient privilege; a grant without one only warns.
    const expected = statement.startsWith("grant") ? ["42501", "allowed"] : ["42501"];
    assert.ok(expected.includes(String(code)), `${statement}: ${String(code)}`);
  }
  const grants = await db.pool.query(
    "select 1 from information_schema.role_table_grants where grantee = 'PUBLIC' and table_schema = 'public'",
  );
  assert.equal(grants.rowCount, 0);
  await db.pool.query("select file from schema_migrations");
});

test("older audit records are migrated into one chain with the chained ones", async (t) => {
  const { connection } = await testDatabase(t, { template: "template0" });
  const client = await owner(t, connection);
  const migrations = await readMigrations();
  const at = migrations.findIndex(({ file }) => file === "0034-audit-in-one.sql");
  for (const { text } of migrations.slice(0, at)) await client.query(text);

  const desk = "frm_0000000000000000000000000a";
  const records = Array.from({ length: 4 }, (_, place): AuditRecord => ({
    environment: "sandbox",
    desk_id: desk,
    record_id: `aud_${String(place).padStart(26, "0")}`,
    at_text: "2026-11-15T14:45:00.000123+05:30",
    actor_kind: "operator",
    actor_id: ['"quoted"', "back\\slash", "two\nlines\u0001", "आशा \u2028"][place] ?? "",
    request_id: place === 0 ? null : `req-${place}`,
    action: "test.change",
    entity_type: "thing",
    entity_id: `thing-${place}`,
    entity_version: 1,
    before_hash: null,
    after_hash: place === 2 ? null : "4f".repeat(32),
  }));
  const other = {
    ...records[3],
    desk_id: "frm_0000000000000000000000000b",
    record_id: `aud_${"9".repeat(26)}`,
  };
  for (const { at_text, ...columns } of [...records, other]) {
    const named = { ...columns, at: at_text, recorded_in: "5" };
    const places = Object.keys(named).map((_, place) => `$${place + 1}`);
    await client.query(
      `insert into audit_records (${Object.keys(named).join(", ")}) values (${places.join(", ")})`,
      Object.values(named),
    );
  }
  let head = startOfChain;
  for (const record of records.slice(0, 2)) {
    const { environment, desk_id } = record;
    const text = writeRecord(record);
    head = linkAfter(head, { environment, desk_id, form: formerForm, text, event_hash: null });
    await client.query(
      `insert into audit_chain (environment, desk_id, seq, recorded_in, record_id, form, hash, at, entity_id)
       values ('sandbox', $1, $2, '5', $3, 1, decode($4, 'hex'), $5, $6)`,
      [desk, head.seq, record.record_id, head.hash, record.at_text, record.entity_id],
    );
  }
  for (const { text } of migrations.slice(at)) await client.query(text);

  const db = openDatabase({ connection, onIdleError() {} });
  t.after(() => db.close());
  const { whole, desks, records: found } = await verifyChain({ db });
  assert.deepEqual([whole, desks, found], [true, 2, 5]);
});

test("the migration moves the facts of quotes into columns", async (t) => {
  const { connection } = await testDatabase(t, { template: "template0" });
  const client = await owner(t, connection);
  const migrations = await readMigrations();
  const at = migrations.findIndex(({ file }) => file.endsWith("-facts-in-columns.sql"));
  for (const { text } of migrations.slice(0, at)) await client.query(text);

  const sell = { side: "sell", face_paise: 900 };
  const bundle = { side: "buy", requirement_paise: 900, covered_paise: 900 };
  const offers = [
    [500, 20_454],
    [400, 20_480, 9_800, "ord_1"],
  ];
  const none = {
    credit_id: null,
    expires_on: null,
    face_min_paise: null,
    days_left_min: null,
    offers: null,
  };
  const quotes = [
    [
      { ...sell, scrip_no: "SCRIP00001" },
      { credit_id: "crd_1", expires_on: "2027-12-31" },
    ],
    [sell, { face_min_paise: 500, days_left_min: 365 }],
    [{ ...bundle, scrip_nos: ["SCRIP00002", "SCRIP00003"] }, { offers }],
    [{ ...sell, scrip_no: "SCRIP00004" }, {}],
    [{ ...bundle, scrip_nos: ["SCRIP00005"] }, {}],
  ] as const;
  for (const [place, [terms, facts]] of quotes.entries()) {
    const row = {
      quote_ref: `qte_${String(place).padStart(26, "0")}`,
      environment: "sandbox",
      desk_id: "desk",
      firm_id: "firm",
      key_id: "key",
      scheme: "RODTEP",
      price_bps: 9_500,
      all_in_paise: 855,
      card_version: 1,
      created_at: new Date(),
      valid_until: new Date(),
      ...terms,
      facts,
    };
    const places = Object.keys(row).map((_, column) => `$${column + 1}`);
    await client.query(
      `insert into quotes (${Object.keys(row).join(", ")}) values (${places.join(", ")})`,
      Object.values(row),
    );
  }
  for (const { text } of migrations.slice(at)) await client.query(text);

  const { rows } = await client.query<object>(
    `select credit_id, expires_on::text, face_min_paise::int, days_left_min, offers
     from quotes
     order by quote_ref`,
  );
  assert.deepEqual(
    rows,
    quotes.map(([, facts]) => ({ ...none, ...facts })),
  );
  await assert.rejects(
    client.query("update quotes set offers = '[]' where side = 'sell'"),
    /quotes_sell/,
  );
  await assert.rejects(
    client.query("update quotes set expires_on = null where credit_id is not null"),
    /quotes_sell/,
  );
  await assert.rejects(
    client.query(
      "update quotes set credit_id = 'crd_1', expires_on = '2027-12-31' where side = 'buy'",
    ),
    /quotes_buy/,
  );
});

test("the migration keeps what it divides by the month, up to the month of the last row", async (t) => {
  const { connection } = await testDatabase(t, { template: "template0" });
  const client = await owner(t, connection);
  const migrations = await readMigrations();
  const at = migrations.findIndex(({ file }) => file.endsWith("-kept-by-the-month.sql"));
  for (const { text } of migrations.slice(0, at)) await client.query(text);

  const now = new Date();
  const ahead = new Date(now.getTime() + 62 * dayMs); // Of a node whose clock is wrong.
  const end = nextIstMonthStart(ahead);
  await client.query("set session_replication_role = replica"); // Without the keys and queues they name.
  for (const time of [now, ahead]) {
    await client.query(
      `insert into quotes (quote_ref, environment, desk_id, firm_id, key_id, side, scheme, face_paise,
        price_bps, all_in_paise, card_version, created_at, valid_until)
      values ($1, 'sandbox', 'desk', 'firm', 'key', 'sell', 'RODTEP', 900, 9500, 855, 1, $2, $2)`,
      [newId("qte", time), time],
    );
    await client.query("insert into usage_days values ('key', $1, 'GET /v1/whoami', 1)", [
      istDay(time),
    ]);
    await client.query(
      `insert into deliveries
      values ($1, 'whk', 'sandbox', 'desk', $2, 'ping', 'dead', $3, 1, 1, 1, 404, 'refused', 1, $3, $3)`,
      [newId("dlv", time), time === now ? 1 : 2, time],
    );
    await client.query(
      "insert into delivery_attempts values ($1::timestamptz::text, 1, $1::timestamptz, 5, 'permanent', 404, null, '')",
      [time],
    );
  }
  for (const { text } of migrations.slice(at)) await client.query(text);

  const former = `to_${istMonth(end).replace("-", "_")}`;
  const countIn = async (table: string, part: string) => {
    const { rows } = await client.query(
      `select count(*)::int as n from ${table} where tableoid = $1::regclass`,
      [`${table}_${part}`],
    );
    return rows[0].n;
  };
  for (const { name: table, key, bound } of monthlyTables) {
    if (["delivered_blocks", "request_blocks"].includes(table)) continue; // They began divided.
    assert.equal(await countIn(table, former), 2, table);
    await client.query(`update ${table} set ${key} = $1 where ${key} >= $2`, [
      bound(end),
      bound(new Date(now.getTime() + dayMs * 32)),
    ]);
    assert.equal(await countIn(table, "rest"), 1, `${table}: the next month begins where it ends`);
  }
});

test("the migration gives each earlier UTR to the person or the bank line that brought it", async (t) => {
  const { connection } = await testDatabase(t, { template: "template0" });
  const client = await owner(t, connection);
  const migrations = await readMigrations();
  const at = migrations.findIndex(({ file }) => file.endsWith("-payments-count-once.sql"));
  for (const { text } of migrations.slice(0, at)) await client.query(text);

  const house = "frm_00000000000000000000000001";
  const statementId = `bst_${"0".repeat(26)}`;
  await client.query(
    `insert into bank_statements (statement_id, environment, sha256, format, line_count, first_day,
      last_day, state, received_by, received_at)
    values ($1, 'live', sha256('x'), 'generic', 3, '2026-11-15', '2026-11-15', 'received', 'asha', now())`,
    [statementId],
  );
  const key = (line: number) => String(line).repeat(64);
  const lineId = (line: number) => `bln_${String(line).padStart(26, "0")}`;
  const lines = [
    [1, "UTRASSIGNED1", "assigned"],
    [2, "UTRBYHAND001", "assigned"], // Its deposit has a reference that was made up.
    [3, "UTRQUEUED001", "queued"],
    [4, "UTRNOTYET001", "new"],
  ] as const;
  for (const [line, utr, state] of lines) {
    await client.query(
      `insert into bank_lines (line_id, environment, statement_id, ordinal, line_key, day, direction,
        paise, utr, details_sealed, plan, state, firm_id, decided_by, version)
      values ($1, 'live', $2, $3, $4, '2026-11-15', 'credit', 100, $5, '', '{}', $6, $7, 'asha', 1)`,
      [lineId(line), statementId, line, key(line), utr, state, house],
    );
  }
  const madeUp = `BL${key(2).slice(0, 18)}`;
  for (const reference of ["UTRASSIGNED1", "UTRBYHAND001", madeUp]) {
    await client.query(
      `insert into deposits (environment, reference, desk_id, firm_id, paise, at)
      values ('live', $1, $2, $2, 100, now())`,
      [reference, house],
    );
  }
  for (const { text } of migrations.slice(at)) await client.query(text);

  const { rows: explained } = await client.query(
    "select subject, line_id from bank_line_entries order by line_id",
  );
  assert.deepEqual(explained, [
    { subject: "UTRASSIGNED1", line_id: lineId(1) },
    { subject: madeUp, line_id: lineId(2) },
  ]);
  const { rows: references } = await client.query(
    "select reference, line_id from payment_references order by reference",
  );
  assert.deepEqual(references, [
    { reference: "UTRASSIGNED1", line_id: lineId(1) },
    { reference: "UTRBYHAND001", line_id: null },
    { reference: "UTRQUEUED001", line_id: lineId(3) },
  ]);
});
