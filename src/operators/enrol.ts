// How a person gets a second factor. Nothing counts before it is confirmed by a code:
//
//   offer     a secret for the authenticator app, and a ticket that carries it sealed; nothing is stored
//   confirm   the ticket and a code of the app: the secret counts from now on, and with it come ten
//             recovery codes, shown once and kept as hashes
//
// A new person offers and confirms with the codes of those who let them in, and a person who is signed in
// with their password and a code.

import { randomBytes, timingSafeEqual } from "node:crypto";

import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, namedOperator, personKey } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { exactJson } from "../kernel/json.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { type DrawnCode, drawCode } from "../platform/draw-code.ts";
import { open, seal } from "../platform/seal.ts";
import {
  buildAuthenticatorUri,
  findStep,
  fromBase32,
  hashPassword,
  hashRecoveryCode,
  makeRecoveryCodes,
  matchesPassword,
  type PasswordCost,
  toBase32,
} from "./credentials.ts";
import { limitAttempts } from "./limit-attempts.ts";
import {
  buildOperatorChange,
  hashCode,
  type OperatorView,
  viewOperator,
} from "./manage-operators.ts";
import { badSignIn, refuseWeakPassword } from "./rules.ts";
import { findProof, hashToken, spendProof, totpPurpose } from "./sign-in.ts";
import {
  findOperator,
  lockOperators,
  type OperatorRow,
  revokeSessions,
  setOperator,
  setRecoveryCodes,
} from "./store.ts";

type Sealing = Pick<Context, "db" | "now" | "sealKey">;

/** For the authenticator app; it counts when a code of it confirms it. */
export type OfferedAuthenticator = {
  /** Goes back with the code. */
  readonly ticket: string;
  readonly totp_secret: string;
  readonly totp_uri: string;
  readonly totp_qr: DrawnCode;
};

export type NewFactor = {
  readonly operator: OperatorView;
  /** Shown once. */
  readonly recovery_codes: readonly string[];
};

/** Who tries, and from which address. */
type Trying = { readonly from: string; readonly requestId?: string | null };
type Invited = Trying & { readonly name: string; readonly codes: readonly string[] };

const secretBytes = 20;
const ticketPurpose = "operators.ticket";
const ticketMs = 15 * 60_000;

/** Chooses the password of an invited person and offers an authenticator. */
export async function beginEnrolment(
  ctx: Sealing,
  {
    name,
    codes,
    password,
    passwordCost,
    from,
    requestId = null,
  }: Invited & { readonly password: string; readonly passwordCost?: PasswordCost },
): Promise<OfferedAuthenticator> {
  refuseWeakPassword(password, name);
  return await limitAttempts(ctx, enrolAttempt({ name, from, requestId }), async () => {
    const password_hash = await hashPassword(password, passwordCost);
    const person = await findOperator(ctx.db, personKey(name));
    if (!person || !holdsCodes(person, codes, ctx.now())) throw badEnrolment();
    return makeOffer(ctx, person, password_hash);
  });
}

/** A code of the offered authenticator makes an invited person one who can sign in. */
export async function confirmEnrolment(
  ctx: Sealing,
  { name, codes, ticket, code, from, requestId = null }: Invited & Confirming,
): Promise<NewFactor> {
  const now = ctx.now();
  return await limitAttempts(
    ctx,
    enrolAttempt({ name, from, requestId }),
    async () =>
      await ctx.db.transaction(async (tx) => {
        await lockOperators(tx);
        const person = await findOperator(tx, personKey(name));
        if (!person || !holdsCodes(person, codes, now)) throw badEnrolment();
        const offered = readTicket(ctx, person, ticket);
        const actor = { ...namedOperator(person.name), requestId };
        return await installFactor(tx, person, { ctx, offered, code, action: "enrol", actor });
      }),
  );
}

type Confirming = { readonly ticket: string; readonly code: string };
type Proving = Trying & { readonly password: string; readonly code: string };

/** Offers another authenticator to a person who is signed in. */
export async function beginAuthenticator(
  ctx: Sealing,
  actor: Actor,
  proving: Proving,
): Promise<OfferedAuthenticator> {
  return await proveAgain(ctx, actor, proving, async (tx, person) => {
    const change = buildOperatorChange("offer_authenticator", person);
    await recordChanges(tx, actor, [change], ctx.now());
    return makeOffer(ctx, person, null);
  });
}

/** From now on the person signs in with the offered authenticator; other sessions end. */
export async function confirmAuthenticator(
  ctx: Sealing,
  actor: Actor,
  { ticket, code, from, token }: Trying & Confirming & { readonly token: string },
): Promise<NewFactor> {
  const nameKey = personKey(actor.id);
  const attempt = { nameKey, from, requestId: actor.requestId };
  return await limitAttempts(
    ctx,
    attempt,
    async () =>
      await ctx.db.transaction(async (tx) => {
        await lockOperators(tx);
        const person = await findOperator(tx, nameKey);
        if (!person) throw badEnrolment();
        const offered = readTicket(ctx, person, ticket);
        const action = "replace_authenticator";
        const factor = await installFactor(tx, person, { ctx, offered, code, action, actor });
        const kept = hashToken(token);
        await revokeSessions(tx, person.operator_id, { now: ctx.now(), kept });
        return factor;
      }),
  );
}

