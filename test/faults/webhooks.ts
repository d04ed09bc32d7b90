// Deliveries while everything that can be killed is killed, again and again.
//
//   workload     desks declare credits through the API; each one that is listed is an event
//   service      two processes, each of them API and worker, on one durable PostgreSQL
//   fault maker  `kill -9` of one of the two or of PostgreSQL, in turn, at moments that nobody chose
//   receivers    keep every id and the digest of every body; some of their answers are refusals
//
// In the end every event must have reached every subscription of its desk, with the id that follows
// from both and the bytes of the log.

import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { buffer } from "node:stream/consumers";

import pg from "pg";
import { pino } from "pino";

import { buildSigningKey } from "../../src/journal/audit-rules.ts";
import { type IssuedKey, issueKey } from "../../src/access/issue-keys.ts";
import { onThisThread } from "../../src/platform/heavy/kinds.ts";
import { openEmbedded } from "../../src/platform/postgres/embedded.ts";
import { migrate } from "../../src/platform/postgres/migrate.ts";
import { openDatabase } from "../../src/platform/postgres/postgres.ts";
import { buildDeliveryId } from "../../src/webhooks/rules.ts";
import { databaseUrl } from "../support/database.ts";
import { dataDirectory, postgresPid, type Running, serve } from "../support/process.ts";
import type { Random } from "../support/random.ts";
import { readEvents } from "../support/journal.ts";

export type KillReport = {
  readonly expected: number;
  readonly lost: number;
  /** Arrived under an id or with bytes that are not those of the event. */
  readonly altered: number;
  readonly duplicates: number;
  readonly refusals: number;
  readonly kills: Readonly<Record<string, number>>;
  /** Claims that ended without a word: what a kill cut off. */
  readonly leasesLost: number;
};

export type KillOptions = {
  readonly count: number;
  readonly random: Random;
  readonly say: (line: string) => void;
  /** A control: what a receiver refuses is not tried again. */
  readonly isTriedOnce?: boolean;
  readonly killEveryMs?: number | undefined;
};

const desksCount = 5;
const receiversPerDesk = 10;
const refusedPerThousand = 10;
const killEveryDefaultMs = 2_000;
const killsMost = 20;
const waitMost = 900_000;
/** What is lost is not waited for longer than that. */
const controlWait = 20_000;
const declaredAtOnce = 250;

type Scope = { after(work: () => Promise<void>): void };
type Seen = { readonly digest: string; readonly receiver: number; taken: number };

export async function killDuringDeliveries(
  scope: Scope,
  { count, random, say, isTriedOnce = false, killEveryMs = killEveryDefaultMs }: KillOptions,
): Promise<KillReport> {
  const dataDir = await dataDirectory(scope);
  let server = await openEmbedded({ dataDir, as: "visitor", create: true });
  await migrate(server.connection);
  const settings = {
    DATABASE_URL: databaseUrl(server.connection),
    MASTER_KEY: randomBytes(32).toString("hex"),
    WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    WEBHOOK_SCHEDULE_S: isTriedOnce ? "0" : "0,1,1,1,2,2,5,5,5,5",
    LOG_LEVEL: "silent",
    DATA_DIR: dataDir,
  };
  const receivers = await startReceivers(scope, random);
  const desks = await openDesks(server.connection);
  const nodes: Running[] = [await serve(scope, settings), await serve(scope, settings)];
  const node = () => nodes[random.below(nodes.length)] as Running; // There are two.
  for (const [at, desk] of desks.entries()) {
    for (const url of receivers.urls.slice(at * receiversPerDesk, (at + 1) * receiversPerDesk)) {
      const body = { url, event: "credit.listed" };
      await node().send("POST", "/v1/webhooks", { key: desk.api_key, body, expect: 201 });
    }
  }

  const kills: Record<string, number> = { service: 0, postgres: 0 };
  const work = Promise.all(
    desks.map((desk) => declare(node, desk, Math.ceil(count / receivers.urls.length))),
  );
  const expected = Math.ceil(count / receivers.urls.length) * receivers.urls.length;
  const startedAt = performance.now();
  for (let turn = 0; receivers.taken() < expected; turn++) {
    if (performance.now() - startedAt > (isTriedOnce ? controlWait : waitMost)) break;
    await sleep(killEveryMs);
    say(`${receivers.taken()} of ${expected} taken, kills ${JSON.stringify(kills)}`);
    if (turn >= killsMost) continue;
    if (turn % 3 === 2) {
      const pid = await postgresPid(dataDir);
      if (pid !== undefined) process.kill(pid, "SIGKILL");
      kills["postgres"] = (kills["postgres"] ?? 0) + 1;
      await sleep(random.below(1_000));
      server = await openEmbedded({ dataDir, as: "visitor", create: true });
    } else {
      const at = turn % 2;
      nodes[at]?.signal("SIGKILL");
      await nodes[at]?.ended;
      kills["service"] = (kills["service"] ?? 0) + 1;
      nodes[at] = await serve(scope, settings);
    }
  }
  await work;
  await sleep(1_000);
  const report = await compare(server.connection, receivers.seen);
  for (const running of nodes) running.signal("SIGTERM");
  await Promise.all(nodes.map(({ ended }) => ended));
  await server.leave();
  return { ...report, refusals: receivers.refused(), kills };
}

