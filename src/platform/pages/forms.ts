// Pages with a form that a browser sends by itself, without a script.

import type { FastifyReply, FastifyRequest } from "fastify";

import { readBody } from "../http/body.ts";
import type { App } from "../http/server.ts";

const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** Routes that take a form's body. It is read and not looked at: what counts is in the address. */
export function takeForms(app: App, routes: (forms: App) => void): void {
  void app.register(async (forms) => {
    for (const type of ["application/x-www-form-urlencoded", "multipart/form-data"]) {
      forms.addContentTypeParser(type, async ({ chunkedBody, raw }: FastifyRequest) => {
        if (!chunkedBody) await readBody(raw, { keep: false });
        return undefined;
      });
    }
    routes(forms);
  });
}

export type FormPage = { readonly status: number; readonly html: string };

export function sendForm(reply: FastifyReply, { status, html }: FormPage): FastifyReply {
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .header("content-security-policy", policy)
    .header("referrer-policy", "no-referrer")
    .header("cache-control", "no-store")
    .header("x-robots-tag", "noindex")
    .send(html);
}
