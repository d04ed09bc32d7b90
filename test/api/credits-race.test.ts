import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";
import pg from "pg";

import { testDatabase } from "../support/database.ts";
import { clientFirm } from "../support/firms.ts";
import { type Send, startService } from "../support/service.ts";
import { askJournal } from "../support/journal.ts";

const parallel = 1_000;
const declaration = {
  scrip_no: "CONTESTED-1",
  scheme: "RODTEP",
  face_paise: 5_000_000,
  issued_on: "2026-10-01",
  expires_on: "2028-09-30",
};

test("a thousand concurrent declarations of one number by two desks on two nodes make one owner", async (t) => {
  const service = await startService(t);
  const beside = await startService(t, { beside: service });
  const desks = [await service.issue(), await service.issue()];
  const nodes = [service.send, beside.send];
  const statuses = new Map<number, number>();
  await Promise.all(
    Array.from({ length: parallel }, async (_, n) => {
      const { api_key: key, firm_id: firmId } = desks[n % 2]!;
      const send: Send = nodes[(n >> 1) % 2]!;
      const { body } = await send("POST", `/v1/firms/${firmId}/credits`, {
        key,
        body: { credits: [declaration] },
        expect: 200,
      });
      const [{ status }] = body.results;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }),
  );
  assert.equal(statuses.get(201), 1);
  assert.equal(statuses.get(200), parallel / 2 - 1);
  assert.equal(statuses.get(409), parallel / 2);
  assert.deepEqual(new Set(statuses.keys()), new Set([200, 201, 409]));
  const { rows } = await service.ctx.db.pool.query<{ owners: number; rows: number }>(
    "select count(distinct desk_id) as owners, count(*) as rows from credits",
  );
  assert.deepEqual(rows[0], { owners: 1, rows: 1 });
  const { rows: told } = await askJournal(
    service.ctx.db.pool,
    "select event from events where entity_type = 'credit'",
  );
  assert.deepEqual(told, [{ event: "credit.listed" }]);
});

test("control: select then insert without the unique index makes several owners", async (t) => {
  const { connection } = await testDatabase(t);
  const pool = new pg.Pool({ ...connection, max: 16 });
  pool.on("error", () => {}); // A connection may outlive the pool until its database is dropped.
  await pool.query("create table naive (like credits including defaults)");
  const columns = (
    await pool.query<{ list: string }>(
      "select string_agg('alter column ' || attname || ' drop not null', ', ') as list from pg_attribute where attrelid = 'naive'::regclass and attnum > 0",
    )
  ).rows[0]?.list;
  await pool.query(`alter table naive ${columns}`);
  await Promise.all(
    Array.from({ length: parallel }, async (_, n) => {
      const desk = n % 2 === 0 ? "first" : "second";
      const held = await pool.query("select from naive where scrip_no = $1", ["CONTESTED-1"]);
      if (held.rowCount === 0) {
        await pool.query("insert into naive (desk_id, scrip_no) values ($1, $2)", [
          desk,
          "CONTESTED-1",
        ]);
      }
    }),
  );
  const { rows } = await pool.query<{ owners: string }>(
    "select count(distinct desk_id) as owners from naive",
  );
  await pool.end();
  assert.ok(Number(rows[0]?.owners) > 1);
});

test("overlapping batches in random order neither deadlock nor fail", async (t) => {
  const service = await startService(t);
  const desks = [await service.issue(), await service.issue()];
  const numbers = Array.from({ length: 60 }, (_, n) => `STORM-${String(n).padStart(3, "0")}`);
  const orders = fc.sample(fc.shuffledSubarray(numbers, { minLength: 60 }), {
    numRuns: 40,
    seed: 7,
  });
  const answers = await Promise.all(
    orders.map(async (order, n) => {
      const { api_key: key, firm_id: firmId } = desks[n % 2]!;
      const credits = order.map((scripNo) => ({ ...declaration, scrip_no: scripNo }));
      const { body } = await service.send("POST", `/v1/firms/${firmId}/credits`, {
        key,
        body: { credits },
        expect: 200,
      });
      return body.results.map(({ status }: { status: number }) => status);
    }),
  );
  const created = answers.flat().filter((status: number) => status === 201);
  assert.equal(created.length, numbers.length);
});

test("every row of any file is answered, and stored whole or not at all", async (t) => {
  const service = await startService(t);
  const { api_key: key, firm_id: deskId } = await service.issue();
  const { firmId } = await clientFirm(service, deskId);
  const heading = "scrip_no,scheme,amount,balance,port,issued_on,expires_on";
  const cell = fc.oneof(
    fc.constantFrom(
      "FUZZ-001",
      "FUZZ-002",
      "RODTEP",
      "RoSCTL",
      "1,000.00",
      '"12,34,567.89"',
      "INNSA1",
      "01/10/2026",
      "30-SEP-2028",
      "2028-09-30",
      "1.2E+10",
      "Total",
      '"',
      "=cmd()",
      "",
    ),
    fc.string({ unit: "grapheme", maxLength: 12 }),
  );
  const row = fc.array(cell, { maxLength: 9 }).map((cells) => cells.join(","));
  const likely = fc
    .tuple(
      fc.constantFrom("FUZZ-003", "FUZZ-004", "fuzz-003 ", "FUZZ 5"),
      fc.constantFrom("RODTEP", "ROSCTL", "MEIS"),
      fc.constantFrom("100", "1,000", "0", "-1", "99999999999999999"),
      fc.constantFrom("100", "", "100.001"),
      fc.constantFrom("INNSA1", "", "??"),
      fc.constantFrom("2026-10-01", "01/10/2026", "31/02/2026"),
      fc.constantFrom("30/09/2028", "2020-01-01", ""),
    )
    .map((cells) => cells.map((text) => `"${text}"`).join(","));
  const file = fc
    .array(fc.oneof(row, likely), { maxLength: 12 })
    .map((rows) => [heading, ...rows].join("\n"));
  await fc.assert(
    fc.asyncProperty(fc.oneof(file, fc.string({ unit: "grapheme", minLength: 1 })), async (csv) => {
      const path = `/v1/firms/${firmId}/credits:import`;
      const answer = await service.send("POST", path, { key, body: { csv } });
      assert.ok([200, 400, 422].includes(answer.status), answer.text);
      if (answer.status !== 200) return;
      const { results, accepted, failed } = answer.body;
      assert.equal(accepted + failed, results.length);
      for (const { ok, status, credit, error } of results) {
        assert.equal(ok, credit !== undefined);
        assert.equal(ok, error === null);
        assert.ok([200, 201, 400, 409, 422].includes(status));
      }
    }),
    { numRuns: 150 },
  );
  const { body } = await service.send("GET", `/v1/firms/${firmId}/credits`, { key, expect: 200 });
  for (const credit of body.credits) assert.ok(credit.face_paise <= credit.issued_paise);
});
