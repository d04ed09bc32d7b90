import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import {
  computeCode,
  computeStep,
  findStep,
  fromBase32,
  hashPassword,
  matchesPassword,
  toBase32,
} from "./credentials.ts";

const secret = Buffer.from("12345678901234567890");

test("codes are those of RFC 6238, appendix B", () => {
  const vectors = [
    [59, "94287082"],
    [1_111_111_109, "07081804"],
    [1_111_111_111, "14050471"],
    [1_234_567_890, "89005924"],
    [2_000_000_000, "69279037"],
    [20_000_000_000, "65353130"],
  ] as const;
  for (const [seconds, code] of vectors) {
    assert.equal(computeCode(secret, computeStep(new Date(seconds * 1_000)), 8), code);
    assert.equal(computeCode(secret, computeStep(new Date(seconds * 1_000))), code.slice(2));
  }
});

test("counters give the codes of RFC 4226, appendix D", () => {
  const codes = ["755224", "287082", "359152", "969429", "338314", "254676"];
  assert.deepEqual(
    codes.map((_, counter) => computeCode(secret, counter)),
    codes,
  );
});

test("a code is accepted one step early or late, and never twice", () => {
  const now = new Date("2026-11-16T09:00:00Z");
  const step = computeStep(now);
  for (const off of [-2, -1, 0, 1, 2]) {
    const found = findStep(secret, computeCode(secret, step + off), { now, lastStep: 0 });
    assert.equal(found, Math.abs(off) <= 1 ? step + off : undefined);
  }
  assert.equal(findStep(secret, computeCode(secret, step), { now, lastStep: step }), undefined);
  assert.equal(findStep(secret, computeCode(secret, step - 1), { now, lastStep: step }), undefined);
  for (const wrong of ["", "12345", "1234567", "abcdef", "١٢٣٤٥٦"]) {
    assert.equal(findStep(secret, wrong, { now, lastStep: 0 }), undefined);
  }
});

test("secrets survive encoding in base 32 as authenticator apps read it", () => {
  assert.equal(toBase32(secret), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (bytes) => {
      assert.deepEqual(fromBase32(toBase32(Buffer.from(bytes))), Buffer.from(bytes));
    }),
  );
});

test("a password is compared at the cost it was stored with", async () => {
  const cheaper = await hashPassword("correct horse", { N: 1_024, r: 8, p: 1 });
  assert.match(cheaper, /^scrypt\$1024\$8\$1\$/);
  assert.equal(await matchesPassword("correct horse", cheaper), true);
  assert.equal(await matchesPassword("wrong horse", cheaper), false);
  assert.equal(await matchesPassword("correct horse", await hashPassword("correct horse")), true);
  assert.equal(await matchesPassword("", null), false);
});
