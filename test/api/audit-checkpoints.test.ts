// The owner of the database against the audit trail: the last records of a desk are deleted and the
// head of its chain is set back. What is left is a whole chain; only what went out before can tell.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { verifyChain } from "../../src/journal/verify-chain.ts";
import { verifyCheckpoints } from "../../src/journal/verify-checkpoints.ts";
import { fetchExport, record } from "../support/audit.ts";
import { commandLine } from "../support/cli.ts";
import { asOwner } from "../support/database.ts";
import { startReceiver } from "../support/receivers.ts";
import { type Service, startService } from "../support/service.ts";

async function sinkFile(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "scripdesk-checkpoints-"));
  t.after(async () => await rm(folder, { recursive: true, force: true }));
  return join(folder, "checkpoints.ndjson");
}

/** In sets of ten records, which are blocks. */
async function write({ ctx }: Service, deskId: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += 10) {
    const size = Math.min(10, count - from);
    const things = Array.from({ length: size }, (_, at) => `thing-${from + at}`);
    await ctx.db.transaction(async (tx) => await record(tx, deskId, things, ctx.now()));
  }
}

/** What the owner does: the last blocks go, and the head stands where they began. */
async function cutOff({ ctx }: Service, deskId: string, count: number): Promise<number> {
  return await asOwner(ctx.db, async (owner) => {
    const { rows } = await owner.query<{ seq: string }>(
      `update audit_heads as h set seq = b.last_seq, hash = b.hash
       from journal_blocks as b
       where h.desk_id = $1 and b.desk_id = $1 and b.first_seq = (
         select max(first_seq)
         from journal_blocks
         where desk_id = $1 and last_seq <= h.seq - $2
       )
       returning h.seq`,
      [deskId, count],
    );
    const seq = Number(rows[0]?.seq);
    await owner.query("delete from journal_blocks where desk_id = $1 and first_seq > $2", [
      deskId,
      seq,
    ]);
    return seq;
  });
}

async function checkpointEvents({ send }: Service, key: string): Promise<{ data: Told }[]> {
  const { body } = await send("GET", "/v1/events?after_sequence=0", { key, expect: 200 });
  return body.events.filter(({ event }: { event: string }) => event === "audit.checkpoint");
}

type Told = { seq: number; hash: string; signature: string; checkpoint: string };

test("a checkpoint detects that the owner removed the last 100 records, and nothing else does", async (t) => {
  const file = await sinkFile(t);
  const service = await startService(t, { checkpoints: file });
  const { ctx, clock } = service;
  const desk = await service.issue();
  const other = await service.issue();
  await write(service, desk.firm_id, 150);
  clock.advance({ days: 1 });
  await service.work();
  const text = await readFile(file, "utf8");
  assert.equal((await verifyCheckpoints(ctx, text)).whole, true);

  const { seq: signed } = (await checkpointEvents(service, desk.api_key))[0]?.data ?? { seq: 0 };
  const left = await cutOff(service, desk.firm_id, 100);
  assert.ok(left < signed);
  const control = await verifyChain(ctx);
  assert.deepEqual([control.whole, control.first_break], [true, null]);
  const { whole, first_break: found } = await verifyCheckpoints(ctx, text);
  assert.equal(whole, false);
  assert.deepEqual([found?.desk_id, found?.seq], [desk.firm_id, left + 1]);
  assert.match(found?.problem ?? "", /are missing$/);

  // Others may grow over the cut: the hash tells.
  await write(service, desk.firm_id, 150);
  assert.equal((await verifyChain(ctx)).whole, true);
  const regrown = await verifyCheckpoints(ctx, text);
  assert.match(regrown.first_break?.problem ?? "", /are not those signed/);
  const ofOther = text.split("\n").filter((line) => line.includes(other.firm_id));
  assert.equal((await verifyCheckpoints(ctx, ofOther.join("\n"))).whole, true);
});

test("the command names the desk and the first missing record, and exits with 1", async (t) => {
  const file = await sinkFile(t);
  const service = await startService(t, { checkpoints: file });
  const { run } = await commandLine(t, service);
  const desk = await service.issue();
  await write(service, desk.firm_id, 20);
  service.clock.advance({ days: 1 });
  await service.work();
  const words = ["audit", "verify", "--json", "--checkpoint", file];
  assert.equal((await run(...words)).code, 0);
  const left = await cutOff(service, desk.firm_id, 10);
  assert.equal((await run("audit", "verify")).code, 0, "the control");
  const { code, stdout } = await run(...words);
  assert.equal(code, 1);
  const { first_break } = JSON.parse(stdout);
  assert.deepEqual([first_break.desk_id, first_break.seq], [desk.firm_id, left + 1]);
});

