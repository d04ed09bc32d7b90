// The two that are compared, in one kind of process: the delivery engine on its database, and a bare
// loop of POSTs with undici. It reports when it is loaded, so that its processor time can be taken from
// there.

import { randomBytes } from "node:crypto";

import type pg from "pg";
import { pino } from "pino";
import { Agent, request } from "undici";

import { buildSigningKey } from "../src/journal/audit-rules.ts";
import { createFanOut, deliveriesTopic } from "../src/webhooks/fan-out.ts";
import { createSender } from "../src/webhooks/send-deliveries.ts";
import { onThisThread } from "../src/platform/heavy/kinds.ts";
import { openOutbound } from "../src/platform/outbound.ts";
import { openDatabase } from "../src/platform/postgres/postgres.ts";
import { startWorker } from "../src/platform/worker.ts";

export type SenderOrder =
  | {
      readonly kind: "engine";
      readonly connection: pg.ClientConfig;
      readonly sealKey: string;
    }
  | {
      readonly kind: "bare";
      readonly urls: readonly string[];
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      readonly count: number;
      readonly atOnce: number;
    };

function runEngine({ connection, sealKey }: Extract<SenderOrder, { kind: "engine" }>): void {
  const db = openDatabase({ connection, role: "scripdesk_app", onIdleError() {} });
  const ctx = {
    db,
    now: () => new Date(),
    log: pino({ level: "warn" }),
    cursorKey: randomBytes(32),
    sealKey: Buffer.from(sealKey, "hex"),
    auditKey: buildSigningKey(randomBytes(32)),
    heavy: onThisThread,
  };
  const outbound = openOutbound({ allowCidrs: ["127.0.0.0/8"] });
  const scheduleS = [0, 5, 300];
  const sender = createSender(ctx, { outbound, scheduleS });
  startWorker({
    name: "fan-out",
    pauseMs: 20,
    work: createFanOut(ctx, { scheduleS }),
    log: ctx.log,
  });
  const sending = startWorker({ name: "send", pauseMs: 20, work: sender.work, log: ctx.log });
  db.onAnnounced(deliveriesTopic, sending.wake);
}

async function runBare(order: Extract<SenderOrder, { kind: "bare" }>): Promise<void> {
  const { urls, headers, body, count, atOnce } = order;
  const dispatcher = new Agent({ pipelining: 1 });
  let next = 0;
  const loop = async () => {
    while (next < count) {
      const url = urls[next++ % urls.length] ?? "";
      const answer = await request(url, { dispatcher, method: "POST", headers, body });
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
  await dispatcher.close();
}

process.on("message", (order: SenderOrder) => {
  if (order.kind === "engine") runEngine(order);
  else void runBare(order);
});

process.send?.("loaded");
