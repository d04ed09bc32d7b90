// The API reference for people, made in the browser from /v1/openapi.json. The page and its script
// come from this service; the policy below lets the browser reach no other host.

import { randomBytes } from "node:crypto";

import apiReference from "@scalar/fastify-api-reference";

import { Failure } from "../kernel/failure.ts";
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
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  await app.register(apiReference, {
    routePrefix: docsPrefix,
    hooks: {
      onRequest: ({ protocol, hostname }, reply, next) => {
        // The plugin makes a URL of the Host header, which is the caller's text.
        if (!URL.canParse(`${protocol}://${hostname}`)) {
          next(new Failure("bad_request", "the Host header names no host", { form: "transport" }));
          return;
        }
        reply.header("content-security-policy", policy);
        reply.header("cache-control", "public, max-age=300");
        next();
      },
    },
    configuration: {
      nonce,
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
}
