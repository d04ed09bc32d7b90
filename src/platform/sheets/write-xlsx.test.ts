import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { rupeesPlain } from "../../kernel/money.ts";
import { readXlsx, showTime } from "../../../test/support/xlsx.ts";
import { NobodyWaits, onThisThread } from "../heavy/kinds.ts";
import { formatTable } from "./format-table.ts";
import type { TableColumn, TableRow } from "./table.ts";
import { writeWorkbook } from "./write-xlsx.ts";

const dated = new Date("2026-11-15T09:15:00Z");
const by = { environment: "sandbox", deskId: "frm_1" } as const;

async function write(columns: readonly TableColumn[], rows: readonly TableRow[]): Promise<Buffer> {
  const table = { sheet: "Things", title: "Things, 2026", columns, rows };
  const asked = { format: "xlsx", name: "things", dated, by } as const;
  return Buffer.from((await formatTable(onThisThread, table, asked)).content);
}

test("numbers of scrips stay text, times are dates in IST, and amounts are rupees", async () => {
  const columns = [
    { name: "scrip_no", kind: "text" },
    { name: "at", kind: "time" },
    { name: "amount", kind: "money" },
    { name: "price", kind: "percent" },
    { name: "count", kind: "count", width: 7 },
  ] as const;
  const row = ["0310165322", "2026-11-15T14:45:01.000+05:30", -1_234_567_05n, 9_765, 3];
  const book = readXlsx(await write(columns, [row, ["1E5", null, null, null, null]]));
  assert.ok(book.frozen);
  assert.deepEqual([book.sheet, book.title], ["Things", "Things, 2026"]);
  assert.deepEqual(book.widths, [18, 21, 18, 13, 7]);
  const [first, second] = book.rows;
  assert.ok(first?.["at"]);
  const text = { kind: "inlineStr", formula: false, format: "@", guarded: false };
  const number = { kind: "n", formula: false, guarded: false };
  assert.deepEqual(first["scrip_no"], { ...text, value: "0310165322" });
  assert.equal(showTime(first["at"]), "2026-11-15T14:45:01.000");
  assert.match(first["at"].format, /yyyy.*hh:mm:ss/);
  assert.deepEqual(first["amount"], { ...number, format: "#,##0.00", value: "-1234567.05" });
  assert.deepEqual(first["price"], { ...number, format: "#,##0.00", value: "97.65" });
  assert.deepEqual(first["count"], { ...number, format: "0", value: "3" });
  assert.deepEqual(second, { scrip_no: { ...text, value: "1E5" } });
});

test("no text becomes a formula, and any text is read back as it was", async () => {
  const columns = [{ name: "name", kind: "text" }] as const;
  const hostile = ["=1+1", "+1", "-1+1", "@SUM(A1)", "=cmd|'/c calc'!A0", '=HYPERLINK("x")'];
  const plain = [
    'a < b & "c" > d',
    "_x0041_",
    "  kept  ",
    "श्री कृष्ण",
    "two\nlines",
    "lone \ud800 half",
    "\u0007\ufffe",
  ];
  const { rows } = readXlsx(
    await write(
      columns,
      [...hostile, ...plain].map((text) => [text]),
    ),
  );
  hostile.forEach((text, at) => {
    const cell = rows[at]?.["name"];
    assert.deepEqual([cell?.value, cell?.kind, cell?.formula], [text, "inlineStr", false]);
    assert.ok(cell?.guarded, `${text} would become a formula when it is edited`);
  });
  const shown = rows.slice(hostile.length).map((row) => row["name"]?.value);
  // The reader shows what is in the file: `_x005F_` is how a spreadsheet writes a plain `_` there.
  assert.deepEqual(shown, [
    plain[0],
    "_x005F_x0041_",
    plain[2],
    plain[3],
    plain[4],
    "lone \ufffd half",
    "\ufffd\ufffd",
  ]);
});

test("an amount keeps every paisa: as a number up to 15 digits, and as text beyond", async () => {
  const columns = [{ name: "amount", kind: "money" }] as const;
  const edges = [0n, 1n, -1n, 999_999_999_999_999n, 10n ** 15n, 2n ** 53n + 1n, -(10n ** 20n) - 1n];
  const some = fc.sample(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), 200);
  const amounts = [...edges, ...some];
  const { rows } = readXlsx(
    await write(
      columns,
      amounts.map((paise) => [paise]),
    ),
  );
  amounts.forEach((paise, at) => {
    const cell = rows[at]?.["amount"];
    assert.equal(cell?.value, rupeesPlain(paise));
    const isNumber = paise > -(10n ** 15n) && paise < 10n ** 15n;
    assert.equal(cell?.kind, isNumber ? "n" : "inlineStr", String(paise));
    // A double of up to 15 digits shows the digits it was read from.
    if (isNumber) assert.equal(Number(cell?.value).toFixed(2), rupeesPlain(paise));
  });
});

test("a cell longer than a spreadsheet takes is cut and says so", async () => {
  const columns = [{ name: "scrip_nos", kind: "text" }] as const;
  const { rows } = readXlsx(await write(columns, [["0123456789 ".repeat(4_000)]]));
  const value = rows[0]?.["scrip_nos"]?.value ?? "";
  assert.equal(value.length, 32_767);
  assert.match(value, /cut here$/);
});

test("the same table gives the same bytes, and nobody's table is not written", async () => {
  const columns = [{ name: "name", kind: "text" }] as const;
  assert.deepEqual(await write(columns, [["a"]]), await write(columns, [["a"]]));
  const lines = [Buffer.from('["a"]\n["b"]\n')];
  const workbook = { sheet: "S", title: "T", dated, columns, lines };
  const work = async () => await writeWorkbook.work(workbook, { isAsked: () => true });
  await assert.rejects(work, NobodyWaits);
});

test("columns past Z are named as a spreadsheet names them", async () => {
  const columns = Array.from(
    { length: 28 },
    (_, at) => ({ name: `c${at}`, kind: "text" }) as const,
  );
  const { rows } = readXlsx(await write(columns, [columns.map(({ name }) => name)]));
  assert.equal(rows[0]?.["c27"]?.value, "c27");
});
