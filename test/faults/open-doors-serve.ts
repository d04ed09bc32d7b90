// The service with the defects that let strangers and one desk slow the others, as far as they can be
// put back: the control of the doors.
//
//   keyless    every answer is hashed and compressed anew, and /readyz reads every migration
//   senders    nothing is shared, and slow is no failure
//   matching   the sandbox's clock, resets and tries of batches hold it while they work
//   threads    heavy work is on the event loop

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Server } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";

import type { Context } from "../../src/platform/context.ts";
import { onThisThread } from "../../src/platform/heavy/kinds.ts";
import { lockMatching } from "../../src/trading/order-store.ts";
import { openApiFile } from "../support/golden.ts";
import { serveWith } from "./serve-with.ts";

const everything = { underWay: 512, fresh: 384, open: 128 };
const migrations = join(import.meta.dirname, "../../migrations");
/** So long a rewrite of 40,000 credits takes. */
const rewriteMs = 2_000;

function breakServer(server: Server, ctx: Context): void {
  server.prependListener("request", ({ url = "" }) => {
    if (url === "/v1/openapi.json" || url.startsWith("/docs")) makeAnew();
    else if (url === "/readyz") readMigrations();
    else if (/^\/v1\/(sandbox\/(clock|reset)|orders:batch)/.test(url)) void holdMatching(ctx);
  });
}

function makeAnew(): void {
  const text = readFileSync(openApiFile);
  createHash("sha256").update(text).digest();
  gzipSync(text, { level: 1 });
}

function readMigrations(): void {
  for (const name of readdirSync(migrations)) {
    createHash("sha256")
      .update(readFileSync(join(migrations, name)))
      .digest();
  }
}

async function holdMatching({ db }: Context): Promise<void> {
  await db
    .for("sandbox")
    .transaction(async (tx) => {
      await tx.run(lockMatching("sandbox"));
      await sleep(rewriteMs);
    })
    .catch(() => {}); // Another one holds it.
}

await serveWith((ctx) => ({ ...ctx, heavy: onThisThread }), {
  breakServer,
  shares: { all: everything, sandbox: everything, desk: everything, slowMs: 2 ** 31 - 1 },
});
