// The API reference at /docs, rendered in the browser from /v1/openapi.json. The page and its script
// come from this service; the content security policy lets the browser reach no other host.
//
// The plugin that renders them has megabytes, so it is loaded on the first request, into an app of its
// own, and its files are kept in memory.

import { randomBytes } from "node:crypto";

import { fastify, type onRequestHookHandler } from "fastify";

import { Failure } from "../../kernel/failure.ts";
import type { App } from "../http/server.ts";

export const docsPrefix = "/docs";

const files = [`${docsPrefix}/`, `${docsPrefix}/js/scalar.js`];

/** The placeholder of the nonce in the page: every response needs a new one. */
const noncePlace = "nonce-of-this-answer";

type File = { readonly type: string; readonly bytes: Buffer };

export function serveDocs(app: App): void {
  const options = { schema: { hide: true }, onRequest: protect };
  app.get(
    docsPrefix,
    options,
    async (_request, reply) => await reply.redirect(`${docsPrefix}/`, 301),
  );
  let made: Promise<ReadonlyMap<string, File>> | undefined;
  for (const path of files) {
    app.get(path, options, async (_request, reply) => {
      made ??= makeFiles();
      const file = (await made).get(path);
      if (!file) throw new Error(`the reference has no ${path}`);
      if (!file.type.startsWith("text/html")) {
        reply.header("cache-control", "public, max-age=300");
        return await reply.type(file.type).send(file.bytes);
      }
      const nonce = randomBytes(16).toString("base64");
      reply.header("content-security-policy", writePolicy(nonce));
      return await reply.type(file.type).send(file.bytes.toString().replaceAll(noncePlace, nonce));
    });
  }
}

function writePolicy(nonce?: string): string {
  return [
    "default-src 'none'",
    nonce === undefined ? "script-src 'self'" : `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

const policyWithoutNonce = writePolicy();

const protect: onRequestHookHandler = ({ protocol, hostname }, reply, next) => {
  if (!URL.canParse(`${protocol}://${hostname}`)) {
    next(new Failure("bad_request", "the Host header names no host", { form: "transport" }));
    return;
  }
  reply.header("content-security-policy", policyWithoutNonce);
  next();
};

async function makeFiles(): Promise<ReadonlyMap<string, File>> {
  const { default: apiReference } = await import("@scalar/fastify-api-reference");
  const maker = fastify();
  await maker.register(apiReference, {
    routePrefix: docsPrefix,
    configuration: {
      nonce: noncePlace,
      pageTitle: "Scripdesk API",
      url: "/v1/openapi.json",
      authentication: { preferredSecurityScheme: "ServiceKey" },
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      hideClientButton: true,
      showDeveloperTools: "never",
    },
  });
  const answers = await Promise.all(files.map(async (path) => await maker.inject(path)));
  await maker.close();
  return new Map(
    answers.map(({ headers, rawPayload }, at) => [
      files[at] ?? "",
      { type: String(headers["content-type"]), bytes: rawPayload },
    ]),
  );
}
