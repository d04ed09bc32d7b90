import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import {
  computeGstinCheckCharacter,
  findAccountNoProblem,
  findCinProblem,
  findEmailProblem,
  findGstinProblem,
  findIecProblem,
  findIfscProblem,
  findPanProblem,
  makeSyntheticPan,
  toInternationalPhone,
} from "./identifiers.ts";

test("a PAN has its form and the kind of its holder", () => {
  for (const pan of ["AAPFU0939F", "AAGCB7383J"]) assert.equal(findPanProblem(pan), undefined);
  for (const pan of ["AAPXU0939F", "AAPFU939F", "aapfu0939f", "AAPFU0939F1", "", "AAPFU0939\n"]) {
    assert.ok(findPanProblem(pan), pan);
  }
});

test("an IEC is the firm's own PAN, or ten digits", () => {
  assert.equal(findIecProblem("AAGCB7383J", "AAGCB7383J"), undefined);
  assert.equal(findIecProblem("0388012345", "AAGCB7383J"), undefined);
  assert.ok(findIecProblem("AAPFU0939F", "AAGCB7383J")?.includes("equal the PAN"));
  assert.ok(findIecProblem("038801234", "AAGCB7383J"));
});

test("the known GSTINs pass with their PAN and fail with another", () => {
  assert.equal(findGstinProblem("27AAPFU0939F1ZV", "AAPFU0939F"), undefined);
  assert.equal(findGstinProblem("29AAGCB7383J1Z4", "AAGCB7383J"), undefined);
  assert.ok(findGstinProblem("29AAGCB7383J1Z4", "AAPFU0939F")?.includes("3 to 12"));
  assert.ok(findGstinProblem("29AAGCB7383J1Z5", "AAGCB7383J")?.includes("check character"));
  assert.ok(findGstinProblem("29AAGCB7383J0Z4", "AAGCB7383J"));
});

const gstinBody = fc
  .tuple(
    fc.integer({ min: 1, max: 38 }),
    fc.string(),
    fc.constantFrom(..."123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("")),
  )
  .map(
    ([state, seed, entity]) =>
      `${String(state).padStart(2, "0")}${makeSyntheticPan(seed)}${entity}Z`,
  );
const digits36 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("");

test("exactly one of the 36 check characters fits a GSTIN", () => {
  fc.assert(
    fc.property(gstinBody, (body) => {
      const fitting = digits36.filter(
        (last) => findGstinProblem(`${body}${last}`, null) === undefined,
      );
      assert.deepEqual(fitting, [computeGstinCheckCharacter(body)]);
    }),
  );
});

test("a GSTIN with one mistyped character of its PAN is refused", () => {
  fc.assert(
    fc.property(
      gstinBody,
      fc.integer({ min: 0, max: 11 }),
      fc.integer({ min: 1, max: 35 }),
      (body, at, by) => {
        const known = body.charAt(at);
        const typed = digits36[(digits36.indexOf(known) + by) % 36] ?? "";
        const mistyped = `${body.slice(0, at)}${typed}${body.slice(at + 1)}`;
        assert.notEqual(computeGstinCheckCharacter(mistyped), computeGstinCheckCharacter(body));
      },
    ),
  );
});

test("a CIN belongs to a company", () => {
  assert.equal(findCinProblem("U51909KA2015PTC082321", "AAGCB7383J"), undefined);
  assert.ok(findCinProblem("U51909KA2015PTC082321", "AAPFU0939F")?.includes("companies only"));
  assert.ok(findCinProblem("X51909KA2015PTC082321", "AAGCB7383J"));
});

test("bank details, email and phone are checked by form", () => {
  assert.equal(findIfscProblem("HDFC0000001"), undefined);
  assert.ok(findIfscProblem("HDFC1000001"));
  for (const number of ["123456789", "123456789012345678"]) {
    assert.equal(findAccountNoProblem(number), undefined);
  }
  for (const number of ["12345678", "1234567890123456789", "12345678X"]) {
    assert.ok(findAccountNoProblem(number), number);
  }
  assert.equal(findEmailProblem("accounts@acme.example"), undefined);
  for (const email of ["acme", "a@b", "a b@c.in", "a@b..in", "@c.in"])
    assert.ok(findEmailProblem(email));
  assert.equal(toInternationalPhone("98200 12345"), "+919820012345");
  assert.equal(toInternationalPhone("022-2345-6789"), "+912223456789");
  assert.equal(toInternationalPhone("+44 20 7946 0000"), "+442079460000");
  for (const phone of ["12345", "1234567890", "+0123456789", "call me"]) {
    assert.equal(toInternationalPhone(phone), undefined, phone);
  }
});
