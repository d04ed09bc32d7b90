import type { FastifyRequest, onRequestAsyncHookHandler } from "fastify";

import { sessionHours } from "../operators/rules.ts";
import { type SignedIn, signIn } from "../operators/sign-in.ts";
import type { Context } from "../platform/context.ts";
import { consoleHeader, readCookie, refuseOtherPages, writeCookie } from "./cookie-rules.ts";

type Entering = Parameters<typeof signIn>[1] & Pick<FastifyRequest, "protocol">;

/** Signs in; the token is in the cookie and nowhere else. */
export async function openSession(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  { protocol, ...credentials }: Entering,
): Promise<{ readonly session: Omit<SignedIn, "token">; readonly cookie: string }> {
  const { token, ...session } = await signIn(ctx, credentials);
  return { session, cookie: writeCookie(token, lasting(protocol, sessionHours * 3_600)) };
}

/** The cookie that takes the session's away. */
export function closeSession({ protocol }: Pick<FastifyRequest, "protocol">): string {
  return writeCookie("", lasting(protocol, 0));
}

function lasting(protocol: string, maxAgeS: number) {
  return { maxAgeS, isHttps: protocol === "https" };
}

/** The token of the console's cookie, in a request of the console's own page; undefined without one. */
export function findConsoleToken(request: FastifyRequest): string | undefined {
  const token = readCookie(request.headers.cookie);
  if (token !== undefined) refuseOtherPages(readOrigins(request));
  return token;
}

/** Also signing in is for the console's own page: nobody is signed in as somebody else unawares. */
export const refuseOtherPage: onRequestAsyncHookHandler = async (request) => {
  refuseOtherPages(readOrigins(request));
};

function readOrigins({ headers, host }: FastifyRequest) {
  return {
    asked: headers[consoleHeader]?.toString(),
    origin: headers.origin,
    fetchSite: headers["sec-fetch-site"]?.toString(),
    host,
  };
}