test("a desk gets one checkpoint a day, as an event and a line, and none for the checkpoint itself", async (t) => {
  const file = await sinkFile(t);
  const service = await startService(t, { checkpoints: file });
  const { clock } = service;
  const { api_key: key, firm_id: deskId } = await service.issue();
  await service.work();
  assert.deepEqual(await checkpointEvents(service, key), [], "the first day is not over");
  clock.advance({ days: 1 });
  await service.work();
  await service.work();
  const beside = await startService(t, { beside: service, checkpoints: file });
  await beside.work();
  const [event, ...more] = await checkpointEvents(service, key);
  assert.deepEqual(more, []);
  const { seq, hash, signature, checkpoint } = event?.data ?? assert.fail("told");
  const line = JSON.parse(checkpoint);
  assert.deepEqual([line.last_seq, line.head_hash, line.signature], [seq, hash, signature]);
  const lines = (await readFile(file, "utf8")).split("\n").filter((one) => one.includes(deskId));
  assert.deepEqual([...new Set(lines)], [checkpoint]);
  clock.advance({ days: 1 });
  await service.work();
  assert.equal((await checkpointEvents(service, key)).length, 1, "nothing else has happened");
  await write(service, deskId, 1);
  clock.advance({ days: 1 });
  await service.work();
  const later = await checkpointEvents(service, key);
  assert.deepEqual(
    later.map(({ data }) => data.seq),
    [seq, seq + 2],
  );
});

test("an export writes a checkpoint, and a saved export or event verifies as the file does", async (t) => {
  const file = await sinkFile(t);
  const service = await startService(t, { checkpoints: file });
  const { ctx } = service;
  const { api_key: key, firm_id: deskId } = await service.issue();
  await write(service, deskId, 30);
  const exported = await fetchExport(service, key);
  const events = await checkpointEvents(service, key);
  assert.equal(events.length, 1);
  await service.work();
  const saved = {
    file: await readFile(file, "utf8"),
    export: exported,
    event: JSON.stringify(events[0]),
    page: JSON.stringify({ events }, null, 2),
  };
  await cutOff(service, deskId, 20);
  for (const [what, text] of Object.entries(saved)) {
    const verdict = await verifyCheckpoints(ctx, text);
    assert.deepEqual([verdict.whole, verdict.checkpoints], [false, 1], what);
  }
});

test("a changed checkpoint, or one of another key, is rejected by name", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const lines = (await fetchExport(service, key)).trimEnd().split("\n");
  const line = lines.at(-1) ?? "";
  const changed = line.replace(/"at":"2026/, '"at":"2025');
  const stranger = await startService(t);
  const forged = (await fetchExport(stranger, (await stranger.issue()).api_key)).trimEnd();
  for (const text of [changed, forged.split("\n").at(-1) ?? ""]) {
    const { whole, first_break: found } = await verifyCheckpoints(service.ctx, text);
    assert.equal(whole, false);
    assert.match(found?.problem ?? "", /not signed by this service's key/);
  }
  assert.equal((await verifyCheckpoints(service.ctx, line)).whole, true);
});

test("an unreachable sink is retried, and gets every checkpoint when it is back", async (t) => {
  const receiver = await startReceiver(t);
  receiver.react((response) => response.writeHead(503).end());
  const service = await startService(t, { checkpoints: receiver.url });
  const { firm_id: deskId } = await service.issue();
  service.clock.advance({ days: 1 });
  const works = service.workers();
  const run = async (name: string) => await works.find((one) => one.name === name)?.work();
  await run("checkpoints");
  await assert.rejects(async () => await run("checkpoints-out"), /answered 503/);
  receiver.react((response) => response.writeHead(204).end());
  await run("checkpoints-out");
  await run("checkpoints-out");
  assert.equal(receiver.received.length, 2, "what was taken is not sent again");
  assert.match(receiver.received[1]?.body.toString() ?? "", new RegExp(deskId));
  const folder = await sinkFile(t);
  await writeFile(folder, receiver.received[1]?.body ?? "");
  assert.equal((await verifyCheckpoints(service.ctx, await readFile(folder, "utf8"))).whole, true);
});
