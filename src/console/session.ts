import type { FastifyRequest, onRequestAsyncHookHandler } from "fastify";

import { sessionHours } from "../operators/rules.ts";
import { type SignedIn, signIn } from "../operators/sign-in.ts";
import type { Context } from "../platform/context.ts";
import { consoleHeader, readCookies, refuseOtherPages, writeCookie } from "./cookie-rules.ts";

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

/** The tokens of the console's cookies, in a request of the console's own page. */
export function findConsoleTokens(request: FastifyRequest): readonly string[] {
  const tokens = readCookies(request.headers.cookie);
  if (tokens.length > 0) refuseOtherPages(readOrigins(request));
  return tokens;
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
