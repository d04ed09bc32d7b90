// Signing in to the console: as `POST /ops/sign-in`, but the token goes into the browser's cookie and not
// to the page. `POST /ops/sign-out` ends the session; what is here takes the cookie away.

import type { Context } from "../platform/context.ts";
import { findAddress } from "../platform/http/calls.ts";
import type { App } from "../platform/http/server.ts";
import { SessionClosed, SessionOpened, SignInBody } from "./schema.ts";
import { closeSession, openSession, refuseOtherPage } from "./session.ts";

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
