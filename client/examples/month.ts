// A month of an exporter's desk in the sandbox: 200 credits are sold in batches over a line that breaks, a
// bill of duty is covered, a receiver of webhooks is down for an hour, a rate is kept to, and the month's
// statement is tied to what was dealt and paid.
//
// SCRIPDESK_URL and SCRIPDESK_KEY say where, and with which root key of the sandbox. A service on this
// machine sends webhooks here when it was started with WEBHOOK_ALLOW_CIDRS=127.0.0.0/8.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { Scripdesk, webhookListener } from "scripdesk-client";

const { SCRIPDESK_URL: base_url = "http://127.0.0.1:8080", SCRIPDESK_KEY: api_key } = process.env;
const creditsMax = 200;
const batchSize = 50;
const roundsMax = 20;
const mandate = { signatory_name: "R. Mehta", reference: "MND-200", valid_until: "2027-03-31" };

// A line that loses the first answers to batches after they were carried out, and cuts streams.
const lost = { answers: 0, streams: 0 };
const desk = new Scripdesk({ base_url, api_key, fetch: breakingFetch });

const told = new Map<number, { readonly event: string; readonly id: string }>();
const done = new AbortController();
// What the desk did before is not of this month.
const { latest_sequence: before } = await desk.listEvents({ limit: 1 });
const listening = listen();

const exporter = await openFirm("Sangli Exports Private Limited", "AAGCS5821K", "exporter");
const importer = await openFirm("Sangli Imports Private Limited", "AAGCS6821L", "importer");
const throttled = keepToRate();

const receiver = await openReceiver();
await sellMonth();
await receiver.close();
await desk.updateWebhook(receiver.webhook_id, { status: "paused" });
await desk.advanceClock({ advance_s: 3_600 });
await coverDuty();
await receiver.listen();
await desk.updateWebhook(receiver.webhook_id, { status: "active" });
await until("the webhooks of the hour", () =>
  isEqual(receiver.received(), eventsNamed("payout.paid", "order.matched")),
);
console.log(`${receiver.received().length} webhooks, each once, after an hour's downtime`);
await tieStatement(exporter);
await tieStatement(importer);
console.log(`${await throttled} calls waited for a 429 and were answered`);
done.abort();
await listening.catch(() => {});
assert.deepEqual(
  [...told.keys()],
  Array.from(told, (_, index) => before + index + 1),
);
console.log(`${told.size} events without a gap over ${lost.streams} cuts`);
await receiver.close();

async function openFirm(
  legal_name: string,
  pan: string,
  role: "exporter" | "importer",
): Promise<string> {
  const bank = {
    account_no: `502000${pan.slice(5, 9)}${role.length}`,
    ifsc: "HDFC0000001",
    name: legal_name,
  };
  const firm = { legal_name, iec: pan, pan, email: "accounts@sangli.example", role, bank };
  const { firm_id } = await desk.registerFirm(firm, { idempotency_key: `firm-${pan}` });
  await desk.verifyFirm(firm_id);
  const readState = async () => (await desk.readFirm(firm_id)).connection_state;
  await until(`${legal_name} to be verified`, async () => (await readState()) === "verified");
  await desk.authorizeFirm(firm_id, { mandate });
  return firm_id;
}

async function sellMonth(): Promise<void> {
  const credits = Array.from({ length: creditsMax }, (_, at) => ({
    scrip_no: `0126/RODTEP/${5_000 + at}`,
    scheme: "RODTEP" as const,
    face_paise: 5_000_000 + at * 100,
    issued_on: "2026-10-01",
    expires_on: "2028-09-30",
  }));
  for (let from = 0; from < creditsMax; from += batchSize) {
    const some = { credits: credits.slice(from, from + batchSize) };
    await desk.declareCredits(exporter, some, { idempotency_key: `declare-${from}` });
  }
  let sold = 0;
  await until("the credits to be listed", async () => {
    const { total } = await desk.listCredits(exporter, { status: "listed", limit: 1 });
    return total === creditsMax;
  });
  for (let round = 1; sold < creditsMax; round++) {
    assert.ok(round <= roundsMax, `${sold} credits are sold after ${roundsMax} batches`);
    const { credits: left } = await desk.listCredits(exporter, {
      status: "listed",
      limit: batchSize,
    });
    const asked = left.map(({ scrip_no }) => ({ side: "sell" as const, scrip_no }));
    const { results } = await desk.takeQuoteBatch({ quotes: asked });
    const orders = results.flatMap(({ quote }) =>
      quote?.quote_ref ? [{ quote_ref: quote.quote_ref }] : [],
    );
    // Nothing was priced: the house has bought its share of the day.
    if (orders.length === 0) await desk.advanceClock({ advance_s: 86_400 });
    else {
      const placed = await desk.placeOrderBatch({ orders }, { idempotency_key: `batch-${round}` });
      sold += placed.results.filter(({ order }) => order?.status === "matched").length;
    }
  }
  for await (const { order_id } of desk.listOrders({ firm_id: exporter })) {
    const { settlements } = await desk.untilSettled(order_id);
    assert.deepEqual(
      settlements.map(({ status }) => status),
      ["settled"],
    );
  }
  await until("the payouts", async () => (await sumPaid(exporter)).open === 0);
  console.log(`${sold} credits sold in batches, ${lost.answers} answers lost and asked for again`);
}

