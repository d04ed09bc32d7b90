// The addresses by which a browser leaves for the house's directory and comes back.

import { Type } from "typebox";

import type { Context } from "../platform/context.ts";
import type { App } from "../platform/http/server.ts";
import type { Directory } from "../platform/oidc.ts";
import { comeBack, leave, leaveForGood } from "./directory-session.ts";

const config = { keyless: { budget: "attempts" } } as const;

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
