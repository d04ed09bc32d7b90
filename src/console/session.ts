import type { FastifyRequest, onRequestAsyncHookHandler } from "fastify";
import { Type } from "typebox";

import { Failure } from "../kernel/failure.ts";
import { sessionHours, signInCodePattern } from "../operators/rules.ts";
import { type SignedIn, signIn } from "../operators/sign-in.ts";
import type { Context } from "../platform/context.ts";
import { operatorRoles } from "../kernel/actor.ts";
import { body, count, flag, openEnum, text, timestamp } from "../platform/http/wire.ts";

export const SignInBody = body({
  name: Type.String({ minLength: 1, maxLength: 64, description: "The person's name." }),
  password: Type.String({ minLength: 1, maxLength: 256, description: "The person's password." }),
  code: Type.String({
    pattern: signInCodePattern,
    description:
      "The six digits that the authenticator shows, or a recovery code; each is used once.",
  }),
});

export const SessionOpened = Type.Object({
  name: text("Who is signed in."),
  role: openEnum(operatorRoles, "What the person may do."),
  expires_at: timestamp("When the session ends by itself."),
  recovery_codes_left: count("How many recovery codes the person has."),
});

export const SessionClosed = Type.Object({
  signed_out: flag("True: the session has ended."),
});

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

export function lasting(protocol: string, maxAgeS: number) {
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

// The console's session in the browser: the operator's token in a cookie that scripts cannot read, that
// no other site's request carries, and that is sent to `/ops` only. A cookie goes along by itself, so it
// counts only in a request that the console's own script has made: one with a header that a form or a
// link cannot set, from a page of this address.

const cookieName = "scripdesk_operator";
/** Set by every request of the console. Other sites would have to ask first, and are never told yes. */
const consoleHeader = "x-scripdesk-console";

export type CookiePlace = {
  readonly name: string;
  readonly path: string;
  readonly sameSite: "Strict" | "Lax";
};
const sessionPlace: CookiePlace = { name: cookieName, path: "/ops", sameSite: "Strict" };

export function writeCookie(
  value: string,
  { maxAgeS, isHttps }: { readonly maxAgeS: number; readonly isHttps: boolean },
  { name, path, sameSite }: CookiePlace = sessionPlace,
): string {
  const parts = [
    `${name}=${value}`,
    `Path=${path}`,
    `Max-Age=${maxAgeS}`,
    "HttpOnly",
    `SameSite=${sameSite}`,
  ];
  return [...parts, ...(isHttps ? ["Secure"] : [])].join("; ");
}

/**
 * All values of the cookie: a page of another host below the same domain can plant one beside ours, which
 * the browser may send first.
 */
export function readCookies(header: string | undefined, wanted = cookieName): string[] {
  return (header?.split(";") ?? []).flatMap((part) => {
    const [name, value] = part.trim().split("=", 2);
    return name === wanted && value !== undefined && value !== "" ? [value] : [];
  });
}

type Origins = {
  /** The header of the console. */
  readonly asked: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  /** The host that the request was sent to. */
  readonly host: string | undefined;
};

/** Refuses what the console's own script cannot have sent. */
function refuseOtherPages({ asked, origin, fetchSite, host }: Origins): void {
  const isAsked = asked === "1";
  const isOwnPage = origin === undefined || findHost(origin) === host;
  const isOwnSite = fetchSite === undefined || fetchSite === "same-origin";
  if (isAsked && isOwnPage && isOwnSite) return;
  throw new Failure("forbidden", "a session of the console is for the console's own page", {
    form: "edge",
  });
}

function findHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
