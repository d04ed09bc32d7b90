import { randomBytes, timingSafeEqual } from "node:crypto";

import { recordChanges } from "../events/record-changes.ts";
import { operatorNamed, personKey } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import type { Context } from "../platform/context.ts";
import { seal } from "../platform/seal.ts";
import { hashCode } from "./add-operator.ts";
import { limitAttempts } from "./attempts.ts";
import { changeOfOperator, type OperatorView, viewOperator } from "./change-of-operator.ts";
import { hashPassword } from "./passwords.ts";
import { refuseWeakPassword } from "./rules.ts";
import { findOperator, lockOperators, type OperatorRow, setOperator } from "./store.ts";
import { authenticatorUri, toBase32 } from "./totp.ts";

const secretBytes = 20;
export const totpPurpose = "operators.totp";

export type Enrolled = {
  readonly operator: OperatorView;
  /** For the authenticator app, and shown this once. */
  readonly totp_secret: string;
  readonly totp_uri: string;
};

/** Whoever was let in chooses a password and gets the secret of their authenticator. */
export async function enrolOperator(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  {
    name,
    codes,
    password,
    requestId = null,
  }: {
    readonly name: string;
    readonly codes: readonly string[];
    readonly password: string;
    readonly requestId?: string | null;
  },
): Promise<Enrolled> {
  const now = ctx.now();
  const nameKey = personKey(name);
  refuseWeakPassword(password, name);
  return await limitAttempts(ctx, `enrol ${nameKey}`, async () => {
    const password_hash = await hashPassword(password);
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
      const actor = { ...operatorNamed(before.name), requestId };
      await recordChanges(tx, actor, [changeOfOperator("enrol", before, after)], now);
      const totp_secret = toBase32(secret);
      const totp_uri = authenticatorUri(before.name, totp_secret);
      return { operator: viewOperator(after), totp_secret, totp_uri };
    });
  });
}

/** Every code, in any order. */
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
