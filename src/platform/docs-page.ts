// The API reference for people, made in the browser from /v1/openapi.json. The page and its script
// come from this service; the policy below lets the browser reach no other host.

import { randomBytes } from "node:crypto";

import apiReference from "@scalar/fastify-api-reference";

import type { App } from "./http.ts";

export const docsPrefix = "/docs";

export async function serveDocs(app: App): Promise<void> {
  const nonce = randomBytes(16).toString("base64");
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  await app.register(apiReference, {
    routePrefix: docsPrefix,
    hooks: {
      onRequest: (_request, reply, next) => {
        reply.header("content-security-policy", policy);
        reply.header("cache-control", "public, max-age=300");
        next();
      },
    },
    configuration: {
      nonce,
      pageTitle: "Scripdesk API",
      url: "/v1/openapi.json",
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      hideClientButton: true,
      showDeveloperTools: "never",
    },
  });
}
