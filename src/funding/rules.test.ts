import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import {
  alphabets,
  buildNumber,
  findFormProblems,
  hasForm,
  type NumberForm,
  readSerial,
} from "./rules.ts";

const forms: readonly NumberForm[] = [
  { prefix: "SCRIP", length: 16, alphabet: "letters", ifsc: "HDFC0000001" },
  { prefix: "9988", length: 14, alphabet: "digits", ifsc: "HDFC0000001" },
];

const anyForm = fc.constantFrom(...forms);
const serials = fc.integer({ min: 1, max: 99_999_999 });

test("a number of a firm is of its form and gives its serial number back", () => {
  fc.assert(
    fc.property(anyForm, serials, (form, serial) => {
      const number = buildNumber(form, serial);
      assert.ok(hasForm(form, number), number);
      assert.equal(readSerial(form, number), serial);
    }),
  );
});

test("one wrong digit or letter, or two that changed places, make no number of anybody", () => {
  fc.assert(
    fc.property(anyForm, serials, fc.nat(), fc.nat(), (form, serial, where, by) => {
      const number = buildNumber(form, serial);
      const at = form.prefix.length + (where % (number.length - form.prefix.length));
      const isDigit = alphabets.digits.includes(number.charAt(at));
      const alphabet = isDigit ? alphabets.digits : alphabets.letters.slice(10);
      const known = alphabet.indexOf(number.charAt(at));
      const wrong = alphabet.charAt((known + 1 + (by % (alphabet.length - 1))) % alphabet.length);
      const mistyped = number.slice(0, at) + wrong + number.slice(at + 1);
      assert.equal(readSerial(form, mistyped), undefined, `${number} ${mistyped}`);
      const isNextDigit = alphabets.digits.includes(number.charAt(at + 1));
      const isOfOneKind = at + 1 < number.length && isDigit === isNextDigit;
      if (isOfOneKind && number[at] !== number[at + 1]) {
        const swapped =
          number.slice(0, at) + number.charAt(at + 1) + number.charAt(at) + number.slice(at + 2);
        assert.equal(readSerial(form, swapped), undefined, `${number} ${swapped}`);
      }
    }),
  );
});

test("a form has a prefix, room for a million firms and a branch", () => {
  const [form = forms[0]!] = forms;
  assert.deepEqual(findFormProblems(form), []);
  const wrong: readonly [Partial<NumberForm>, string][] = [
    [{ prefix: "SC" }, "prefix"],
    [{ prefix: "scrip" }, "prefix"],
    [{ length: 12 }, "length"],
    [{ length: 31 }, "length"],
    [{ ifsc: "HDFC" }, "ifsc"],
  ];
  for (const [change, path] of wrong) {
    const found = findFormProblems({ ...form, ...change });
    assert.deepEqual(
      found.map((problem) => problem.path),
      [path],
    );
  }
});
