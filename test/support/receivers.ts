// Receivers of webhooks on loopback: whatever they are told to do, they keep what they were sent.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

import { listEventsAfter } from "../../src/journal/find-events.ts";
import { type Answer, type Service } from "./service.ts";

export type Received = {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
};

export type Reaction = (response: ServerResponse, received: Received) => void;

export type Receiver = {
  readonly url: string;
  readonly received: Received[];
  /** How it answers from now on; 200 until it is told otherwise. */
  react(reaction: Reaction): void;
};

type Scope = { after(work: () => Promise<unknown>): void };

export async function startReceiver(t: Scope): Promise<Receiver> {
  const received: Received[] = [];
  let reaction: Reaction = (response) => response.end("ok");
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { url: path = "", headers } = request;
      received.push({ path, headers, body });
      reaction(response, { path, headers, body });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    react: (next) => void (reaction = next),
  };
}

/** Two dead letters of a subscription, as a long outage of its receiver leaves them. */
export async function addDeadLetters({ ctx }: Service, webhookId: string): Promise<string[]> {
  await ctx.db.pool.query(
    "insert into webhook_queues (webhook_id, fanned_sequence) values ($1, 1000000)",
    [webhookId],
  );
  const { rows: webhooks } = await ctx.db.pool.query<{ desk_id: string }>(
    "select desk_id from webhooks where webhook_id = $1",
    [webhookId],
  );
  // The database may hold very many events of other desks.
  const first = { firmId: null, after: 0, fetch: 2 };
  const bodies = await listEventsAfter(ctx.db, webhooks[0]?.desk_id ?? "", first);
  const events = bodies.map(({ body }) => JSON.parse(body) as object);
  const { rows } = await ctx.db.pool.query<{ delivery_id: string }>(
    `insert into deliveries
    select 'dlv_' || left(md5(w.webhook_id || e.sequence), 26), w.webhook_id, w.environment,
      w.desk_id, e.sequence, e.event, 'dead', e.created_at, 1, 10, 10, 500, 'unavailable', 1,
      e.created_at, e.created_at
    from webhooks as w
    cross join json_to_recordset($2) as e (sequence bigint, event text, created_at timestamptz)
    where w.webhook_id = $1
    returning delivery_id`,
    [webhookId, JSON.stringify(events)],
  );
  return rows.map(({ delivery_id }) => delivery_id);
}

export async function registerWebhook(
  { send }: Service,
  key: string,
  url: string,
  event = "*",
): Promise<Answer["body"]> {
  return (await send("POST", "/v1/webhooks", { key, body: { url, event }, expect: 201 })).body;
}
