import { createHash, randomBytes } from "node:crypto";

import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, namedOperator, type OperatorRole, personKey } from "../kernel/actor.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { SealedPlace } from "../platform/master-key.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { open } from "../platform/seal.ts";
import { findStep, fromBase32, hashRecoveryCode, matchesPassword } from "./credentials.ts";
import { limitAttempts } from "./limit-attempts.ts";
import { buildOperatorChange } from "./manage-operators.ts";
import { badSignIn, notSignedIn, sessionHours } from "./rules.ts";
import {
  findOperator,
  findPerson,
  hasOperators,
  insertSession,
  type OperatorRow,
  revokeSession,
  secretColumn,
  useRecoveryCode,
  useStep,
} from "./store.ts";

/** Distinguishes tokens from desks' keys, and lets secret scanners find them. */
export const tokenPrefix = "operator_";
const tokenForm = /^operator_[A-Za-z0-9_-]{43}$/;

export type SignedIn = {
  readonly token: string;
  readonly name: string;
  readonly role: OperatorRole;
  readonly expires_at: string;
  readonly recovery_codes_left: number;
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
    const proof = findProof(ctx, person, code);
    if (!proof) throw badSignIn();
    const token = tokenPrefix + randomBytes(32).toString("base64url");
    const expires_at = new Date(now.getTime() + sessionHours * 3_600_000);
    const recovery_codes_left = await ctx.db.transaction(async (tx) => {
      const actor = { ...namedOperator(person.name), requestId };
      const left = await spendProof(tx, person, { proof, actor, now });
      const { operator_id } = person;
      await insertSession(tx, {
        token_hash: hashToken(token),
        operator_id,
        created_at: now,
        expires_at,
        proved_at: null,
      });
      await recordChanges(tx, actor, [buildOperatorChange("sign_in", person)], now);
      return left;
    });
    const { name: known, role } = person;
    return { token, name: known, role, expires_at: istTimestamp(expires_at), recovery_codes_left };
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
  const { name, role, proved_at: provedAt } = person;
  const actor = { ...namedOperator(name), requestId, role, ...(provedAt && { provedAt }) };
  return { actor, token };
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

/** How a person signs in; nobody who is called so has no way. */
export async function describeSignIn({ db }: Pick<Context, "db">, name: string) {
  const person = await findOperator(db, personKey(name));
  return {
    directory: typeof person?.directory_subject === "string",
    recovery_codes_left: person?.recovery_hashes.length ?? 0,
  };
}

/** Whether people were added; from then on live acts need a signed-in person. */
export async function hasPeople(ctx: Pick<Context, "db">): Promise<boolean> {
  return await hasOperators(ctx.db);
}

export const totpPurpose = "operators.totp";

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

/** A code of the authenticator, or a recovery code in its place. */
type Proof =
  | { readonly kind: "step"; readonly step: number }
  | { readonly kind: "recovery"; readonly hash: Buffer };

/** What a code proves before it is used up; undefined when it is wrong. */
export function findProof(
  { now, sealKey }: Pick<Context, "now" | "sealKey">,
  { totp_sealed, totp_step, recovery_hashes }: OperatorRow,
  code: string,
): Proof | undefined {
  if (!totp_sealed) return undefined;
  const hash = hashRecoveryCode(code);
  if (hash)
    return recovery_hashes.some((one) => one.equals(hash)) ? { kind: "recovery", hash } : undefined;
  const secret = fromBase32(open(totp_sealed, totpPurpose, sealKey));
  const step = findStep(secret, code, { now: now(), lastStep: totp_step });
  return step === undefined ? undefined : { kind: "step", step };
}

/** Uses up what proves; only one of two concurrent uses can. Tells how many recovery codes are left. */
export async function spendProof(
  tx: Tx,
  person: OperatorRow,
  { proof, actor, now }: { readonly proof: Proof; readonly actor: Actor; readonly now: Date },
): Promise<number> {
  if (proof.kind === "step") {
    if (!(await useStep(tx, person, proof.step))) throw badSignIn();
    return person.recovery_hashes.length;
  }
  const left = await useRecoveryCode(tx, person, proof.hash);
  if (left === undefined) throw badSignIn();
  await recordChanges(tx, actor, [buildOperatorChange("use_recovery_code", person)], now);
  return left;
}

/** A token has 256 random bits and needs no slow hash. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
