// The customs portal's report confirms transfers, shows which are pending and is the proof of who is late.
// What does not fit waits for a person, and nothing is concluded from it.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";

import { operator } from "../../src/kernel/actor.ts";
import { setOutage } from "../../src/outside/ask.ts";
import { buildXlsx } from "../support/build-xlsx.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { addPerson } from "../support/people.ts";
import { type Answer, type Service, startService } from "../support/service.ts";
import { buyerPaise, face, readBalance, readSettlement } from "../support/settlements.ts";
import { dealBetween, defaultPaise, type Made, openParties, say } from "../support/task-parties.ts";

type Body = Answer["body"];

/** Two parties of live, whose deals were told of the usual share, and an operator who reads reports. */
async function openWorld(t: TestContext) {
  const service = await startService(t);
  const parties = await openParties(service);
  const ops = await startOps(t, service);
  const admin = await addPerson(service, { name: "asha", role: "admin" });
  const person = await addPerson(service, { name: "meera", role: "settlement", by: [admin] });
  const call = async (method: "GET" | "POST", path: string, body?: object, expect = 200) => {
    const { token } = await person.signIn();
    const sent = { headers: asBearer(token), expect, ...(body && { body }) };
    return (await ops.send(method, path, sent)).body;
  };
  const findIec = async (firmId: string): Promise<string> => {
    const { rows } = await service.ctx.db.pool.query("select iec from firms where firm_id = $1", [
      firmId,
    ]);
    return rows[0].iec;
  };
  const iecs = {
    seller: await findIec(parties.seller.firmId),
    buyer: await findIec(parties.buyer.firmId),
  };
  const deal = async (): Promise<Made> => {
    const made = await dealBetween(service, parties);
    await service.ctx.db.pool.query("update settlements set default_bps = 50");
    return made;
  };
  const read = async (body: object, expect = 200): Promise<Body> =>
    await call("POST", "/ops/ledger-reports", body, expect);
  /** A report of rows: scrip, status, initiated, accepted. */
  const readRows = async (rows: readonly (readonly string[])[], asked: object = {}) =>
    await read({ csv: write(rows, iecs), as_of: service.ctx.now().toISOString(), ...asked });
  return { service, call, parties, iecs, deal, read, readRows };
}

const heading =
  "Scrip No,Scrip Amount,Transferor IEC,Transferee IEC,Status,Initiated On,Accepted On";

function write(
  rows: readonly (readonly string[])[],
  iecs: { seller: string; buyer: string },
): string {
  const lines = rows.map(
    ([scripNo, status, initiated = "", accepted = ""]) =>
      `${scripNo},250000.00,${iecs.seller},${iecs.buyer},${status},${initiated},${accepted}`,
  );
  return [heading, ...lines].join("\n");
}

async function countDues({ ctx }: Service, firmId: string): Promise<number> {
  const { rows } = await ctx.db.pool.query(
    "select -posted_paise as dues from ledger_balances where kind = 'firm_dues' and firm_id = $1",
    [firmId],
  );
  return Number(rows[0]?.dues ?? 0);
}

test("a report as the portal writes it confirms, shows what is pending, and queues the rest by row", async (t) => {
  const { service, call, parties, iecs, deal, read } = await openWorld(t);
  const [pending, done, wrong] = [await deal(), await deal(), await deal()];
  await say(service, parties.seller, done, { kind: "initiate" });
  service.clock.advance({ days: 2 });
  const text = await readFile("test/fixtures/icegate-transfers.csv", "utf8");
  const csv = text
    .replaceAll("{seller}", iecs.seller)
    .replaceAll("{buyer}", iecs.buyer)
    .replace("{pending}", pending.scripNo)
    .replace("{done}", done.scripNo)
    .replace("{wrong}", wrong.scripNo);
  const report = { csv, as_of: service.ctx.now().toISOString() };
  const shown = await read({ ...report, preview: true });
  assert.deepEqual([shown.outcome, shown.transferred, shown.pending], ["preview", 1, 1]);
  const before = await readSettlement(service, parties.buyer, done.settlementId);
  assert.equal(before.status, "transfer_initiated", "a preview does nothing");

  const said = await read(report);
  assert.equal(said.outcome, "done");
  assert.deepEqual(
    said.queued.map((row: Body) => [row.row, row.scrip_no, row.reason]),
    [
      [5, wrong.scripNo, "other_receiver"],
      [6, "OTHER0001", "no_deal"],
      [7, null, "unreadable"],
    ],
  );
  const settled = await readSettlement(service, parties.buyer, done.settlementId);
  assert.equal(settled.status, "settled");
  const begun = await readSettlement(service, parties.buyer, pending.settlementId);
  assert.deepEqual([begun.status, begun.waiting_on], ["transfer_initiated", "buyer"]);
  const kept = await readSettlement(service, parties.buyer, wrong.settlementId);
  assert.equal(kept.status, "funded", "a row that does not fit concludes nothing");

  assert.equal((await read(report)).report_id, said.report_id, "the same file is noted once");
  const { reports } = await call("GET", "/ops/ledger-reports");
  assert.deepEqual(
    reports.map((one: Body) => [one.report_id, one.transferred, one.queued.length]),
    [[said.report_id, 1, 3]],
  );
  await assertLedgerSound(service);
});