/** Ten new recovery codes; the former ones end. */
export async function renewRecoveryCodes(
  ctx: Sealing,
  actor: Actor,
  proving: Proving,
): Promise<Pick<NewFactor, "recovery_codes">> {
  return await proveAgain(ctx, actor, proving, async (tx, person) => {
    const change = buildOperatorChange("make_recovery_codes", person);
    await recordChanges(tx, actor, [change], ctx.now());
    return { recovery_codes: await issueRecoveryCodes(tx, person) };
  });
}

/** A stolen session changes no credential: whoever is signed in proves anew who they are. */
async function proveAgain<Result>(
  ctx: Sealing,
  actor: Actor,
  { password, code, from }: Proving,
  run: (tx: Tx, person: OperatorRow) => Promise<Result>,
): Promise<Result> {
  const nameKey = personKey(actor.id);
  const attempt = { nameKey, from, requestId: actor.requestId };
  return await limitAttempts(ctx, attempt, async () => {
    const person = await findOperator(ctx.db, nameKey);
    const matches = await matchesPassword(password, person?.password_hash ?? null);
    const proof = person && findProof(ctx, person, code);
    if (!matches || !proof) throw badSignIn();
    return await ctx.db.transaction(async (tx) => {
      await spendProof(tx, person, { proof, actor, now: ctx.now() });
      return await run(tx, person);
    });
  });
}

/** What a ticket carries; it holds while the person's row is what it was. */
type Ticket = {
  readonly operator_id: string;
  readonly version: number;
  readonly secret: string;
  /** Null where the person keeps theirs. */
  readonly password_hash: string | null;
  readonly until: number;
};

function makeOffer(
  { now, sealKey }: Pick<Context, "now" | "sealKey">,
  { operator_id, version, name }: OperatorRow,
  password_hash: string | null,
): OfferedAuthenticator {
  const secret = toBase32(randomBytes(secretBytes));
  const until = now().getTime() + ticketMs;
  const carried: Ticket = { operator_id, version, secret, password_hash, until };
  const totp_uri = buildAuthenticatorUri(name, secret);
  return {
    ticket: seal(exactJson(carried), ticketPurpose, sealKey).toString("base64url"),
    totp_secret: secret,
    totp_uri,
    totp_qr: drawCode(totp_uri),
  };
}

function readTicket(
  { now, sealKey }: Pick<Context, "now" | "sealKey">,
  { operator_id, version }: OperatorRow,
  ticket: string,
): Ticket {
  const carried = openTicket(ticket, sealKey);
  const isOwn = carried?.operator_id === operator_id && carried.version === version;
  if (!isOwn) throw badEnrolment();
  if (carried.until <= now().getTime()) {
    throw new Failure("conflict", "this took too long: begin again", {
      detail: { reason: "ticket_expired" },
    });
  }
  return carried;
}

function openTicket(ticket: string, sealKey: Buffer): Ticket | undefined {
  try {
    return JSON.parse(open(Buffer.from(ticket, "base64url"), ticketPurpose, sealKey)) as Ticket; // We sealed it.
  } catch {
    return undefined;
  }
}

/** The code that confirms is used up by it. */
async function installFactor(
  tx: Tx,
  before: OperatorRow,
  {
    ctx: { now, sealKey },
    offered: { secret, password_hash },
    code,
    action,
    actor,
  }: {
    readonly ctx: Pick<Context, "now" | "sealKey">;
    readonly offered: Ticket;
    readonly code: string;
    readonly action: "enrol" | "replace_authenticator";
    readonly actor: Actor;
  },
): Promise<NewFactor> {
  const step = findStep(fromBase32(secret), code, { now: now(), lastStep: 0 });
  if (step === undefined) throw wrongCode();
  const after: OperatorRow = {
    ...before,
    password_hash: password_hash ?? before.password_hash,
    totp_sealed: seal(secret, totpPurpose, sealKey),
    totp_step: step,
    enrol_hashes: null,
    enrol_until: null,
    version: before.version + 1,
  };
  await setOperator(tx, after);
  const recovery_codes = await issueRecoveryCodes(tx, after);
  await recordChanges(tx, actor, [buildOperatorChange(action, after)], now());
  return { operator: viewOperator(after), recovery_codes };
}

async function issueRecoveryCodes(
  tx: Tx,
  { operator_id }: Pick<OperatorRow, "operator_id">,
): Promise<readonly string[]> {
  const codes = makeRecoveryCodes();
  await setRecoveryCodes(
    tx,
    operator_id,
    codes.flatMap((code) => hashRecoveryCode(code) ?? []),
  );
  return codes;
}

/** Codes that let in are guessed apart from passwords. */
function enrolAttempt({ name, from, requestId = null }: Trying & { readonly name: string }) {
  return { nameKey: `enrol ${personKey(name)}`, from, requestId };
}

/** All codes must be given, in any order. */
function holdsCodes(
  { enrol_hashes, enrol_until, disabled_at }: OperatorRow,
  codes: readonly string[],
  now: Date,
): boolean {
  if (!enrol_hashes || !enrol_until || enrol_until <= now || disabled_at !== null) return false;
  const given = codes.map(hashCode);
  return enrol_hashes.every((hash) => given.some((code) => timingSafeEqual(code, hash)));
}

function badEnrolment(): Failure {
  return new Failure("unauthorized", "name or codes are wrong, too old or used", { form: "edge" });
}

/** Whoever gets this far holds the codes or is signed in, so it may say what is wrong. */
function wrongCode(): Failure {
  return new Failure("unprocessable", "the authenticator shows another code", {
    detail: { fields: [{ path: "code", problem: "is not what the authenticator shows now" }] },
  });
}
