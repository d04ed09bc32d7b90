import { createHash, randomBytes } from "node:crypto";

import { recordChanges } from "../events/record-changes.ts";
import { type Actor, type OperatorRole, operatorNamed, personKey } from "../kernel/actor.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { open } from "../platform/seal.ts";
import { limitAttempts } from "./attempts.ts";
import { changeOfOperator } from "./change-of-operator.ts";
import { totpPurpose } from "./enrol-operator.ts";
import { matchesPassword } from "./passwords.ts";
import { badSignIn, notSignedIn, sessionHours } from "./rules.ts";
import {
  findOperator,
  findPerson,
  hasOperators,
  insertSession,
  type OperatorRow,
  revokeSession,
  useStep,
} from "./store.ts";
import { findStep, fromBase32 } from "./totp.ts";

/** Nobody takes it for a desk's key, and scanners can find it. */
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
    requestId = null,
  }: {
    readonly name: string;
    readonly password: string;
    readonly code: string;
    readonly requestId?: string | null;
  },
): Promise<SignedIn> {
  const now = ctx.now();
  const nameKey = personKey(name);
  return await limitAttempts(ctx, nameKey, async () => {
    const person = await findOperator(ctx.db, nameKey);
    // The same work for whoever is not there.
    const matches = await matchesPassword(password, person?.password_hash ?? null);
    if (!matches || !person || person.disabled_at !== null) throw badSignIn();
    const step = findCodeStep(ctx, person, code);
    if (step === undefined) throw badSignIn();
    const token = tokenPrefix + randomBytes(32).toString("base64url");
    const expires_at = new Date(now.getTime() + sessionHours * 3_600_000);
    await ctx.db.transaction(async (tx) => {
      // Two who bring the same code at once are told apart here.
      if (!(await useStep(tx, person, step))) throw badSignIn();
      const { operator_id } = person;
      await insertSession(tx, {
        token_hash: hashToken(token),
        operator_id,
        created_at: now,
        expires_at,
      });
      const actor = { ...operatorNamed(person.name), requestId };
      await recordChanges(tx, actor, [changeOfOperator("sign_in", person, person)], now);
    });
    const { name: known, role } = person;
    return { token, name: known, role, expires_at: istTimestamp(expires_at) };
  });
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

/** The person whose token this is, with their role; refused when it does not hold any more. */
export async function findSignedIn(
  ctx: Pick<Context, "db" | "now">,
  token: string,
  requestId: string | null = null,
): Promise<Actor & { readonly role: OperatorRole }> {
  const person = tokenForm.test(token)
    ? await findPerson(ctx.db, hashToken(token), ctx.now())
    : undefined;
  if (!person) throw notSignedIn();
  return { ...operatorNamed(person.name), requestId, role: person.role };
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
    await recordChanges(tx, actor, [changeOfOperator("sign_out", person, person)], now);
  });
}

/** Whether anybody has been added: from then on live acts need a person. */
export async function knowsPeople(ctx: Pick<Context, "db">): Promise<boolean> {
  return await hasOperators(ctx.db);
}

/** A token has 256 random bits and needs no slow hash. */
function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
