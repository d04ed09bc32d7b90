import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { parseUtr } from "./mention-rules.ts";
import { buildReference, buildTextKeys, type ComparedLine, findRepeated } from "./repeat-rules.ts";

type Paid = {
  readonly paise: number;
  readonly direction: "credit" | "debit";
  readonly text: string;
};

let files = 0;

/** The lines of one export, with or without balances, in a spelling of its own. */
function exported(
  all: readonly Paid[],
  { from = 0, to = all.length, hasBalance = true, spell = (text: string) => text } = {},
): ComparedLine[] {
  const file = ++files;
  let balance = 1_000;
  const written = all.map(({ paise, direction, text }) => {
    balance += direction === "credit" ? paise : -paise;
    const balancePaise = hasBalance ? balance : null;
    return { day: "2026-11-15", direction, paise, reference: "", narration: text, balancePaise };
  });
  const part = written.slice(from, to);
  const keys = buildTextKeys(part.map((line) => ({ ...line, narration: spell(line.narration) })));
  return part.map((line, at) => ({
    line_id: `${file}/${from + at}`,
    day: line.day,
    direction: line.direction,
    paise: line.paise,
    balance_paise: line.balancePaise,
    text_key: keys[at] ?? "",
    utr: null,
    other_utrs: [],
  }));
}

/** Imports exports one after the other; the lines that count, and those that nothing tells. */
function importAll(exports: readonly ComparedLine[][]) {
  const counted: ComparedLine[] = [];
  const doubtful: ComparedLine[] = [];
  for (const lines of exports) {
    const found = findRepeated(lines, counted);
    for (const line of lines) {
      const repeat = found.get(line.line_id);
      if (repeat && !repeat.isSure) doubtful.push(line);
    }
    counted.push(...lines.filter((line) => found.get(line.line_id)?.isSure !== true));
  }
  return { counted: counted.filter((line) => !doubtful.includes(line)), doubtful };
}

const paid = fc.record({
  paise: fc.integer({ min: 1, max: 2 }),
  direction: fc.constantFrom("credit" as const, "credit" as const, "debit" as const),
  text: fc.constantFrom("NEFT ACME", "NEFT OTHER"),
});
const day = fc.array(paid, { minLength: 1, maxLength: 8 });
const spelling = fc.constantFrom(
  (text: string) => text,
  (text: string) => text.toLowerCase(),
  (text: string) => text.replace(" ", "  "),
);

test("exports from the start of a day count every line once, equal ones too, with and without balances", () => {
  const cuts = fc.array(fc.tuple(fc.nat(8), spelling, fc.boolean()), { maxLength: 4 });
  fc.assert(
    fc.property(day, cuts, (all, parts) => {
      const growing = parts.toSorted(([a], [b]) => a - b);
      const exports = [...growing, [all.length, (text: string) => text, true] as const];
      const { counted, doubtful } = importAll(
        exports.map(([to, spell, hasBalance]) => exported(all, { to, spell, hasBalance })),
      );
      assert.equal(counted.length, all.length);
      assert.deepEqual(doubtful, []);
    }),
  );
});

test("with balances, parts of a day in any order count every credit once", () => {
  const parts = fc.array(fc.tuple(fc.nat(8), fc.nat(8), spelling), { maxLength: 4 });
  fc.assert(
    fc.property(day, parts, (all, cuts) => {
      const credits = all.map((each) => ({ ...each, direction: "credit" as const }));
      const exports = cuts.map(([from, to, spell]) => exported(credits, { from, to, spell }));
      const { counted, doubtful } = importAll([...exports, exported(credits)]);
      assert.equal(counted.length, credits.length);
      assert.deepEqual(doubtful, []);
    }),
  );
});

test("without balances, a line of a part of a day is doubtful where an earlier file had one like it", () => {
  const twice = [
    { paise: 1, direction: "credit", text: "A" },
    { paise: 2, direction: "credit", text: "B" },
    { paise: 1, direction: "credit", text: "A" },
  ] as const;
  const bare = { hasBalance: false };
  const morning = exported(twice, { ...bare, to: 2 });
  const evening = exported(twice, { ...bare, from: 2 });
  const { counted, doubtful } = importAll([morning, evening]);
  assert.deepEqual([counted.length, doubtful.length], [2, 1]);
});

test("a line with the balance of another and a UTR of its own is doubtful", () => {
  const [one = assert.fail()] = exported([{ paise: 5, direction: "credit", text: "A" }]);
  const first = { ...one, utr: "HDFCN2026000001" };
  const found = findRepeated(
    [{ ...one, line_id: "again", text_key: "other", utr: "HDFCN2026000002" }],
    [first],
  );
  assert.deepEqual(found.get("again"), { lineId: one.line_id, isSure: false });
});

test("a reference of our own has the form of a UTR", () => {
  const reference = buildReference("bln_1");
  assert.equal(parseUtr(reference), reference);
});
