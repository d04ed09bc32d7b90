// The console's session in the browser: the operator's token in a cookie that scripts cannot read, that
// no other site's request carries, and that is sent to `/ops` only. A cookie goes along by itself, so it
// counts only in a request that the console's own script has made: one with a header that a form or a
// link cannot set, from a page of this address.

import { Failure } from "../kernel/failure.ts";

const cookieName = "scripdesk_operator";
/** Set by every request of the console. Other sites would have to ask first, and are never told yes. */
export const consoleHeader = "x-scripdesk-console";

export function writeCookie(
  token: string,
  { maxAgeS, isHttps }: { readonly maxAgeS: number; readonly isHttps: boolean },
): string {
  const parts = [
    `${cookieName}=${token}`,
    "Path=/ops",
    `Max-Age=${maxAgeS}`,
    "HttpOnly",
    "SameSite=Strict",
  ];
  return [...parts, ...(isHttps ? ["Secure"] : [])].join("; ");
}

/**
 * All values of the cookie: a page of another host below the same domain can plant one beside ours, which
 * the browser may send first.
 */
export function readCookies(header: string | undefined): string[] {
  return (header?.split(";") ?? []).flatMap((part) => {
    const [name, value] = part.trim().split("=", 2);
    return name === cookieName && value !== undefined && value !== "" ? [value] : [];
  });
}

export type Origins = {
  /** The header of the console. */
  readonly asked: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  /** The host that the request was sent to. */
  readonly host: string | undefined;
};

/** Refuses what the console's own script cannot have sent. */
export function refuseOtherPages({ asked, origin, fetchSite, host }: Origins): void {
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
