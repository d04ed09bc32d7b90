import { randomUUID } from "node:crypto";
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import fc from "fast-check";

import { buildSigningKey, publicKeyHex, writeCheckpoint } from "../../src/journal/audit-rules.ts";
import { verifyChain } from "../../src/journal/verify-chain.ts";
import { verifyExport } from "../../src/journal/verify-export.ts";
import { type Database, openDatabase, type Tx } from "../../src/platform/postgres/postgres.ts";
import {
  assertChainWhole,
  fetchExport,
  record,
  standAloneVerifier,
  verifierFile,
} from "../support/audit.ts";
import { commandLine } from "../support/cli.ts";
import { testServer } from "../support/database.ts";
import { checkDoors } from "../support/doors.ts";
import { addFirm } from "../support/holdings.ts";
import { mintChild } from "../support/keys.ts";
import { dealer } from "../support/orders.ts";
import { readSlug, type Service, startService } from "../support/service.ts";
import { wireValue } from "../../src/platform/postgres/wire-value.ts";
import { askJournal, editJournal } from "../support/journal.ts";

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

async function findProblem(bytes: Buffer, key?: string): Promise<string | undefined> {
  return (await verifyExport(once(bytes), key)).first_break?.problem;
}

/** The headers of an export's blocks, and its checkpoint. */
function parseHeaders(text: string): Record<string, unknown>[] {
  return parseLines(text).filter((line) => "prev_hash" in line);
}

