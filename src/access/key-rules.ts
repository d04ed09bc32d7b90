// An API key is four parts without separators: the environment's prefix, the key id, the secret,
// and a checksum that tells a key from noise without a look-up.
//
//   service_test_  01jd2m7q4x8r5v6w9y0abcdefg  k3…32 digits of base 62…Qp  0aZ3xK
//
// The secret has 190 random bits, too many to try, so it needs no slow hash: it is kept as a salted
// SHA-256.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

import {
  type Environment,
  includesScope,
  intersect,
  type Scope,
  scopes,
} from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { idBodyLength, idBodyPattern } from "../kernel/ids.ts";
import { isCleanText } from "../kernel/json.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import type { Paise } from "../kernel/money.ts";

export const keyLifecycle = {
  noun: "key",
  initial: ["active"],
  states: ["active", "expired", "revoked"],
  moves: {
    reissue: { from: ["active"], to: "active" },
    update: { from: ["active"], to: "active" },
    revoke: { from: ["active", "expired"], to: "revoked" },
    expire: { from: ["active"], to: "expired", by: "clock" },
  },
} as const satisfies Lifecycle<KeyState>;

export type KeyState = "active" | "expired" | "revoked";

/** What is stored of a secret. */
type SealedSecret = { readonly salt: Buffer; readonly secret_hash: Buffer };

export type ParsedKey = {
  readonly environment: Environment;
  readonly keyId: string;
  readonly secret: string;
};

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
export const keyNameLengthMax = 100;

const secretLength = 32;
const checksumLength = 6;
const hintLength = 4;
const saltBytes = 16;

const keyPrefixes = { live: "service_live_", sandbox: "service_test_" } as const;
const keyForm = new RegExp(
  `^(service_live_|service_test_)(${idBodyPattern})([0-9A-Za-z]{${secretLength}})([0-9A-Za-z]{${checksumLength}})$`,
);

/** A new key and the hash to store; the key itself is shown once and not stored. */
export function makeApiKey(environment: Environment, keyId: string) {
  const secret = makeRandomBase62(secretLength);
  const open = `${keyPrefixes[environment]}${keyId.slice(-idBodyLength)}${secret}`;
  const apiKey = `${open}${computeChecksum(open)}`;
  const salt = randomBytes(saltBytes);
  const sealed: SealedSecret = { salt, secret_hash: hashSecret(salt, secret) };
  return { apiKey, sealed: { ...sealed, hint: apiKey.slice(-hintLength) } };
}

/** The parts of a well-formed key; undefined for any other text. */
export function parseApiKey(text: string): ParsedKey | undefined {
  const [, prefix, idBody, secret, checksum] = keyForm.exec(text) ?? [];
  if (!prefix || !secret || checksum !== computeChecksum(text.slice(0, -checksumLength))) {
    return undefined;
  }
  const environment = prefix === keyPrefixes.live ? "live" : "sandbox";
  return { environment, keyId: `key_${idBody}`, secret };
}

/** The part of the text where a key has its id; nothing is checked. */
export function sliceIdBody(text: string): string {
  const start = keyPrefixes.live.length; // Both prefixes have one length.
  return text.slice(start, start + idBodyLength);
}

/** Compared with the secret of an unknown key id, so that it takes as long as a known one. */
export const dummySecret: SealedSecret = {
  salt: Buffer.alloc(saltBytes),
  secret_hash: Buffer.alloc(32),
};

export function matchesSecret(secret: string, { salt, secret_hash }: SealedSecret): boolean {
  return timingSafeEqual(hashSecret(salt, secret), secret_hash);
}

/** Enough to recognise a key: `service_test_…x3Kq`. */
export function maskKey(environment: Environment, hint: string): string {
  return `${keyPrefixes[environment]}…${hint}`;
}

/** The schema's rule for names, for names that come from the operator. */
export function isKeyName(text: string): boolean {
  const length = Array.from(text).length; // Characters, as the database counts them.
  return length >= 1 && length <= keyNameLengthMax && isCleanText(text);
}

