// Signing in to the console: as `POST /ops/sign-in`, but the token goes into the browser's cookie and not
// to the page. `POST /ops/sign-out` ends the session; what is here takes the cookie away. And the
// addresses by which a browser leaves for the house's directory and comes back.

import { Type } from "typebox";

import type { Context } from "../platform/context.ts";
import { findAddress } from "../platform/http/calls.ts";
import type { App } from "../platform/http/server.ts";
import {
  closeSession,
  openSession,
  refuseOtherPage,
  SessionClosed,
  SessionOpened,
  SignInBody,
} from "./session.ts";
import type { Directory } from "../platform/oidc.ts";
import { comeBack, leave, leaveForGood } from "./directory-session.ts";

const config = { keyless: { budget: "attempts" } } as const;
const onRequest = refuseOtherPage;

export function consoleRoutes(app: App, ctx: Context): void {
  app.post(
    "/console/sign-in",
    { config, onRequest, schema: { body: SignInBody, response: { 200: SessionOpened } } },
    async (request, reply) => {
      const { session, cookie } = await openSession(ctx, {
        ...request.body,
        from: findAddress(request),
        requestId: request.id,
        protocol: request.protocol,
      });
      reply.header("set-cookie", cookie);
      return session;
    },
  );
  app.post(
    "/console/sign-out",
    { config, onRequest, schema: { response: { 200: SessionClosed } } },
    async (request, reply) => {
      reply.header("set-cookie", closeSession(request));
      return { signed_out: true };
    },
  );
}

const Wish = Type.Object({
  fresh: Type.Optional(Type.Literal("1")),
  to: Type.Optional(Type.String({ maxLength: 200 })),
});

export function directoryRoutes(app: App, ctx: Context, directory: Directory): void {
  const wired = { ctx, directory };
  app.get(
    "/console/directory",
    { config, schema: { querystring: Wish } },
    async (request, reply) => await leave(wired, request, reply),
  );
  app.get(
    "/console/directory/back",
    { config },
    async (request, reply) => await comeBack(wired, request, reply),
  );
  app.get(
    "/console/directory/sign-out",
    { config },
    async (request, reply) => await leaveForGood(wired, request, reply),
  );
}
