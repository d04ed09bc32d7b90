// Passwords are stored as salted scrypt hashes, so that every guess costs time and 32 MiB of memory.

import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

const cost = { N: 32_768, r: 8, p: 1, maxmem: 64 * 1_024 * 1_024 } as const;
const saltBytes = 16;
const hashBytes = 32;

function derive(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFKC"), salt, hashBytes, cost, (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}

/** `scrypt$N$r$p$salt$hash`: the cost is stored, so that it can be raised later. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await derive(password, salt);
  const { N, r, p } = cost;
  return ["scrypt", N, r, p, salt.toString("base64"), hash.toString("base64")].join("$");
}

/** Without a stored hash it does the same work and never matches: no timing difference. */
export async function matchesPassword(password: string, kept: string | null): Promise<boolean> {
  const [, , , , salt = "", hash = ""] = (kept ?? "").split("$");
  const expected = Buffer.from(hash, "base64");
  const derived = await derive(password, Buffer.from(salt, "base64"));
  return expected.length === hashBytes && timingSafeEqual(derived, expected);
}
