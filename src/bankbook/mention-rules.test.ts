import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { newId } from "../kernel/ids.ts";
import { findMentions, hasName, listUtrs } from "./mention-rules.ts";

test("an id is found as a whole word in any spelling that banks use", () => {
  const now = new Date("2026-11-15T10:00:00Z");
  const bent = fc.constantFrom(
    (id: string) => id,
    (id: string) => id.toUpperCase(),
    (id: string) => id.replace("_", " "),
    (id: string) => `CR/${id.replace("_", "-")}/X`,
    (id: string) => id.replace("_", "").replace(/(.{9})/, "$1 "),
  );
  fc.assert(
    fc.property(
      fc.constantFrom("stl" as const, "crs" as const, "frm" as const),
      bent,
      (kind, bend) => {
        const id = newId(kind, now);
        const ids = (narration: string) => findMentions({ reference: "", narration }).ids;
        assert.ok(ids(`NEFT ${bend(id)}`).includes(id));
        assert.deepEqual(ids(`NEFT CR${id.replace("_", "")}`), [], "within a word");
        assert.deepEqual(ids(`NEFT ${id}X`), [], "within a word");
      },
    ),
  );
});

/** Words that banks write around a UTR, account numbers among them. */
const filler = fc.constantFrom(
  "ACME EXPORTS PVT LTD",
  "INTERNATIONALLTD",
  "A/C 501000123456",
  "50200012345678",
  "9876543210@OKBANK",
  "HDFC0001234",
  "27AAPFU0939F1ZV",
  "SD01ARZ3NDEK5123",
  "",
);
const digits = (count: number) => fc.stringMatching(new RegExp(`^[0-9]{${count}}$`));
const bankCode = fc.constantFrom("HDFC", "SBIN", "ICIC", "UTIB");
const neft = fc.tuple(bankCode, digits(12)).map((parts) => parts.join(""));
const rtgs = fc.tuple(bankCode, digits(16)).map(([bank, serial]) => `${bank}R5${serial}`);
const instant = digits(12);
const rail = fc.constantFrom("IMPS/", "IMPS-P2A-", "UPI/CR/", "UPI ", "imps ref no. ");

test("a UTR is taken from the narration in every form, and an account number never", () => {
  const mention = fc.oneof(
    fc.tuple(neft, fc.constantFrom("NEFT-", "NEFT CR ", "")),
    fc.tuple(rtgs, fc.constantFrom("RTGS/", "")),
    fc.tuple(instant, rail),
  );
  fc.assert(
    fc.property(mention, filler, filler, fc.boolean(), ([utr, before], left, right, isLower) => {
      const text = `${left} ${before}${utr}/${right}`;
      const narration = isLower ? text.toLowerCase() : text;
      assert.deepEqual(listUtrs({ reference: "12345", narration }), [utr]);
      const column = "HDFCR52026000000001";
      assert.deepEqual(listUtrs({ reference: column, narration }), [column, utr]);
    }),
  );
  fc.assert(
    fc.property(fc.array(filler, { maxLength: 4 }), digits(12), (words, account) => {
      const narration = [...words, "NEFT CR", account, "FROM", account].join(" ");
      assert.deepEqual(listUtrs({ reference: "", narration }), []);
      assert.deepEqual(listUtrs({ reference: "", narration: `IMPS FROM A/C ${account}` }), []);
    }),
  );
});

test("a name is found as a whole word or as words in a row, and never within a word", () => {
  const has = (narration: string, name: string) => hasName({ reference: "", narration }, name);
  assert.ok(has("neft pay-2026-0042 acme", "PAY/2026/0042"));
  assert.ok(has("NEFT PAY 20260042", "PAY20260042"));
  assert.ok(!has("NEFT PAY202600429", "PAY20260042"));
  assert.ok(!has("NEFT XPAY 2026 0042", "PAY20260042"));
  assert.ok(hasName({ reference: "PAY20260042", narration: "" }, "pay20260042"));
  assert.ok(!hasName({ reference: "PAY2026", narration: "0042" }, "PAY20260042"));
});
