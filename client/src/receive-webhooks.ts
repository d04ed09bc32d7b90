// A receiver of webhooks for the servers that most people have. It reads the bytes as they came, verifies
// them, and answers:
//
//   200   handled
//   401   not genuine: the service gives it up at once and keeps it as a dead letter
//   413   longer than any delivery
//   500   your handler threw: the service comes again

import { ScripdeskError } from "./errors.ts";
import {
  type VerifiedWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
} from "./webhooks.ts";

export type ReceiverOptions = VerifyOptions & {
  /** The webhook's, or while it changes the new one and the old one. */
  readonly secret: string | readonly string[];
  /** Does the work once for each `delivery_id`; what it throws is answered 500. */
  readonly handle: (webhook: VerifiedWebhook) => void | Promise<void>;
  /** Told what was refused or thrown. */
  readonly on_error?: ((error: unknown) => void) | undefined;
};

/** What is read of a request of Node or Express. */
export type NodeRequest = AsyncIterable<Uint8Array> & {
  readonly headers: WebhookHeaders;
  readonly body?: unknown;
};

/** What is used of a response of Node or Express. */
export type NodeResponse = {
  writeHead(status: number): { end(): unknown };
};

/** What is used of an app of Fastify. */
export type FastifyLike = {
  removeContentTypeParser(type: string): unknown;
  addContentTypeParser(
    type: string,
    options: { parseAs: "buffer" },
    parser: (
      request: unknown,
      body: Uint8Array,
      done: (error: Error | null, body?: unknown) => void,
    ) => void,
  ): unknown;
  post(
    path: string,
    handler: (
      request: { readonly body: unknown; readonly headers: WebhookHeaders },
      reply: { code(status: number): { send(): unknown } },
    ) => Promise<unknown>,
  ): unknown;
};

const bodyBytesMax = 1_048_576;

/** For `createServer(…)` of Node, and as a handler of Express, before `express.json()` or after `express.raw()`. */
export function webhookListener(options: ReceiverOptions) {
  return async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    const status = await receive(options, async () => {
      const body = await readRaw(request);
      return body && verifyWebhook(body, request.headers, options.secret, options);
    });
    response.writeHead(status).end();
  };
}

/** For Fastify: `app.register(webhookPlugin, { path: "/hooks", secret, handle })`. */
export async function webhookPlugin(
  app: FastifyLike,
  options: ReceiverOptions & { readonly path: string },
): Promise<void> {
  // Here only, as Fastify keeps what a plugin adds to the plugin.
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) =>
    done(null, body),
  );
  app.post(options.path, async ({ body, headers }, reply) => {
    const status = await receive(options, async () =>
      verifyWebhook(body as Uint8Array, headers, options.secret, options),
    );
    return reply.code(status).send();
  });
}

/** The status to answer with; `read` returns nothing for a body that is too long. */
async function receive(
  { handle, on_error: tell }: ReceiverOptions,
  read: () => Promise<VerifiedWebhook | undefined>,
): Promise<number> {
  try {
    const webhook = await read();
    if (!webhook) return 413;
    await handle(webhook);
    return 200;
  } catch (error) {
    tell?.(error);
    return error instanceof ScripdeskError && error.slug === "forged_webhook" ? 401 : 500;
  }
}

async function readRaw(request: NodeRequest): Promise<Uint8Array | undefined> {
  if (request.body instanceof Uint8Array) return request.body;
  if (request.body !== undefined) {
    throw new TypeError("the body was parsed already: put this handler before express.json()");
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > bodyBytesMax) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
