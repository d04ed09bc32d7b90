// The two factors of a person's sign-in. A password is stored as a salted scrypt hash, so that every
// guess costs time and 32 MiB of memory. A code comes from an authenticator app: TOTP of RFC 6238 over
// HMAC-SHA-1, six digits, steps of 30 seconds. Where the app is lost a recovery code takes its place.

import { createHash, createHmac, randomBytes, scrypt, timingSafeEqual } from "node:crypto";

/** Of scrypt: how often, how wide, how many at once. */
export type PasswordCost = { readonly N: number; readonly r: number; readonly p: number };

/** Of new passwords; one that is stored is compared at the cost it was stored with. */
const cost: PasswordCost = { N: 32_768, r: 8, p: 1 };
const maxmem = 64 * 1_024 * 1_024;
const saltBytes = 16;
const hashBytes = 32;

const stepS = 30;
const digits = 6;
/** Tolerates a clock that is one step off, and slow typing. */
const stepsEitherSide = 1;

const base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** `scrypt$N$r$p$salt$hash`: the cost is stored, so that it can be raised later. */
export async function hashPassword(password: string, at: PasswordCost = cost): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await derive(password, salt, at);
  const { N, r, p } = at;
  return ["scrypt", N, r, p, salt.toString("base64"), hash.toString("base64")].join("$");
}

/** Without a stored hash it does the same work and never matches: no timing difference. */
export async function matchesPassword(password: string, kept: string | null): Promise<boolean> {
  const [, N = cost.N, r = cost.r, p = cost.p, salt = "", hash = ""] = kept?.split("$") ?? [];
  const expected = Buffer.from(hash, "base64");
  const at = { N: Number(N), r: Number(r), p: Number(p) };
  const derived = await derive(password, Buffer.from(salt, "base64"), at);
  return expected.length === hashBytes && timingSafeEqual(derived, expected);
}

export function computeStep(now: Date): number {
  return Math.floor(now.getTime() / 1_000 / stepS);
}

export function computeCode(secret: Buffer, step: number, length = digits): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** length).padStart(length, "0");
}

/** The step of a correct code; undefined when it is wrong or its step was used. */
export function findStep(
  secret: Buffer,
  code: string,
  { now, lastStep }: { readonly now: Date; readonly lastStep: number },
): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const given = Buffer.from(code);
  const current = computeStep(now);
  let found: number | undefined;
  for (let step = current - stepsEitherSide; step <= current + stepsEitherSide; step++) {
    const isRight = timingSafeEqual(Buffer.from(computeCode(secret, step)), given);
    if (isRight && step > lastStep) found ??= step;
  }
  return found;
}

export function toBase32(bytes: Buffer): string {
  let bits = "";
  for (const byte of bytes) bits += byte.toString(2).padStart(8, "0");
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => base32.charAt(Number.parseInt(five.padEnd(5, "0"), 2)))
    .join("");
}

export function fromBase32(text: string): Buffer {
  const bits = text.split("").map((letter) => base32.indexOf(letter).toString(2).padStart(5, "0"));
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

const recoveryCodes = 10;
const recoveryBytes = 10;
const recoveryForm = /^[A-Z2-7]{16}$/;

/** Codes that each take the place of a code of the authenticator once, as people write them down. */
export function makeRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodes }, () => {
    const letters = toBase32(randomBytes(recoveryBytes)).toLowerCase();
    return letters.match(/.{4}/g)?.join("-") ?? "";
  });
}

/** A recovery code has 80 random bits and needs no slow hash; undefined for what cannot be one. */
export function hashRecoveryCode(code: string): Buffer | undefined {
  const letters = code.replaceAll(/[\s-]/g, "").toUpperCase();
  return recoveryForm.test(letters) ? createHash("sha256").update(letters).digest() : undefined;
}

/** The content of the QR code that apps scan. */
export function buildAuthenticatorUri(name: string, secret: string): string {
  const label = encodeURIComponent(`Scripdesk:${name}`);
  return `otpauth://totp/${label}?secret=${secret}&issuer=Scripdesk`;
}

function derive(password: string, salt: Buffer, at: PasswordCost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFKC"), salt, hashBytes, { ...at, maxmem }, (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}
