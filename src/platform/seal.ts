// Encrypts values that must not be readable at rest, with AES-256-GCM. The purpose is authenticated
// with the value, so a sealed value cannot be opened in another place.
//
// A seal key is one key, or two during a rotation of the master key: the first seals, either opens.

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const nonceBytes = 12;
const tagBytes = 16;
// Without a fixed length, Node would accept a tag that was truncated to four bytes.
const tagOptions = { authTagLength: tagBytes };

const keyBytes = 32;

/** The first key, which seals. */
export function sealingKey(sealKey: Buffer): Buffer {
  return sealKey.subarray(0, keyBytes);
}

/** All keys, the one that seals first. */
export function splitSealKeys(sealKey: Buffer): Buffer[] {
  const keys = Array.from({ length: sealKey.length / keyBytes }, (_, at) => at * keyBytes);
  return keys.map((from) => sealKey.subarray(from, from + keyBytes));
}

export function seal(text: string, purpose: string, sealKey: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", sealingKey(sealKey), nonce, tagOptions).setAAD(
    Buffer.from(purpose),
  );
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

export function open(sealed: Buffer, purpose: string, sealKey: Buffer): string {
  if (sealKey.length <= keyBytes) return openWith(sealed, purpose, sealKey);
  try {
    return openWith(sealed, purpose, sealingKey(sealKey));
  } catch {
    return openWith(sealed, purpose, sealKey.subarray(keyBytes));
  }
}

/** Whether the value is sealed with the first key. */
export function isSealedAnew(sealed: Buffer, purpose: string, sealKey: Buffer): boolean {
  try {
    openWith(sealed, purpose, sealingKey(sealKey));
    return true;
  } catch {
    return false;
  }
}

function openWith(sealed: Buffer, purpose: string, key: Buffer): string {
  const nonce = sealed.subarray(0, nonceBytes);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, tagOptions)
    .setAAD(Buffer.from(purpose))
    .setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  const text = [decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()];
  return Buffer.concat(text).toString("utf8");
}