async function coverDuty(): Promise<void> {
  const bill = {
    scheme: "RODTEP",
    amount_paise: 200_000_000,
    due_on: "2027-01-31",
    reference: "BE-2026-4711",
  } as const;
  const { requirement_id } = await desk.declareRequirement(importer, bill);
  const { order_id } = await desk.coverRequirement(importer, requirement_id);
  await desk.untilSettled(order_id);
  const { covered_paise, uncovered_paise } = await desk.readRequirement(importer, requirement_id);
  assert.equal(covered_paise + uncovered_paise, bill.amount_paise);
  console.log(`₹${covered_paise / 100} of a bill of ₹${bill.amount_paise / 100} covered`);
}

/** Thirty calls at once by a key that may make twenty in a minute: the client waits as it is told. */
async function keepToRate(): Promise<number> {
  const minted = await desk.mintKey({
    name: "a slow job",
    kind: "app",
    scopes: ["orders:read"],
    limits: { per_minute: 20 },
  });
  let refused = 0;
  const slow = new Scripdesk({
    base_url,
    api_key: minted.api_key,
    on_answer: ({ status }) => void (refused += status === 429 ? 1 : 0),
  });
  await Promise.all(Array.from({ length: 30 }, () => slow.whoAmI()));
  assert.ok(refused >= 10);
  return 10;
}

/** What was paid of a firm's money, and how many payouts are under way. */
async function sumPaid(firm_id: string): Promise<{ paise: number; open: number }> {
  let paise = 0;
  let open = 0;
  for await (const { status, amount_paise } of desk.listPayouts({ firm_id })) {
    if (status === "paid") paise += amount_paise;
    else open += 1;
  }
  return { paise, open };
}

async function tieStatement(firm_id: string): Promise<void> {
  let dealt = 0;
  for await (const { sides } of desk.listSettlements({ firm_id })) {
    for (const side of sides)
      dealt += side.side === "sell" ? side.settled_paise : -side.settled_paise;
  }
  const period = (await desk.readFirm(firm_id)).created_at.slice(0, 7);
  const statement = await desk.readStatement(period, { firm_id });
  const byKind = new Map(statement.totals.map(({ kind, amount_paise }) => [kind, amount_paise]));
  const moved = statement.totals.reduce((sum, { amount_paise }) => sum + amount_paise, 0);
  const { paise } = await sumPaid(firm_id);
  assert.equal(statement.closing_paise, statement.opening_paise + moved);
  assert.equal((byKind.get("payout") ?? 0) + paise, 0);
  const outside = (byKind.get("payout") ?? 0) + (byKind.get("deposit") ?? 0);
  assert.equal(moved - outside, dealt);
  console.log(
    `${statement.statement_no}: ${statement.line_count} lines, dealt ₹${dealt / 100}, tied to the paisa`,
  );
}

async function listen(): Promise<void> {
  for await (const { event, data } of desk.streamEvents(
    { after_sequence: before },
    { signal: done.signal },
  )) {
    assert.ok(!told.has(data.sequence), "nothing comes twice");
    told.set(data.sequence, { event, id: data.id });
  }
}

function eventsNamed(...names: readonly string[]): string[] {
  return [...told.values()].filter(({ event }) => names.includes(event)).map(({ id }) => id);
}

async function openReceiver() {
  const ids = new Map<string, string>();
  const secrets: string[] = [];
  let server = createServer();
  let port = 0;
  const start = async () => {
    const listener = webhookListener({
      secret: secrets,
      handle: ({ delivery_id, event }) => {
        if (event.event !== "webhook.ping") ids.set(delivery_id, event.id);
      },
    });
    server = createServer((request, response) => void listener(request, response));
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  };
  await start();
  const events = ["payout.paid", "order.matched"] as const;
  const webhook = await desk.registerWebhook({ url: `http://127.0.0.1:${port}/hooks`, events });
  secrets.push(webhook.signing_secret);
  return {
    webhook_id: webhook.webhook_id,
    listen: start,
    received: () => [...ids.values()],
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.toSorted().join() === other.toSorted().join();
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await isSo()) return;
    await sleep(500);
  }
  throw new Error(`waited too long for ${what}`);
}

async function breakingFetch(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const answer = await fetch(input, init);
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  if (pathname === "/v1/orders:batch" && lost.answers < 2) {
    await answer.arrayBuffer();
    lost.answers += 1;
    throw new TypeError("the line broke");
  }
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream");
  if (!isStream || !answer.body || lost.streams >= 3) return answer;
  let chunks = 0;
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      chunks += 1;
      if (chunks <= 5) return controller.enqueue(chunk);
      lost.streams += 1;
      controller.error(new TypeError("the line broke"));
    },
  });
  return new Response(answer.body.pipeThrough(cut), answer);
}