test("a workbook says the same as its text", async (t) => {
  const { service, parties, iecs, deal, read } = await openWorld(t);
  const made = await deal();
  const rows = [
    heading.split(","),
    [made.scripNo, "250000.00", iecs.seller, iecs.buyer, "Accepted", "16/11/2026", "16/11/2026"],
  ];
  const xlsx = Buffer.from(buildXlsx([{ rows }])).toString("base64");
  service.clock.advance({ days: 1 });
  const said = await read({ xlsx, as_of: service.ctx.now().toISOString() });
  assert.deepEqual([said.transferred, said.queued], [1, []]);
  const { status } = await readSettlement(service, parties.buyer, made.settlementId);
  assert.equal(status, "settled");
});

test("a receiver that was seen late pays, and one that a holder's claim alone makes late does not", async (t) => {
  const { service, parties, deal, readRows } = await openWorld(t);
  const made = await deal();
  await say(service, parties.seller, made, { kind: "initiate" });
  service.clock.advance({ days: 8 });
  await service.work();
  // It was initiated this morning only: the claim of a week ago was false.
  const late = await readRows([[made.scripNo, "Pending", "23/11/2026 09:00"]]);
  assert.deepEqual(late.moves[0].late, "sell");
  service.clock.advance({ days: 1 });
  await readRows([[made.scripNo, "Accepted", "23/11/2026 09:00", "24/11/2026"]]);
  await service.work();
  assert.equal((await readSettlement(service, parties.buyer, made.settlementId)).status, "settled");
  assert.equal(await countDues(service, parties.buyer.firmId), 0);

  const other = await deal();
  await readRows([[other.scripNo, "Pending", "24/11/2026"]]);
  service.clock.advance({ days: 7 });
  const seen = await readRows([[other.scripNo, "Pending", "24/11/2026"]]);
  assert.equal(seen.moves[0].late, "buy");
  await readRows([[other.scripNo, "Accepted", "24/11/2026", "01/12/2026"]]);
  await service.work();
  const { status, sides } = await readSettlement(service, parties.buyer, other.settlementId);
  assert.deepEqual([status, sides[0].default_owed_paise], ["settled", defaultPaise]);
  await assertLedgerSound(service);
});

test("a whole report that lacks what was due ends the deal, and its holder pays", async (t) => {
  const { service, parties, deal, readRows } = await openWorld(t);
  const [never, claimed] = [await deal(), await deal()];
  await say(service, parties.seller, claimed, { kind: "initiate" });
  service.clock.advance({ days: 2 });
  const early = await readRows([], { is_whole: true });
  assert.deepEqual([early.absent, early.missing], [0, 0], "nobody is late yet");
  service.clock.advance({ days: 1 });
  const partial = await readRows([]);
  assert.deepEqual(
    [partial.absent, partial.moves],
    [0, []],
    "a part of a report says nothing of the rest",
  );
  const said = await readRows([], { is_whole: true });
  assert.deepEqual([said.absent, said.missing], [1, 1]);
  await service.work();
  const ended = await readSettlement(service, parties.buyer, never.settlementId);
  assert.deepEqual([ended.status, ended.failed_step], ["failed", "initiate"]);
  assert.equal(await countDues(service, parties.seller.firmId), (face * 50) / 10_000);
  const asked = await readSettlement(service, parties.buyer, claimed.settlementId);
  assert.deepEqual([asked.status, asked.waiting_on], ["transfer_initiated", "seller"]);
  const { available_paise } = await readBalance(service, parties.buyer, "live");
  assert.equal(available_paise, buyerPaise);
  await assertLedgerSound(service);
});

