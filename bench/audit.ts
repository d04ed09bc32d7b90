// A desk with a million audit records: how fast the chain is exported over HTTP, and how much memory
// the service takes on for it. What an export costs must not depend on its length, so memory is
// compared between a tenth of the lines and all of them.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";

import { openEmbedded } from "../src/platform/postgres/embedded.ts";
import { fillJournal, recordsPerSet } from "./journal-fill.ts";
import { chooseSize } from "./sizes.ts";
import { printRemark, residentMiB, type RunningService, startService } from "./support.ts";
import { openStack } from "../test/support/programme-stack.ts";

const records = chooseSize("BENCH_AUDIT_RECORDS", 1_000_000, 10_000);
const verifier = join(import.meta.dirname, "../docs/verify-audit.mjs");

type Issued = { readonly api_key: string; readonly firm_id: string };

export async function audit(): Promise<void> {
  await using stack = openStack();
  const service = await startService(stack);
  const issue = ["keys", "issue", "--firm", "Audit Bench", "--env", "sandbox"];
  const { api_key: key, firm_id: deskId } = (await service.command(...issue)) as Issued;
  const server = await openEmbedded({ dataDir: service.dataDir, as: "visitor", create: true });
  stack.defer(() => server.leave());
  const { perSecond: chained } = await fillJournal(server.connection, deskId, records);
  const file = join(service.dataDir, "export.ndjson");
  const { perSecond, mebibytes, before, atTenth, peakAfter } = await exportTo(file, service, key);
  const verified = await verifySeconds(file);
  const verdict = await verifyDatabase(service);
  printRemark(
    [
      `- written in sets of ${recordsPerSet}: ${chained} records/s`,
      `- exported: ${records} lines, ${perSecond} lines/s, ${mebibytes} MiB`,
      `- memory of the service: ${before} MiB before, ${atTenth} MiB at a tenth, at most ${peakAfter - atTenth} MiB more from there to the end`,
      `- verified by docs/verify-audit.mjs: ${verified} s; in the database: ${verdict}`,
    ].join("\n"),
  );
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
