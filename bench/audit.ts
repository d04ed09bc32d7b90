// A desk with a million audit records: how fast the chain is exported over HTTP, and how much memory
// the service takes on for it. What an export costs must not depend on its length, so memory is
// compared between a tenth of the lines and all of them.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";

import type pg from "pg";

import { recordChanges } from "../src/journal/record-changes.ts";
import type { Actor, Change } from "../src/kernel/actor.ts";
import { openEmbedded } from "../src/platform/postgres/embedded.ts";
import { openDatabase } from "../src/platform/postgres/postgres.ts";
import { residentMiB, type RunningService, startService } from "./support.ts";

const records = Number(process.env["BENCH_AUDIT_RECORDS"] ?? 1_000_000);
const recordsPerSet = 2_000;
const verifier = join(import.meta.dirname, "../docs/verify-audit.mjs");

type Issued = { readonly api_key: string; readonly firm_id: string };

export async function audit(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const service = await startService(stack);
  const issue = ["keys", "issue", "--firm", "Audit Bench", "--env", "sandbox"];
  const { api_key: key, firm_id: deskId } = (await service.command(...issue)) as Issued;
  const server = await openEmbedded({ dataDir: service.dataDir, as: "visitor", create: true });
  stack.defer(() => server.leave());
  const chained = await seed(server.connection, deskId);
  const file = join(service.dataDir, "export.ndjson");
  const { perSecond, mebibytes, before, atTenth, peakAfter } = await exportTo(file, service, key);
  const verified = await verifySeconds(file);
  const verdict = await verifyDatabase(service);
  console.table([
    { what: `chained, ${recordsPerSet} a set`, figure: `${chained} records/s` },
    { what: `exported, ${records} lines`, figure: `${perSecond} lines/s, ${mebibytes} MiB` },
    { what: "memory before", figure: `${before} MiB` },
    { what: "memory at a tenth", figure: `${atTenth} MiB` },
    { what: "growth from a tenth to the end", figure: `${peakAfter - atTenth} MiB at most` },
    { what: "verified by docs/verify-audit.mjs", figure: `${verified} s` },
    { what: "verified in the database", figure: verdict },
  ]);
}

/** By the service's own use case; how many a second. */
async function seed(connection: pg.ClientConfig, deskId: string): Promise<number> {
  const db = openDatabase({ connection, onIdleError() {} });
  const startedAt = performance.now();
  for (let from = 0; from < records; from += recordsPerSet) {
    const changes = Array.from({ length: Math.min(recordsPerSet, records - from) }, (_, at) =>
      changeOf(deskId, from + at),
    );
    const now = new Date();
    await db.transaction((tx) => recordChanges(tx, worker, changes, now));
  }
  await db.close();
  return Math.round(records / ((performance.now() - startedAt) / 1_000));
}

const worker: Actor = { kind: "worker", id: "bench", requestId: null };

function changeOf(deskId: string, at: number): Change {
  return {
    environment: "sandbox",
    deskId,
    firmId: deskId,
    action: "order.place",
    entity: { type: "order", id: `ord_${String(at).padStart(26, "0")}`, version: 1, href: "/" },
    before: null,
    after: { face_paise: 25_000_000 + at, status: "matched" },
  };
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