test("what was made while customs was down, or waits in the queue, blames nobody", async (t) => {
  const { service, call, iecs, deal, read, readRows } = await openWorld(t);
  const made = await deal();
  const registry = { environment: "live", port: "registry" } as const;
  await setOutage(service.ctx, registry, "maintenance", operator);
  service.clock.advance({ days: 2 });
  const csv = write([], iecs);
  const as_of = service.ctx.now().toISOString();
  const refused = await read({ csv, as_of, is_whole: true }, 409);
  assert.equal(refused.detail.reason, "port_down");
  await setOutage(service.ctx, registry, undefined, operator);
  service.clock.advance({ days: 3 });
  const queued = await readRows([[made.scripNo, "Waiting for something", "16/11/2026"]], {
    is_whole: true,
  });
  assert.deepEqual([queued.absent, queued.queued[0].reason], [0, "unreadable"]);
  const future = new Date(service.ctx.now().getTime() + 60_000).toISOString();
  await read({ csv, as_of: future }, 422);
  await call("POST", "/ops/ledger-reports", { as_of }, 422);
});

test("a transfer that the portal shows after its refund is named, not settled by itself", async (t) => {
  const { service, deal, readRows } = await openWorld(t);
  const made = await deal();
  service.clock.advance({ days: 3 });
  await readRows([], { is_whole: true });
  service.clock.advance({ days: 1 });
  const said = await readRows([[made.scripNo, "Accepted", "19/11/2026", "19/11/2026"]]);
  assert.deepEqual(
    said.queued.map((row: Body) => row.reason),
    ["transferred_after_refund"],
  );
});

test("an outage moves the deadlines that were not over, and nobody is late for it", async (t) => {
  const { service, call, parties, deal, readRows } = await openWorld(t);
  const made = await deal();
  const dueAt = async () =>
    (await readSettlement(service, parties.seller, made.settlementId)).tasks[0].due_at;
  assert.equal(await dueAt(), "2026-11-17T17:30:00.000+05:30");
  service.clock.advance({ days: 2 });
  const port = { environment: "live", port: "registry" };
  await call("POST", "/ops/ports/outage", { ...port, note: "maintenance" });
  service.clock.advance({ days: 1, seconds: 14_400 });
  await service.work();
  await call("POST", "/ops/ports/outage", port);
  assert.equal(await dueAt(), "2026-11-19T17:30:00.000+05:30", "by the two days that it took");
  const said = await readRows([], { is_whole: true });
  assert.deepEqual([said.absent, said.moves], [0, []]);
  await say(service, parties.seller, made, { kind: "initiate" });
  service.clock.advance({ days: 10 });
  await readRows([[made.scripNo, "Accepted", "19/11/2026", "20/11/2026"]]);
  await service.work();
  assert.equal(await countDues(service, parties.seller.firmId), 0);
});

test("where a receiver finds nothing to accept stands first in the queue, whatever is due before", async (t) => {
  const { service, call, parties, deal } = await openWorld(t);
  const [first, missing, last] = [await deal(), await deal(), await deal()];
  await say(service, parties.seller, missing, { kind: "initiate" });
  service.clock.advance({ days: 1 });
  await say(service, parties.buyer, missing, { kind: "accept", word: "missing", body: {} });
  const ids: string[] = [];
  for (let cursor = ""; ;) {
    const path = `/ops/settlements/queue?environment=live&limit=1${cursor && `&cursor=${cursor}`}`;
    const page = await call("GET", path);
    ids.push(...page.settlements.map((row: Body) => row.settlement_id));
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  const others = [first.settlementId, last.settlementId].toSorted();
  assert.deepEqual(ids, [missing.settlementId, ...others]);
});