export function findKeyState(
  key: { readonly revoked_at: Date | null; readonly expires_at: Date | null },
  now: Date,
): KeyState {
  if (key.revoked_at) return "revoked";
  if (key.expires_at && key.expires_at <= now) return "expired";
  return "active";
}

type Grant = {
  readonly scopes: readonly Scope[];
  readonly buySide: boolean;
  readonly withdrawals: boolean;
};

/** Refuses a child key what its parent does not hold. */
export function refuseExcess(
  parent: Pick<Grant, "scopes" | "buySide">,
  asked: Pick<Grant, "scopes" | "buySide">,
): void {
  const excess = asked.scopes.filter((scope) => !includesScope(parent.scopes, scope));
  if (excess.length > 0) {
    throw new Failure("forbidden", "a child key cannot hold a scope its parent does not", {
      detail: { reason: "scope_not_held", scopes: excess },
    });
  }
  if (asked.buySide && !parent.buySide) {
    throw new Failure("forbidden", "the buy side is not enabled on the parent key", {
      detail: { reason: "buy_side_not_held" },
    });
  }
}

/**
 * A caller sees itself and its own children; and keys whose scopes are among these, unless it is
 * confined, as those may be free of its limits.
 */
export type KeyVisibility = {
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly buySide: boolean;
  readonly confined: boolean;
};

/** Spells a `*` out as all scopes; only a `*` includes a `*`. */
export function toKeyVisibility({
  keyId,
  scopes: granted,
  buySide,
  confined,
}: KeyVisibility): KeyVisibility {
  return { keyId, scopes: granted.includes("*") ? scopes : granted, buySide, confined };
}

/**
 * A caller cannot read, change, revoke or re-issue a key with more rights than its own, except its
 * children.
 */
export function isKeyVisible(
  caller: KeyVisibility,
  key: {
    readonly key_id: string;
    readonly parent_key_id: string | null;
    readonly scopes: readonly Scope[];
    readonly buy_side: boolean;
  },
): boolean {
  if (key.key_id === caller.keyId || key.parent_key_id === caller.keyId) return true;
  const { scopes: reached, buySide, confined } = toKeyVisibility(caller);
  if (confined) return false;
  return key.scopes.every((scope) => reached.includes(scope)) && (buySide || !key.buy_side);
}

export function refuseMoreChildren({
  children,
  child_keys_max,
}: {
  readonly children: number;
  readonly child_keys_max: number;
}): void {
  if (children < child_keys_max) return;
  throw new Failure("conflict", "the desk has as many child keys as its plan allows", {
    detail: { reason: "child_keys_used_up", child_keys_max },
  });
}

/** What a key may commit per deal and per day; null for no limit. */
export type MoneyLimits = {
  readonly max_order_paise: Paise | null;
  readonly daily_notional_paise: Paise | null;
};

/** The limit that a deal would break, given what the key has committed today. */
export function findBrokenLimit(
  limits: MoneyLimits,
  { paise, spent }: { readonly paise: Paise; readonly spent: Paise },
): keyof MoneyLimits | undefined {
  const { max_order_paise: onceMax, daily_notional_paise: dayMax } = limits;
  if (onceMax !== null && paise > onceMax) return "max_order_paise";
  return dayMax !== null && spent + paise > dayMax ? "daily_notional_paise" : undefined;
}

/** The key's own grant, limited to what its parent holds now. */
export function intersectGrants(own: Grant, parent: Grant | undefined): Grant {
  if (!parent) return own;
  return {
    scopes: intersect(own.scopes, parent.scopes),
    buySide: own.buySide && parent.buySide,
    withdrawals: own.withdrawals && parent.withdrawals,
  };
}

function hashSecret(salt: Buffer, secret: string): Buffer {
  return createHash("sha256").update(salt).update(secret).digest();
}

function computeChecksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let digit = 0; digit < checksumLength; digit++) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Rejects bytes from 248 up (4 × 62), so that every digit is equally likely. */
function makeRandomBase62(length: number): string {
  let digits = "";
  while (digits.length < length) {
    for (const byte of randomBytes(length - digits.length)) {
      if (byte < 248) digits += base62.charAt(byte % 62);
    }
  }
  return digits;
}
