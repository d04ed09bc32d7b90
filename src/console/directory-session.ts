// Signing in by the house's directory. The browser leaves for it and comes back by links, so refusals are
// told on the console's own page, by their reason:
//
//   /console/directory            to the directory; what is expected back is sealed in a cookie
//   /console/directory/back       from it; the cookie is used up, and a session begins as after a password
//   /console/directory/sign-out   ends the session there
//
// Coming back counts only in the browser that left: its cookie goes with links from other sites, and no
// other cookie here does.

import type { FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../kernel/failure.ts";
import { enterByDirectory } from "../operators/directory.ts";
import { sessionHours } from "../operators/rules.ts";
import type { Context } from "../platform/context.ts";
import type { Directory, DirectoryFlow } from "../platform/oidc.ts";
import { open, seal } from "../platform/seal.ts";
import { exactJson } from "../kernel/json.ts";
import { type CookiePlace, lasting, readCookies, writeCookie } from "./session.ts";

const flowCookie: CookiePlace = {
  name: "scripdesk_flow",
  path: "/console/directory",
  sameSite: "Lax",
};
const hintCookie: CookiePlace = {
  name: "scripdesk_hint",
  path: "/console/directory",
  sameSite: "Strict",
};
const flowPurpose = "console.directory.flow";
const hintPurpose = "console.directory.hint";
const flowS = 600;
/** Browsers keep no larger cookie; without it the directory asks before it signs out. */
const hintMax = 3_500;

type KeptFlow = DirectoryFlow & { readonly to: string; readonly until: number };

type Wired = { readonly ctx: Context; readonly directory: Directory };

export async function leave(
  { ctx, directory }: Wired,
  { protocol, query: { fresh, to } }: Pick<FastifyRequest, "protocol"> & { readonly query: Wish },
  reply: FastifyReply,
): Promise<FastifyReply> {
  return await goOn(ctx, reply, async () => {
    const { url, flow } = await directory.begin(fresh !== undefined);
    const until = ctx.now().getTime() + flowS * 1_000;
    const kept: KeptFlow = { ...flow, to: choosePlace(to), until };
    const sealed = seal(exactJson(kept), flowPurpose, ctx.sealKey).toString("base64url");
    reply.header("set-cookie", writeCookie(sealed, lasting(protocol, flowS), flowCookie));
    return url;
  });
}

/** Whether to sign in anew, and where to go on afterwards. */
type Wish = { readonly fresh?: string; readonly to?: string };

export async function comeBack(
  { ctx, directory }: Wired,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return await goOn(ctx, reply, async () => {
    const forgotten = writeCookie("", lasting(request.protocol, 0), flowCookie);
    reply.header("set-cookie", forgotten);
    const kept = readKept(ctx, request);
    const person = await directory.finish(findQuery(request), kept);
    const { isFresh } = kept;
    const { token } = await enterByDirectory(ctx, person, { isFresh, requestId: request.id });
    const lasts = lasting(request.protocol, sessionHours * 3_600);
    const hint = seal(person.idToken, hintPurpose, ctx.sealKey).toString("base64url");
    const cookies = [forgotten, writeCookie(token, lasts)];
    if (hint.length <= hintMax) cookies.push(writeCookie(hint, lasts, hintCookie));
    reply.removeHeader("set-cookie").header("set-cookie", cookies);
    return kept.to;
  });
}

export async function leaveForGood(
  { ctx, directory }: Wired,
  { headers, protocol }: Pick<FastifyRequest, "headers" | "protocol">,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return await goOn(ctx, reply, async () => {
    const [hint] = readCookies(headers.cookie, hintCookie.name);
    reply.header("set-cookie", writeCookie("", lasting(protocol, 0), hintCookie));
    const idToken = hint === undefined ? undefined : openText(ctx, hint, hintPurpose);
    return (await directory.findSignOut(idToken)) ?? "/console";
  });
}

/** Goes where the work says, or to the sign-in page, which says why not. */
async function goOn(
  { log }: Pick<Context, "log">,
  reply: FastifyReply,
  work: () => Promise<string>,
): Promise<FastifyReply> {
  const place = await work().catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    log.warn({ refusal: error.message, ...error.detail }, "a sign-in by the directory was refused");
    const { reason } = error.detail ?? {};
    return `/console?refused=${typeof reason === "string" ? reason : error.code}`;
  });
  return await reply.header("cache-control", "no-store").redirect(place, 303);
}

function readKept(ctx: Pick<Context, "now" | "sealKey">, request: FastifyRequest): KeptFlow {
  for (const value of readCookies(request.headers.cookie, flowCookie.name)) {
    const text = openText(ctx, value, flowPurpose);
    const kept = text === undefined ? undefined : (JSON.parse(text) as KeptFlow); // We sealed it.
    if (kept && kept.until > ctx.now().getTime()) return kept;
  }
  throw new Failure("forbidden", "this sign-in was not begun in this browser, or took too long", {
    detail: { reason: "sign_in_lost" },
  });
}

function openText(
  { sealKey }: Pick<Context, "sealKey">,
  value: string,
  purpose: string,
): string | undefined {
  try {
    return open(Buffer.from(value, "base64url"), purpose, sealKey);
  } catch {
    return undefined;
  }
}

function findQuery({ url }: FastifyRequest): string {
  const at = url.indexOf("?");
  return at < 0 ? "" : url.slice(at);
}

/** Nobody is sent to another place than the console. */
function choosePlace(to: string | undefined): string {
  return to !== undefined && /^\/console(\/[A-Za-z0-9_-]+)*$/.test(to) ? to : "/console";
}
