import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { Failure } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import { rupeesPlain } from "../kernel/money.ts";
import { genericStatement, parseStatement, parseStatementFormat } from "./read-statement.ts";
import {
  bankLineLifecycle,
  bankLineStates,
  isRemitter,
  type MatchContext,
  buildLineKeys,
  buildReference,
  findMentions,
  listUtrs,
  planLine,
  type StatementLine,
  parseUtr,
} from "./rules.ts";

const blank: StatementLine = {
  ordinal: 1,
  day: "2026-11-15",
  direction: "credit",
  paise: 100,
  reference: "HDFCR52026000000001",
  narration: "",
  remitterName: "",
  remitterAccount: "",
  balancePaise: null,
};

const nothing: MatchContext = {
  remittances: new Map(),
  byUtr: new Map(),
  returning: new Map(),
  targets: new Map(),
  payments: [],
  remitters: new Map(),
};

test("a bank line has six moves and no other", () => {
  const edges = new Set([
    "new match",
    "new queue",
    "new repeat",
    "queued assign",
    "queued send_back",
    "returning return",
  ]);
  for (const state of bankLineStates) {
    for (const action of Object.keys(
      bankLineLifecycle.moves,
    ) as (keyof typeof bankLineLifecycle.moves)[]) {
      const go = () => advance(bankLineLifecycle, state, action);
      if (edges.has(`${state} ${action}`)) go();
      else assert.throws(go, Failure);
    }
  }
});

test("a line has the same key in every file, and equal lines of one file have different keys", () => {
  const some = fc.array(
    fc.record({
      paise: fc.integer({ min: 1, max: 3 }),
      reference: fc.constantFrom("A1", "a-1", ""),
      narration: fc.constantFrom("X", "Y"),
      direction: fc.constantFrom("credit" as const, "debit" as const),
    }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(some, some, (first, more) => {
      const lines = [...first, ...more].map((line, at) => ({ ...blank, ...line, ordinal: at + 1 }));
      const keys = buildLineKeys(lines);
      assert.equal(new Set(keys).size, lines.length);
      assert.deepEqual(buildLineKeys(lines.slice(0, first.length)), keys.slice(0, first.length));
    }),
  );
});

test("an id is found in any spelling that banks use, and a generated reference has the form of a UTR", () => {
  const now = new Date("2026-11-15T10:00:00Z");
  const bent = fc.constantFrom(
    (id: string) => id,
    (id: string) => id.toUpperCase(),
    (id: string) => id.replace("_", " "),
    (id: string) => `CR${id.replace("_", "-")}/X`,
    (id: string) => id.replace("_", "").replace(/(.{9})/, "$1 "),
  );
  fc.assert(
    fc.property(
      fc.constantFrom("stl" as const, "crs" as const, "frm" as const),
      bent,
      (kind, bend) => {
        const id = newId(kind, now);
        assert.ok(findMentions({ ...blank, narration: `NEFT ${bend(id)}` }).ids.includes(id));
      },
    ),
  );
  const [key = ""] = buildLineKeys([blank]);
  assert.equal(parseUtr(buildReference(key)), buildReference(key));
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

test("the UTR of a line has no part in its key", () => {
  fc.assert(
    fc.property(neft, filler, (utr, words) => {
      const line = { ...blank, reference: "CHQ 1", narration: `NEFT-${utr} ${words}` };
      const same = { ...line, narration: "" };
      assert.deepEqual(buildLineKeys([line]), buildLineKeys([same]));
    }),
  );
});

test("a remitter is identified by account or whole name, and never by an empty one", () => {
  const firm = { accountNo: "50200012345678", names: ["Acme Exports Pvt. Ltd."] };
  const from = (remitterName: string, remitterAccount: string) =>
    isRemitter({ ...blank, remitterName, remitterAccount }, firm);
  assert.ok(from("ACME EXPORTS PVT LTD", ""));
  assert.ok(from("anybody", "5020 0012 345678"));
  assert.ok(!from("", ""));
  assert.ok(!from("ACME EXPORTS", "50200012345679"));
  assert.ok(!isRemitter({ ...blank, remitterAccount: "1" }, { accountNo: null, names: [""] }));
});

test("a line that names two deals, or a deal and another firm, goes to the queue", () => {
  const now = new Date("2026-11-15T10:00:00Z");
  const [one, two] = [newId("stl", now), newId("stl", now)];
  const remitters = new Map([["a", { accountNo: null, names: ["A"] }]]);
  const targets = new Map([
    [one, { firmId: "a", dealId: one }],
    [two, { firmId: "a", dealId: two }],
  ]);
  const known = { ...nothing, targets, remitters };
  const plan = (narration: string) => planLine({ ...blank, narration, remitterName: "a" }, known);
  assert.deepEqual(plan(one), { to: "deposit", firm_id: "a", deal_id: one });
  assert.deepEqual(plan(`${one} ${two}`), { to: "queue", reason: "ambiguous_reference" });
  assert.deepEqual(plan(""), { to: "queue", reason: "no_reference" });
  assert.deepEqual(plan(newId("stl", now)), { to: "queue", reason: "unknown_reference" });
});

test("a written statement reads back with its lines, opening and closing balance", async () => {
  const line = fc.record({
    paise: fc.integer({ min: 1, max: 9_000_000_000_000 }),
    isDebit: fc.boolean(),
    narration: fc.stringMatching(/^[A-Z0-9 "',;]{0,20}$/),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 6 }), async (lines) => {
      let balance = 0;
      const rows = lines.map(({ paise, isDebit, narration }) => {
        balance += isDebit ? -paise : paise;
        const cells = isDebit ? [rupeesPlain(paise), ""] : ["", rupeesPlain(paise)];
        const quoted = `"${narration.replaceAll('"', '""')}"`;
        return ["2026-11-15", "R1", quoted, ...cells, rupeesPlain(balance), "", ""].join(",");
      });
      const heading =
        "Date,Reference,Description,Debit,Credit,Balance,Remitter_name,Remitter_account";
      const read = await parseStatement([heading, ...rows].join("\n"), genericStatement);
      assert.deepEqual(
        read.lines.map(({ paise, direction, narration }) => [paise, direction, narration]),
        lines.map(({ paise, isDebit, narration }) => [
          paise,
          isDebit ? "debit" : "credit",
          narration.trim(),
        ]),
      );
      assert.deepEqual([read.openingPaise, read.closingPaise], [0, balance]);
    }),
  );
});

test("a table of headings reads a bank's own format, and a missing column is named", async () => {
  const format = parseStatementFormat({
    name: "first-bank",
    day: "Txn Date",
    reference: "Chq/Ref",
    narration: "Particulars",
    amount: "Amount",
    direction: "Cr/Dr",
  });
  const text =
    'Txn Date,Chq/Ref,Particulars,Amount,Cr/Dr\n05-Nov-2026,ABC,Hello,"1,23,456.50",DR\n';
  const [line] = (await parseStatement(text, format)).lines;
  assert.deepEqual([line?.day, line?.direction, line?.paise], ["2026-11-05", "debit", 12_345_650]);
  await assert.rejects(parseStatement(`"Txn Date"x${text.slice(8)}`, format), (error) => {
    assert.match(JSON.stringify((error as Failure).detail), /row 1.*text follows a closing/);
    return true;
  });
  const problem = (value: unknown) => () => parseStatementFormat(value);
  assert.throws(problem({ ...format, amount: undefined }), Failure);
  assert.throws(problem({ ...format, debit: "D", credit: "C" }), Failure);
  assert.throws(problem({ ...format, colour: "red" }), Failure);
  assert.throws(problem(null), Failure);
});
