// `npx scripdesk listen`: a desk's events, forwarded to an address on this machine as its webhook
// would get them. It is a client of the API like any other and needs no database.
//
//   read      the stream of events; when it breaks, again from the last id that was seen
//   forward   each event as one signed POST; an address that does not take it is reported, not retried

import { setTimeout as sleep } from "node:timers/promises";

import { buildDeliveryId, buildHeaders, newSigningSecret } from "../src/webhooks/rules.ts";
import { command, UsageError } from "./command.ts";

type Told = { readonly id: string; readonly event: string; readonly data: string };

type Listening = {
  readonly stream: URL;
  readonly key: string;
  readonly forward: URL;
  readonly secret: string;
  readonly event: string | undefined;
  /** How many events to forward before it ends by itself. */
  readonly most: number;
};

const reconnectMs = 1_000;
const forwardDeadlineMs = 10_000;
/** What deliveries have in place of a webhook's id. */
const listenerName = "listen";

const listenCommand = command({
  name: "listen",
  summary: "forward a desk's events to an address on this machine, signed as its webhook would be",
  options: {
    forward: { required: true, help: "where to POST each event" },
    key: { help: "API key with orders:read (or SCRIPDESK_KEY in the environment)" },
    "base-url": { help: "where the service is; http://127.0.0.1 with PORT, or 8080, unless given" },
    secret: { help: "signing secret, whsec_…; made and shown when there is none" },
    event: { help: "only this event" },
    after: { help: "begin after this sequence instead of now" },
    count: { help: "end after so many events" },
  },
  example: "npx scripdesk listen --forward http://127.0.0.1:3000/hook --key service_test_…",
  async run(options) {
    const key = options.key ?? process.env["SCRIPDESK_KEY"];
    if (!key) throw new UsageError("--key is required, or SCRIPDESK_KEY in the environment");
    const secret = options.secret ?? newSigningSecret().secret;
    if (!secret.startsWith("whsec_")) throw new UsageError("--secret must begin with whsec_");
    const here = `http://127.0.0.1:${process.env["PORT"] || "8080"}`;
    const stream = parseAddress("base-url", options["base-url"] ?? here);
    stream.pathname = "/v1/events/stream";
    if (options.after !== undefined) stream.searchParams.set("after_sequence", options.after);
    const most = options.count === undefined ? Infinity : Number(options.count);
    if (!(most >= 1)) throw new UsageError("--count must be a positive whole number");
    const forward = parseAddress("forward", options.forward);
    process.stdout.write(`Signing secret: ${secret}\n`);
    return await listen({ stream, key, forward, secret, event: options.event, most });
  },
});

function parseAddress(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new UsageError(`--${name} must be an http:// or https:// address`);
}

async function listen(listening: Listening): Promise<number> {
  let lastId: string | undefined;
  let forwarded = 0;
  for (;;) {
    try {
      for await (const told of toldBy(listening, lastId)) {
        lastId = told.id;
        if (listening.event !== undefined && told.event !== listening.event) continue;
        await forward(listening, told);
        forwarded += 1;
        if (forwarded >= listening.most) return 0;
      }
    } catch (error) {
      if (error instanceof UsageError) throw error;
      process.stderr.write(`scripdesk: ${explainBreak(error as Error, listening)}\n`);
    }
    await sleep(reconnectMs);
  }
}

/** Fetch says no more than that it failed; the cause says why. */
function explainBreak({ message, cause }: Error, { stream }: Listening): string {
  const { code, message: reason } = (cause ?? {}) as NodeJS.ErrnoException;
  if (message !== "fetch failed") return `the stream of ${stream.origin} broke off (${message})`;
  return `${stream.origin} cannot be reached (${code ?? reason ?? message}): set --base-url or PORT; trying again`;
}

/** The events of one connection, until it ends. */
async function* toldBy(
  { stream, key }: Listening,
  lastId: string | undefined,
): AsyncGenerator<Told> {
  const headers = {
    "x-service-key": key,
    ...(lastId !== undefined && { "last-event-id": lastId }),
  };
  const response = await fetch(stream, { headers });
  if (response.status >= 400 && response.status < 500 && response.status !== 429) {
    throw new UsageError(`the service answered ${response.status}: ${await response.text()}`);
  }
  if (!response.ok || !response.body) throw new Error(`the service answered ${response.status}`);
  process.stdout.write(`Listening to ${stream.origin}\n`);
  let text = "";
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = `${text}${part}`.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = parseFields(block);
      if (fields["id"] !== undefined && fields["data"] !== undefined) {
        yield { id: fields["id"], event: fields["event"] ?? "", data: fields["data"] };
      }
    }
  }
}

function parseFields(block: string): Readonly<Record<string, string | undefined>> {
  const lines = block.split("\n").map((line) => /^(\w+): ?(.*)$/.exec(line));
  return Object.fromEntries(lines.flatMap((parts) => (parts ? [[parts[1], parts[2]]] : [])));
}

async function forward({ forward: url, secret }: Listening, told: Told): Promise<void> {
  const { id, entity, sequence } = JSON.parse(told.data);
  const body = Buffer.from(told.data);
  const deliveryId = buildDeliveryId(listenerName, {
    event_id: id,
    sequence,
    event: told.event,
    entity_type: entity.type,
    entity_id: entity.id,
    entity_version: entity.version,
  });
  const { event } = told;
  const headers = buildHeaders({ deliveryId, event, body, secrets: [secret], now: new Date() });
  const answer = await fetch(url, {
    method: "POST",
    redirect: "manual",
    headers,
    body,
    signal: AbortSignal.timeout(forwardDeadlineMs),
  }).then(
    ({ status }) => String(status),
    (error: Error) => error.message,
  );
  process.stdout.write(`${told.id}  ${event}  ${deliveryId}  ${answer}\n`);
}

export const commands = [listenCommand];