function parseLines(text: string): Record<string, unknown>[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** A desk whose trail is its own opening, its key and then a group for each of these names. */
async function deskWith(service: Service, names: readonly string[]) {
  const issued = await service.issue();
  const { api_key: key } = issued;
  for (const name of names) {
    await service.send("POST", "/v1/groups", {
      key,
      body: { name },
      headers: { "x-request-id": `making-${name}` },
      expect: 201,
    });
  }
  const list = async (query = "", expect = 200) =>
    (await service.send("GET", `/v1/audit${query}`, { key, expect })).body;
  return { ...issued, key, list };
}

test("reading the trail", async (t) => {
  const service = await startService(t);

  await t.test("every audit route checks key, scope, rate and body", async (t) => {
    await checkDoors(t, service, [
      { method: "GET", path: "/v1/audit", scope: "orders:read" },
      { method: "GET", path: "/v1/audit/export", scope: "orders:read" },
    ]);
  });

  await t.test(
    "every change is in the trail at once, newest first, with its actor and request",
    async () => {
      const desk = await deskWith(service, ["North", "South"]);
      const { audit } = await desk.list();
      assert.deepEqual(
        audit.map((entry: Record<string, unknown>) => [
          entry["seq"],
          entry["action"],
          entry["actor_kind"],
        ]),
        [
          [4, "group.created", "key"],
          [3, "group.created", "key"],
          [2, "key.issue", "operator"],
          [1, "firm.open_desk", "operator"],
        ],
      );
      const [south] = audit;
      assert.equal(south.actor_id, desk.key_id);
      assert.equal(south.request_id, "making-South");
      assert.equal(south.before_hash, null);
      assert.match(south.after_hash, /^[0-9a-f]{64}$/);
      assert.equal(south.at, "2026-11-15T14:45:00.000+05:30");
      const exported = parseLines(await fetchExport(service, desk.key));
      const header = exported.find((line) => line["last_seq"] === 4 && line["count"] === 1);
      assert.equal(header?.["hash"], south.hash);
      assert.deepEqual(south.block, { first_seq: 4, last_seq: 4 });
      assert.deepEqual([audit[3].block, audit[2].hash], [audit[2].block, audit[3].hash]);
      const [told, untold] = [audit[2], south];
      assert.match(told.event_hash, /^[0-9a-f]{64}$/);
      assert.deepEqual([told.after_hash, untold.event_hash], [null, null]);
    },
  );

  await t.test("the trail is filtered and paged", async () => {
    const desk = await deskWith(service, ["A", "B", "C"]);
    const { audit } = await desk.list();
    const [newest] = audit;
    const found = async (query: string) =>
      (await desk.list(query)).audit.map((entry: { seq: number }) => entry.seq);
    assert.deepEqual(await found("?entity_type=group"), [5, 4, 3]);
    assert.deepEqual(await found(`?entity_id=${newest.entity_id}`), [5]);
    assert.deepEqual(await found(`?actor=${desk.key_id}`), [5, 4, 3]);
    assert.deepEqual(await found("?actor=cli&action=key.issue"), [2]);
    assert.deepEqual(await found("?from=2026-11-15T14:45:00%2B05:30"), [5, 4, 3, 2, 1]);
    assert.deepEqual(await found("?to=2026-11-15T14:45:00%2B05:30"), []);
    const first = await desk.list("?entity_type=group&limit=2");
    assert.deepEqual([first.count, first.total, first.has_more], [2, 3, true]);
    const second = await desk.list(`?entity_type=group&limit=2&cursor=${first.next_cursor}`);
    assert.deepEqual([second.count, second.total, second.has_more], [1, 3, false]);
    assert.equal((await desk.list("?limit=1")).total, 5);
    assert.equal((await desk.list("?from=yesterday", 422)).error, "validation_error");
    assert.equal((await desk.list(`?cursor=${first.next_cursor}`, 400)).code, "bad_request");
  });

  await t.test("a desk reads its own trail, and a sub_account key reads none", async () => {
    const [mine, theirs] = [await deskWith(service, ["Mine"]), await deskWith(service, ["Theirs"])];
    const firmId = await addFirm(service, { deskId: mine.firm_id });
    const bound = { kind: "sub_account", firm_id: firmId };
    const { api_key: sub } = await mintChild(service, mine.key, bound);
    for (const path of ["/v1/audit", "/v1/audit/export"]) {
      const { text } = await service.send("GET", path, { key: mine.key, expect: 200 });
      assert.ok(text.includes("making-Mine") && !text.includes("making-Theirs"));
      const refused = await service.send("GET", path, { key: sub, expect: 403 });
      assert.equal(refused.body.detail.reason, "sub_account_key");
    }
    assert.ok((await fetchExport(service, theirs.key)).includes("making-Theirs"));
  });

  await t.test("a desk's trail does not name the counterparty of its deal", async () => {
    const seller = await dealer(service);
    const buyer = await service.issue();
    const sell = { side: "sell", scrip_no: seller.scripNo, limit_bps: 9_800 };
    await seller.post("/v1/orders", sell, 201);
    const request = { "x-request-id": "the-buyers-own-request" };
    await service.send("POST", "/v1/orders", {
      key: buyer.api_key,
      body: { side: "buy", scheme: "RODTEP", requirement_paise: 25_000_000, limit_bps: 9_840 },
      headers: request,
      expect: 201,
    });
    const seen = [await fetchExport(service, seller.key)];
    seen.push((await service.send("GET", "/v1/events", { key: seller.key, expect: 200 })).text);
    assert.ok(
      seen[0]?.includes('"actor_kind":"counterparty"'),
      "the deal changed the seller's order",
    );
    for (const text of seen) {
      assert.ok(!text.includes("the-buyers-own-request"));
      assert.ok(!text.includes(buyer.key_id));
    }
    // The buyer's own trail has both, so that the operator finds who it was.
    const own = await fetchExport(service, buyer.api_key);
    assert.ok(own.includes("the-buyers-own-request") && own.includes(buyer.key_id));
  });
});

test("exports", async (t) => {
  const service = await startService(t);
  const verifier = await standAloneVerifier();
  const desk = await deskWith(service, ["A"]);
  await service.ctx.db.transaction(
    async (tx) => await record(tx, desk.firm_id, [`quoted " \\ and ✓ é`], service.clock.now()),
  );
  const text = await fetchExport(service, desk.key);
  const whole = Buffer.from(text);
  const key = publicKeyHex(service.ctx.auditKey);

  await t.test("both verifiers accept an export, which names its key", async () => {
    const verdict = await verifyExport(once(whole), key);
    assert.deepEqual([verdict.whole, verdict.records, verdict.public_key], [true, 4, key]);
    assert.equal(await verifier(whole, key), undefined);
    const published = await service.send("GET", "/v1/audit/keys", { key: desk.key, expect: 200 });
    assert.deepEqual(published.body, { keys: [{ algorithm: "Ed25519", public_key: key }] });
    const lines = parseLines(text);
    const { signature: _signature, ...checkpoint } = lines.at(-1) ?? {};
    assert.deepEqual(checkpoint, {
      v: 1,
      checkpoint: true,
      environment: "sandbox",
      desk_id: desk.firm_id,
      count: 4,
      first_seq: 1,
      last_seq: 4,
      prev_hash: "0".repeat(64),
      head_hash: parseHeaders(text).at(-2)?.["hash"],
      pending: 0,
      at: "2026-11-15T14:45:00.000+05:30",
      public_key: key,
    });
  });

  async function assertFound(bytes: Buffer, what: string): Promise<void> {
    assert.ok(await findProblem(bytes), `the command line misses ${what}`);
    assert.ok(await verifier(bytes), `the stand-alone verifier misses ${what}`);
  }

  await t.test("verification finds every edited byte", async () => {
    for (let at = 0; at < whole.length; at++) {
      for (const flip of [0x01, 0x20]) {
        const edited = Buffer.from(whole);
        edited[at] = (edited[at] ?? 0) ^ flip;
        await assertFound(edited, `byte ${at} with ${flip} flipped`);
      }
    }
  });

  await t.test("verification finds every truncation", async () => {
    for (let end = 0; end < whole.length; end++) {
      await assertFound(whole.subarray(0, end), `the end at ${end}`);
    }
  });

  await t.test("verification finds every deleted, swapped or duplicated line", async () => {
    const lines = text.split(/(?<=\n)/);
    for (const [at, line] of lines.entries()) {
      const without = lines.toSpliced(at, 1);
      await assertFound(Buffer.from(without.join("")), `line ${at} deleted`);
      for (let to = 0; to <= lines.length; to++) {
        const doubled = lines.toSpliced(to, 0, line).join("");
        await assertFound(Buffer.from(doubled), `line ${at} doubled at ${to}`);
        const moved = without.toSpliced(to, 0, line).join("");
        if (moved !== text) await assertFound(Buffer.from(moved), `line ${at} moved to ${to}`);
      }
    }
  });

  await t.test("verification finds any other edit", async () => {
    const at = fc.nat({ max: whole.length });
    const edit = fc.record({
      at,
      removed: fc.nat({ max: 700 }),
      added: fc.uint8Array({ maxLength: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(edit, async ({ at, removed, added }) => {
        const edited = Buffer.concat([whole.subarray(0, at), added, whole.subarray(at + removed)]);
        fc.pre(!edited.equals(whole));
        await assertFound(edited, "an edit");
      }),
      { numRuns: 300 },
    );
  });

  await t.test("a rebuilt chain is detected by its signing key only", async () => {
    const lines = text.split(/(?<=\n)/);
    const told = parseLines(text).at(-1) as Parameters<typeof writeCheckpoint>[0];
    const forged = writeCheckpoint(told, buildSigningKey(randomBytes(32)));
    const bytes = Buffer.from([...lines.slice(0, -1), forged].join(""));
    // Control: who does not know the key can be told anything.
    assert.equal(await findProblem(bytes), undefined);
    assert.equal(await verifier(bytes), undefined);
    assert.match((await findProblem(bytes, key)) ?? "", /another key/);
    assert.match((await verifier(bytes, key)) ?? "", /another key/);
  });

  await t.test("the next export continues where the last one ended", async () => {
    const [last, checkpoint] = parseHeaders(text).slice(-2);
    assert.equal(last?.["hash"], checkpoint?.["head_hash"]);
    // That the chain was signed is a record too, and is not signed again for its own sake.
    const [told, record] = parseLines(await fetchExport(service, desk.key, "?after_seq=4"));
    assert.deepEqual(
      [told?.["prev_hash"], record?.["action"]],
      [last?.["hash"], "audit.checkpoint"],
    );
    const empty = parseLines(await fetchExport(service, desk.key, "?after_seq=5"));
    assert.equal(empty.length, 1);
    assert.equal(empty[0]?.["prev_hash"], told?.["hash"]);
    await service.send("POST", "/v1/groups", { key: desk.key, body: { name: "B" }, expect: 201 });
    const next = await fetchExport(service, desk.key, "?after_seq=5");
    const [first, signed] = parseHeaders(next);
    assert.equal(first?.["prev_hash"], told?.["hash"]);
    assert.deepEqual([signed?.["count"], signed?.["first_seq"], signed?.["last_seq"]], [1, 6, 6]);
    assert.equal(await findProblem(Buffer.from(next), key), undefined);
    assert.equal(await verifier(Buffer.from(next), key), undefined);
    const past = await service.send("GET", "/v1/audit/export?after_seq=8", {
      key: desk.key,
      expect: 422,
    });
    assert.equal(readSlug(past), "unprocessable");
    const spliced =
      text
        .split(/(?<=\n)/)
        .slice(0, -1)
        .join("") + next;
    assert.ok(await findProblem(Buffer.from(spliced)), "two exports are not one");
  });

  await t.test("an export from inside a block begins with that block, and says so", async () => {
    const things = Array.from({ length: 600 }, (_, at) => `thing-${at}`);
    const busy = await service.issue();
    const { ctx, clock } = service;
    await ctx.db.transaction((tx) => record(tx, busy.firm_id, things, clock.now()));
    const all = parseHeaders(await fetchExport(service, busy.api_key));
    const starts = all.slice(0, -1).map((header) => Number(header["first_seq"]));
    assert.deepEqual(starts, [1, 3, 259, 515]);
    for (const [after, start] of [
      [1, 1],
      [2, 3],
      [3, 3],
      [257, 3],
      [258, 259],
      [400, 259],
      [602, 603],
    ]) {
      const part = await fetchExport(service, busy.api_key, `?after_seq=${after}`);
      const [header, checkpoint] = [parseHeaders(part)[0], parseHeaders(part).at(-1)];
      assert.deepEqual([header?.["first_seq"], checkpoint?.["first_seq"]], [start, start]);
      assert.equal(await findProblem(Buffer.from(part), key), undefined, `after ${after}`);
      assert.equal(await verifier(Buffer.from(part), key), undefined, `after ${after}`);
    }
  });

  await t.test("a HEAD request sends no lines", async () => {
    const { headers, text: none } = await service.send("HEAD", "/v1/audit/export", {
      key: desk.key,
      expect: 200,
    });
    assert.equal(headers.get("content-type"), "application/x-ndjson");
    assert.equal(none, "");
  });

  await t.test(
    "a key has two exports in progress; others wait, and a full queue answers 500",
    async () => {
      const busy = await service.issue();
      const now = service.clock.now();
      const many = Array.from({ length: 1_000 }, (_, at) => `thing-${at}`);
      for (let sets = 0; sets < 25; sets++) {
        await service.ctx.db.transaction((tx) => record(tx, busy.firm_id, many, now));
      }
      await assertChainWhole(service.ctx);
      const url = `${service.url}/v1/audit/export`;
      const headers = { "x-service-key": busy.api_key };
      const open = async (signal = new AbortController().signal) =>
        await fetch(url, { headers, signal });
      const [first, second] = [await open(), await open()];
      // Eight may wait; of nine, whichever comes last is refused.
      const nine = Array.from({ length: 9 }, () => {
        const leaving = new AbortController();
        return { leaving, answer: open(leaving.signal) };
      });
      const refused = await Promise.race(
        nine.map(async (one) => ({ one, response: await one.answer })),
      );
      assert.equal(refused.response.status, 500);
      assert.equal(refused.response.headers.get("retry-after"), null);
      assert.equal(((await refused.response.json()) as { error: string }).error, "internal");
      // Whoever leaves gives up its place; the one that stays gets its turn.
      const [staying, ...others] = nine.filter((one) => one !== refused.one);
      for (const { leaving } of others) leaving.abort();
      await Promise.allSettled(others.map(({ answer }) => answer));
      const counted = parseLines(await first.text()).at(-1)?.["count"];
      assert.equal(counted, 25_002);
      const last = await staying?.answer;
      // The exports before it have left their checkpoints.
      assert.ok(Number(parseLines((await last?.text()) ?? "").at(-1)?.["count"]) >= 25_002);
      await second.body?.cancel();
      await service.send("HEAD", "/v1/audit/export", { key: busy.api_key, expect: 200 });
      // A key that is revoked meanwhile gets no checkpoint.
      const third = await open();
      const path = `/v1/keys/${busy.key_id}`;
      await service.send("DELETE", path, { key: busy.api_key, expect: 200 });
      await sleep(600);
      await assert.rejects(third.text());
    },
  );

  await t.test(
    "the published verifier has fewer than 80 lines and imports Node alone",
    async () => {
      const source = await readFile(verifierFile, "utf8");
      assert.ok(source.trimEnd().split("\n").length < 80);
      const imported = [...source.matchAll(/from "([^"]+)"/g)].map(([, name]) => name);
      assert.deepEqual(imported, ["node:crypto", "node:fs"]);
    },
  );

  await t.test("both verifiers run as the guide shows", async (t) => {
    const { run, dataDir } = await commandLine(t, service);
    const file = join(dataDir, "export.ndjson");
    await writeFile(file, whole);
    const alone = async (...words: string[]) =>
      await promisify(execFile)(process.execPath, [verifierFile, ...words]);
    assert.match((await alone(file, key)).stdout, /^whole: 4 records of frm_/);
    assert.equal((await run("audit", "verify", file, "--key", key)).code, 0);
    await writeFile(file, whole.subarray(1));
    await assert.rejects(alone(file), /line 1: was changed/);
    const broken = await run("audit", "verify", file, "--json");
    assert.equal(broken.code, 1);
    assert.equal(JSON.parse(broken.stdout).first_break.line, 1);
    assert.equal((await run("audit", "verify", "/nowhere")).code, 2);
    assert.equal((await run("audit", "verify", "--key", key)).code, 2);
    const shown = JSON.parse((await run("audit", "key", "--json")).stdout);
    assert.match(shown[0].public_key, /^[0-9a-f]{64}$/);
    const words = ["--env", "sandbox", "--desk", desk.firm_id];
    const exported = await run("audit", "export", ...words);
    assert.equal(await findProblem(Buffer.from(exported.stdout), shown[0].public_key), undefined);
  });
});

test("the trail names the operator of every command", async (t) => {
  const service = await startService(t);
  const { run } = await commandLine(t, service);
  const named = ["--operator", "asha", "--json"];
  const actors = async (action: string) => {
    const { rows } = await askJournal<{ actor_id: string }>(
      service.ctx.db.pool,
      "select actor_id from audit_records where action = $1 and actor_kind = 'operator'",
      [action],
    );
    return rows.map((row) => row.actor_id);
  };
  const issue = await run("keys", "issue", "--firm", "Named", "--env", "sandbox", ...named);
  const { key_id: keyId, firm_id: firmId } = JSON.parse(issue.stdout);
  const sandbox = ["--env", "sandbox"];
  for (const words of [
    ["keys", "revoke", keyId],
    ["plans", "set", "--name", "named", "--per-minute", "5", "--monthly", "10"],
    ["firms", "suspend", firmId, "--reason", "a test"],
    ["firms", "resume", firmId],
    ["market", "halt", ...sandbox, "--scheme", "RODTEP"],
    ["rates", "publish", ...sandbox, "--scheme", "RODTEP", "--note", "x"],
    ["registry", "outage", ...sandbox, "--port", "bank", "--on", "a test"],
    ["registry", "outage", ...sandbox, "--port", "bank", "--off"],
  ]) {
    const { code, stderr } = await run(...words, ...named);
    assert.equal(code, 0, `${words.join(" ")}: ${stderr}`);
  }
  for (const action of [
    "firm.open_desk",
    "key.issue",
    "key.revoke",
    "plan.set",
    "firm.suspend",
    "firm.resume",
    "rate_card.halt",
    "rate_card.publish",
    "port.outage",
    "port.up",
  ]) {
    assert.deepEqual([action, await actors(action)], [action, ["asha"]]);
  }
  assert.equal((await run("plans", "set", "--operator", "not a name")).code, 2);
  await assertChainWhole(service.ctx);
});

test("tampering in the database", async (t) => {
  const service = await startService(t);
  const desk = await deskWith(service, ["A", "B", "C"]);
  await assertChainWhole(service.ctx);
  const { database } = service.ctx.db.pool.options;
  const owner = openDatabase({ connection: { ...testServer(), database }, onIdleError() {} });
  t.after(() => owner.close());

  const name = (text: string) => text.replaceAll("DESK", `'${desk.firm_id}'`);
  const askIn =
    (tx: Tx) =>
    async (text: string, values: unknown[] = []): Promise<object[]> =>
      await tx.rows({ name: randomUUID(), text, values: values.map(wireValue) });
  const edit = async (tx: Tx, ...statements: readonly string[]) =>
    await editJournal(askIn(tx), statements.map(name));
  const recordAt = (seq: number) => `desk_id = DESK and seq = ${seq}`;

  /** What is found of these statements; they are not kept. */
  async function verifyAfterStatements(...statements: readonly string[]) {
    return await verifyAfter((tx) => edit(tx, ...statements));
  }

  async function verifyAfter(work: (tx: Tx) => Promise<unknown>) {
    return await owner.transaction(
      async (tx) => {
        await work(tx);
        const within: Pick<Database, "transaction"> = {
          transaction: async (work) => await work(tx),
        };
        return await verifyChain({ db: within as Database });
      },
      { rollBack: true },
    );
  }

  const columns =
    "environment, desk_id, at, actor_kind, actor_id, request_id, action, entity_type, entity_id, entity_version, before_hash, after_hash, record_id, form, hash, body, sequence";
  const edits: Readonly<Record<string, string>> = {
    actor_kind: "'worker'",
    actor_id: "'somebody'",
    request_id: "'another'",
    action: "'other'",
    entity_type: "'other'",
    entity_id: "'other'",
    entity_version: "9",
    after_hash: "null",
    at: "at + interval '1 microsecond'",
    record_id: "overlay(record_id placing 'zzzz' from 20)",
    desk_id: "'frm_other'",
    environment: "'live'",
    hash: "sha256(hash)",
    body: `'{"sequence":9,"told":"otherwise"}'`,
  };
  for (const [column, value] of Object.entries(edits)) {
    await t.test(`an edited ${column} is found with its place`, async () => {
      const { first_break: found } = await verifyAfterStatements(
        `update audit_records set ${column} = ${value} where ${recordAt(3)}`,
      );
      // One that is in live all of a sudden is the first there, and what is before it is missed.
      const seq = column === "environment" ? 1 : 3;
      assert.deepEqual([found?.desk_id, found?.seq], [desk.firm_id, seq]);
    });
  }

  const elsewhere: Readonly<Record<string, { statements: string[]; seq: number }>> = {
    "a deleted record": { statements: [`delete from audit_records where ${recordAt(3)}`], seq: 3 },
    "a deleted last record": {
      statements: [`delete from audit_records where ${recordAt(5)}`],
      seq: 5,
    },
    "a record put in at the end": {
      statements: [
        `insert into audit_records (seq, ${columns})
         select seq + 1, ${columns} from audit_records where ${recordAt(5)}`,
      ],
      seq: 6,
    },
    "two records with their contents swapped": {
      statements: [
        `update audit_records as a set entity_id = b.entity_id, after_hash = b.after_hash
         from audit_records as b
         where a.desk_id = DESK and b.desk_id = DESK and (a.seq, b.seq) in ((3, 4), (4, 3))`,
      ],
      seq: 3,
    },
    "a deleted first record with the others moved up": {
      statements: [
        `delete from audit_records where ${recordAt(1)}`,
        "update audit_records set seq = seq + 100 where desk_id = DESK",
        "update audit_records set seq = seq - 101 where desk_id = DESK",
      ],
      seq: 1,
    },
    "two places swapped": {
      statements: [
        `update audit_records set seq = 99 where ${recordAt(3)}`,
        `update audit_records set seq = 3 where ${recordAt(4)}`,
        `update audit_records set seq = 4 where ${recordAt(99)}`,
      ],
      seq: 3,
    },
    "a deleted end": { statements: ["delete from audit_heads where desk_id = DESK"], seq: 1 },
    "an end that was put back": {
      statements: ["update audit_heads set seq = 4 where desk_id = DESK"],
      seq: 5,
    },
    "an end with another hash": {
      statements: ["update audit_heads set hash = sha256(hash) where desk_id = DESK"],
      seq: 6,
    },
    "a whole desk that was deleted but for its end": {
      statements: ["delete from audit_records where desk_id = DESK"],
      seq: 1,
    },
  };
  for (const [what, { statements, seq }] of Object.entries(elsewhere)) {
    await t.test(`${what} is found with its place`, async () => {
      const { whole, first_break: found } = await verifyAfterStatements(...statements);
      assert.equal(whole, false);
      assert.deepEqual([found?.desk_id, found?.seq], [desk.firm_id, seq]);
    });
  }

  const blockEdits: Readonly<Record<string, string>> = {
    at: "at = at + interval '1 microsecond'",
    packed: "packed = sha256(packed)",
    "packed that is another's":
      "packed = (select packed from journal_blocks where first_seq = 1 and desk_id = DESK)",
    hash: "hash = sha256(hash)",
    "last number": "last_seq = last_seq + 100",
    entities: "entities = '{7}'",
    summary: `summary = '[["other","other","other",1]]'`,
  };
  for (const [what, value] of Object.entries(blockEdits)) {
    await t.test(`a block with edited ${what} is found`, async () => {
      const { first_break: found } = await verifyAfter(
        async (tx) =>
          await askIn(tx)(
            name(`update journal_blocks set ${value} where desk_id = DESK and first_seq > 1`),
          ),
      );
      assert.deepEqual([found?.desk_id, found?.seq], [desk.firm_id, 3]);
    });
  }

  await t.test("events that were numbered otherwise are found", async () => {
    const { first_break: found } = await verifyAfter(
      async (tx) =>
        await askIn(tx)(
          name(`update journal_blocks
            set first_sequence = first_sequence + 9, last_sequence = last_sequence + 9
            where desk_id = DESK and first_sequence is not null`),
        ),
    );
    assert.deepEqual([found?.desk_id, found?.seq], [desk.firm_id, 1]);
  });

  await t.test("an untouched trail verifies", async () => {
    const verdict = await verifyAfterStatements("update audit_records set action = action");
    assert.deepEqual([verdict.whole, verdict.records], [true, 5]);
  });

  await t.test(
    "the service's role can neither change nor delete audit records and chain heads",
    async () => {
      for (const text of [
        "update journal_blocks set at = now()",
        "delete from journal_blocks",
        "delete from audit_heads",
        "delete from journal_form",
      ]) {
        await assert.rejects(service.ctx.db.pool.query(text), /permission denied/);
      }
    },
  );

  await t.test(
    "an export of a changed trail is sent unchanged and fails verification",
    async () => {
      await owner.transaction(async (tx) => {
        await edit(tx, `update audit_records set action = 'other' where ${recordAt(3)}`);
      });
      const { first_break: found } = await verifyExport(
        once(Buffer.from(await fetchExport(service, desk.key))),
      );
      assert.equal(found?.line, 4, "the header of its block");
    },
  );

  await t.test("the operator's check reports the tampering", async (t) => {
    const { run: commands } = await commandLine(t, service);
    const { code, stdout } = await commands("audit", "verify", "--json");
    assert.equal(code, 1);
    assert.equal(JSON.parse(stdout).first_break.seq, 3);
  });
});