async function startReceivers(scope: Scope, random: Random) {
  const seen = new Map<string, Seen>();
  let refused = 0;
  const servers = Array.from({ length: desksCount * receiversPerDesk }, (_, receiver) =>
    createServer((request, response) => {
      void buffer(request).then((body) => {
        if (random.below(1_000) < refusedPerThousand) {
          refused += 1;
          response.writeHead(503).end();
          return;
        }
        const id = String(request.headers["x-service-delivery"]);
        const digest = hashBody(body.toString());
        const known = seen.get(id);
        if (known && (known.digest !== digest || known.receiver !== receiver)) {
          seen.set(`${id} again`, { digest, receiver, taken: 1 });
        } else if (known) known.taken += 1;
        else seen.set(id, { digest, receiver, taken: 1 });
        response.end();
      });
    }),
  );
  const urls = await Promise.all(
    servers.map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      scope.after(async () => {
        server.closeAllConnections();
        server.close();
      });
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    }),
  );
  return { urls, seen, taken: () => seen.size, refused: () => refused };
}

async function openDesks(connection: pg.ClientConfig): Promise<IssuedKey[]> {
  const db = openDatabase({ connection, role: "scripdesk_app", onIdleError() {} });
  const ctx = {
    db,
    now: () => new Date(),
    log: pino({ level: "silent" }),
    cursorKey: randomBytes(32),
    sealKey: randomBytes(32),
    auditKey: buildSigningKey(randomBytes(32)),
    heavy: onThisThread,
  };
  const desks: IssuedKey[] = [];
  for (let desk = 0; desk < desksCount; desk++) {
    const firmName = `Desk ${desk}`;
    const command = { environment: "sandbox", scopes: ["*"], plan: "sandbox" } as const;
    desks.push(await issueKey(ctx, { firmName, ...command, buySide: false, name: "kill" }));
  }
  await db.close();
  return desks;
}

/** Declaring the same credit again is no mistake, so an unknown outcome is tried until it is known. */
async function declare(node: () => Running, desk: IssuedKey, credits: number): Promise<void> {
  const path = `/v1/firms/${desk.firm_id}/credits`;
  const prefix = desk.firm_id.slice(-8).toUpperCase();
  for (let from = 0; from < credits; from += declaredAtOnce) {
    const declared = Array.from({ length: Math.min(declaredAtOnce, credits - from) }, (_, at) => ({
      scrip_no: `${prefix}${String(from + at).padStart(6, "0")}X`,
      scheme: "RODTEP",
      face_paise: 1_000_000,
      issued_on: "2026-01-01",
      expires_on: "2098-12-31",
    }));
    for (let tries = 0; tries < 600; tries++) {
      const done = await node()
        .send("POST", path, { key: desk.api_key, body: { credits: declared } })
        .then(({ status, body }) => status === 200 && body.failed === 0)
        .catch(() => false);
      if (done) break;
      await sleep(500);
    }
    await sleep(1_000);
  }
}

async function compare(
  connection: pg.ClientConfig,
  seen: ReadonlyMap<string, Seen>,
): Promise<Omit<KillReport, "refusals" | "kills">> {
  const client = new pg.Client(connection);
  await client.connect();
  const told = await readEvents(async (text) => (await client.query(text)).rows);
  const events = told.filter(({ event }) => event === "credit.listed");
  const { rows: webhooks } = await client.query("select webhook_id, desk_id from webhooks");
  const { rows: leases } = await client.query(
    `select (
      (select coalesce(sum(lease - attempts), 0) from deliveries)
      + (select coalesce(sum(deliveries * (lease - 1)), 0) from delivered_blocks)
    )::int as lost`,
  );
  await client.end();
  let [expected, lost, altered, duplicates] = [0, 0, 0, 0];
  for (const event of events) {
    const digest = hashBody(event.body);
    for (const { webhook_id, desk_id } of webhooks) {
      if (desk_id !== event.desk_id) continue;
      expected += 1;
      const found = seen.get(buildDeliveryId(webhook_id, event));
      if (!found) lost += 1;
      else if (found.digest !== digest) altered += 1;
      duplicates += (found?.taken ?? 1) - 1;
    }
  }
  altered += seen.size - (expected - lost);
  return { expected, lost, altered, duplicates, leasesLost: leases[0].lost };
}

function hashBody(body: string): string {
  return createHash("sha256").update(body).digest("hex");
}
