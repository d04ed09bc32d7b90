// A desk with a million audit records: how fast the sequencer chains a backlog, how fast the chain is
// exported over HTTP, and how much memory the service takes on for it. What an export costs must not
// depend on its length, so memory is compared between a tenth of the lines and all of them.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { openEmbedded } from "../src/platform/embedded.ts";
import { residentMiB, type RunningService, startService } from "./support.ts";

const records = Number(process.env["BENCH_AUDIT_RECORDS"] ?? 1_000_000);
const recordsPerInsert = 100_000;
const verifier = join(import.meta.dirname, "../docs/verify-audit.mjs");

type Issued = { readonly api_key: string; readonly firm_id: string };

export async function audit(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const service = await startService(stack);
  const issue = ["keys", "issue", "--firm", "Audit Bench", "--env", "sandbox"];
  const { api_key: key, firm_id: deskId } = (await service.command(...issue)) as Issued;
  const server = await openEmbedded({ dataDir: service.dataDir, as: "visitor" });
  stack.defer(() => server.leave());
  const owner = new pg.Client(server.connection);
  await owner.connect();
  stack.defer(() => owner.end());

  await seed(owner, deskId);
  const chained = await chainingRate(owner);
  const file = join(service.dataDir, "export.ndjson");
  const { perSecond, mebibytes, before, atTenth, peakAfter } = await exportTo(file, service, key);
  const verified = await verifySeconds(file);
  const verdict = await verifyDatabase(service);
  console.table([
    { what: "chained from a backlog", figure: `${chained} records/s` },
    { what: `exported, ${records} lines`, figure: `${perSecond} lines/s, ${mebibytes} MiB` },
    { what: "memory before", figure: `${before} MiB` },
    { what: "memory at a tenth", figure: `${atTenth} MiB` },
    { what: "growth from a tenth to the end", figure: `${peakAfter - atTenth} MiB at most` },
    { what: "verified by docs/verify-audit.mjs", figure: `${verified} s` },
    { what: "verified in the database", figure: verdict },
  ]);
}

async function seed(owner: pg.Client, deskId: string): Promise<void> {
  for (let from = 0; from < records; from += recordsPerInsert) {
    await owner.query(
      `insert into audit_records (
         record_id, environment, desk_id, at, actor_kind, actor_id, request_id, action, entity_type,
         entity_id, entity_version, before_hash, after_hash
       )
       select 'aud_' || lpad(n::text, 26, '0'), 'sandbox', $1, now(), 'key',
         'key_01jd2m7q4x8r5v6w9y0abcdefg', 'req_' || lpad(n::text, 26, '0'), 'order.place', 'order',
         'ord_' || lpad(n::text, 26, '0'), 1, encode(sha256(n::text::bytea), 'hex'),
         encode(sha256((n + 1)::text::bytea), 'hex')
       from generate_series($2::int, $3::int) as n`,
      [deskId, from + 1, Math.min(from + recordsPerInsert, records)],
    );
  }
}

/** How fast the service's own worker gets through what is there. */
async function chainingRate(owner: pg.Client): Promise<number> {
  const links = async () =>
    Number((await owner.query("select count(*) as links from audit_chain")).rows[0]?.links ?? 0);
  const [from, startedAt] = [await links(), performance.now()];
  let now = from;
  while (now < records) {
    await sleep(500);
    now = await links();
  }
  return Math.round((now - from) / ((performance.now() - startedAt) / 1_000));
}

async function exportTo(file: string, service: RunningService, key: string) {
  const out = createWriteStream(file);
  const before = await residentMiB(service);
  const startedAt = performance.now();
  const response = await fetch(`http://127.0.0.1:${service.port}/v1/audit/export`, {
    headers: { "x-service-key": key },
  });
  if (!response.ok || !response.body) throw new Error(`export answered ${response.status}`);
  let [lines, bytes, atTenth, peakAfter, looked] = [0, 0, 0, 0, 0];
  for await (const chunk of response.body) {
    bytes += chunk.length;
    for (const byte of chunk) lines += Number(byte === 10);
    if (!out.write(chunk)) await once(out, "drain");
    if (lines - looked < records / 100) continue;
    looked = lines;
    const memory = await residentMiB(service);
    if (lines < records / 10) continue;
    atTenth ||= memory;
    peakAfter = Math.max(peakAfter, memory);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  out.end();
  await once(out, "close");
  if (lines <= records) throw new Error(`only ${lines} lines came`);
  return {
    perSecond: Math.round(lines / seconds),
    mebibytes: Math.round(bytes / 1_048_576),
    before: Math.round(before),
    atTenth: Math.round(atTenth),
    peakAfter: Math.round(peakAfter),
  };
}

async function verifySeconds(file: string): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [verifier, file], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(child, "exit")) as [number];
  if (code !== 0) throw new Error("the export is not whole");
  return Math.round((performance.now() - startedAt) / 1_000);
}

async function verifyDatabase(service: RunningService): Promise<string> {
  const startedAt = performance.now();
  const { whole } = (await service.command("audit", "verify")) as { whole: boolean };
  return `${Math.round((performance.now() - startedAt) / 1_000)} s: ${whole ? "whole" : "NOT WHOLE"}`;
}
