import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, namedOperator, type OperatorRole, personKey } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { SealedPlace } from "../platform/master-key.ts";
import { open, seal } from "../platform/seal.ts";
import {
  buildOperatorChange,
  hashCode,
  type OperatorView,
  viewOperator,
} from "./manage-operators.ts";
import {
  buildAuthenticatorUri,
  findStep,
  fromBase32,
  hashPassword,
  matchesPassword,
  type PasswordCost,
  toBase32,
} from "./credentials.ts";
import { limitAttempts } from "./limit-attempts.ts";
import { badSignIn, notSignedIn, refuseWeakPassword, sessionHours } from "./rules.ts";
import {
  findOperator,
  findPerson,
  hasOperators,
  insertSession,
  lockOperators,
  type OperatorRow,
  revokeSession,
  secretColumn,
  setOperator,
  useStep,
} from "./store.ts";

/** Distinguishes tokens from desks' keys, and lets secret scanners find them. */
const tokenPrefix = "operator_";
const tokenForm = /^operator_[A-Za-z0-9_-]{43}$/;

export type SignedIn = {
  readonly token: string;
  readonly name: string;
  readonly role: OperatorRole;
  readonly expires_at: string;
};

export async function signIn(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  {
    name,
    password,
    code,
    from,
    requestId = null,
  }: {
    readonly name: string;
    readonly password: string;
    readonly code: string;
    /** The address that the attempt comes from. */
    readonly from: string;
    readonly requestId?: string | null;
  },
): Promise<SignedIn> {
  const now = ctx.now();
  const nameKey = personKey(name);
  return await limitAttempts(ctx, { nameKey, from, requestId }, async () => {
    const person = await findOperator(ctx.db, nameKey);
    // Unknown names cost the same work, so that timing reveals nothing.
    const matches = await matchesPassword(password, person?.password_hash ?? null);
    if (!matches || !person || person.disabled_at !== null) throw badSignIn();
    const step = findCodeStep(ctx, person, code);
    if (step === undefined) throw badSignIn();
    const token = tokenPrefix + randomBytes(32).toString("base64url");
    const expires_at = new Date(now.getTime() + sessionHours * 3_600_000);
    await ctx.db.transaction(async (tx) => {
      // Only one of two concurrent sign-ins can use a code.
      if (!(await useStep(tx, person, step))) throw badSignIn();
      const { operator_id } = person;
      await insertSession(tx, {
        token_hash: hashToken(token),
        operator_id,
        created_at: now,
        expires_at,
      });
      const actor = { ...namedOperator(person.name), requestId };
      await recordChanges(tx, actor, [buildOperatorChange("sign_in", person)], now);
    });
    const { name: known, role } = person;
    return { token, name: known, role, expires_at: istTimestamp(expires_at) };
  });
}

/** The person of a token; refused when it has expired or was revoked. */
export async function findSignedIn(
  ctx: Pick<Context, "db" | "now">,
  token: string,
  requestId: string | null = null,
): Promise<SignedInActor> {
  const { actor } = await findSession(ctx, [token], requestId);
  return actor;
}

type SignedInActor = Actor & { readonly role: OperatorRole };

/** The newest valid session of several tokens: a browser may hold cookies that others have planted. */
export async function findSession(
  ctx: Pick<Context, "db" | "now">,
  tokens: readonly string[],
  requestId: string | null = null,
): Promise<{ readonly actor: SignedInActor; readonly token: string }> {
  const given = tokens.filter((token) => tokenForm.test(token));
  const person =
    given.length > 0 ? await findPerson(ctx.db, given.map(hashToken), ctx.now()) : undefined;
  const token = given.find((one) => person && hashToken(one).equals(person.token_hash));
  if (!person || token === undefined) throw notSignedIn();
  return { actor: { ...namedOperator(person.name), requestId, role: person.role }, token };
}

export async function signOut(
  ctx: Pick<Context, "db" | "now">,
  token: string,
  requestId: string | null = null,
): Promise<void> {
  const now = ctx.now();
  const actor = await findSignedIn(ctx, token, requestId);
  await ctx.db.transaction(async (tx) => {
    await revokeSession(tx, hashToken(token), now);
    const person = await findOperator(tx, personKey(actor.id));
    if (!person) throw new Error("whoever signed in is there");
    await recordChanges(tx, actor, [buildOperatorChange("sign_out", person)], now);
  });
}

/** Whether people were added; from then on live acts need a signed-in person. */
export async function hasPeople(ctx: Pick<Context, "db">): Promise<boolean> {
  return await hasOperators(ctx.db);
}

const secretBytes = 20;
const totpPurpose = "operators.totp";

type Enrolled = {
  readonly operator: OperatorView;
  /** For the authenticator app; shown once. */
  readonly totp_secret: string;
  readonly totp_uri: string;
};

/** An invited person sets a password and gets an authenticator secret. */
export async function enrolOperator(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  {
    name,
    codes,
    password,
    passwordCost,
    from,
    requestId = null,
  }: {
    readonly name: string;
    /** The address that the attempt comes from. */
    readonly from: string;
    readonly codes: readonly string[];
    readonly password: string;
    readonly passwordCost?: PasswordCost;
    readonly requestId?: string | null;
  },
): Promise<Enrolled> {
  const now = ctx.now();
  const nameKey = personKey(name);
  refuseWeakPassword(password, name);
  const attempt = { nameKey: `enrol ${nameKey}`, from, requestId };
  return await limitAttempts(ctx, attempt, async () => {
    const password_hash = await hashPassword(password, passwordCost);
    const secret = randomBytes(secretBytes);
    return await ctx.db.transaction(async (tx) => {
      await lockOperators(tx);
      const before = await findOperator(tx, nameKey);
      if (!before || !holdsCodes(before, codes, now)) throw badEnrolment();
      const after: OperatorRow = {
        ...before,
        password_hash,
        totp_sealed: seal(toBase32(secret), totpPurpose, ctx.sealKey),
        enrol_hashes: null,
        enrol_until: null,
        version: before.version + 1,
      };
      await setOperator(tx, after);
      const actor = { ...namedOperator(before.name), requestId };
      await recordChanges(tx, actor, [buildOperatorChange("enrol", after)], now);
      const totp_secret = toBase32(secret);
      const totp_uri = buildAuthenticatorUri(before.name, totp_secret);
      return { operator: viewOperator(after), totp_secret, totp_uri };
    });
  });
}

/** The sealed authenticator secrets, for a rotation of the master key. */
export function sealedAuthenticators({ db }: Pick<Context, "db">): SealedPlace {
  return {
    name: "authenticators",
    list: async (after, limit) => {
      const rows = await secretColumn.list(db, after, limit);
      return rows.map((row) => ({ ...row, purpose: totpPurpose }));
    },
    set: (rows) => secretColumn.set(db, rows),
  };
}

function findCodeStep(
  { now, sealKey }: Pick<Context, "now" | "sealKey">,
  { totp_sealed, totp_step }: OperatorRow,
  code: string,
): number | undefined {
  if (!totp_sealed) return undefined;
  const secret = fromBase32(open(totp_sealed, totpPurpose, sealKey));
  return findStep(secret, code, { now: now(), lastStep: totp_step });
}

/** A token has 256 random bits and needs no slow hash. */
function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
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
  return new Failure("unauthorized", "name or codes are wrong, or too old", { form: "edge" });
}
