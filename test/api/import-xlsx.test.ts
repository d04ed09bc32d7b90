import assert from "node:assert/strict";
import { test } from "node:test";

import { strToU8, zipSync } from "fflate";

import { addInventoryWithApproval } from "../../src/credits/inventory.ts";
import { operator } from "../../src/kernel/actor.ts";
import {
  buildXlsx,
  type BuiltCell,
  type BuiltSheet,
  packParts,
  toSerial,
} from "../support/build-xlsx.ts";
import { clientFirm } from "../support/firms.ts";
import { type Answer, readSlug, type Service, startService } from "../support/service.ts";

const heading = ["Scrip Number", "Scheme", "Amount (Rs.)", "Balance", "Issue Date", "Expiry Date"];
const issued = { date: toSerial("2026-10-01") };
const expires = { date: toSerial("2028-09-30") };

const row = (scripNo: BuiltCell, amount: BuiltCell = 1_000, more: BuiltCell[] = []) => [
  scripNo,
  "RoDTEP",
  amount,
  amount,
  issued,
  expires,
  ...more,
];

async function importer(service: Service) {
  const { api_key: key, firm_id: deskId } = await service.issue();
  const { firmId } = await clientFirm(service, deskId);
  const send = async (body: object, expect: number): Promise<Answer["body"]> => {
    const path = `/v1/firms/${firmId}/credits:import`;
    return (await service.send("POST", path, { key, body, expect })).body;
  };
  return {
    key,
    send,
    take: async (book: Uint8Array, expect = 200) =>
      await send({ xlsx: Buffer.from(book).toString("base64") }, expect),
  };
}

/** Row, status, and the credit's face or what is wrong. */
function listOutcomes({ results }: Answer["body"]): [number, number, unknown][] {
  return results.map(
    ({ row: at, status, credit, error }: Answer["body"]): [number, number, unknown] => [
      at,
      status,
      credit?.face_paise ?? error.detail.fields ?? error.message,
    ],
  );
}

test("a report as a workbook is imported like the same report as CSV", async (t) => {
  const service = await startService(t);
  const { send, take } = await importer(service);
  const rows: BuiltSheet["rows"] = [
    ["Scrip details of ACME EXPORTS"],
    ["As on", { date: toSerial("2026-11-15") }],
    null,
    heading,
    row("0310165322", 1_234_567.89),
    row("0123/RODTEP/4567", "12,34,567.00"),
    null,
    ["XLSX-000003", "RoSCTL", 5_00_000, 4_25_000.5, "01-OCT-2026", "30/09/2028"],
    ["Total", null, { formula: "SUM(C5:C8)", value: "2969134.89" }, null, null, null],
  ];
  const sheets = [
    { name: "Report", rows, merged: ["A1:F1", "A9:B9"] },
    { name: "Old", state: "hidden" as const, rows: [heading, row("HIDDEN-0001")] },
    { name: "Older", state: "veryHidden" as const, rows: [heading, row("HIDDEN-0002")] },
    { name: "Notes", rows: [["Exported by nobody"]] },
  ];
  const answer = await take(buildXlsx(sheets));
  assert.deepEqual(listOutcomes(answer), [
    [5, 201, 123_456_789],
    [6, 201, 123_456_700],
    [8, 201, 42_500_050],
  ]);
  // The three above the heading, the blank one and the totals.
  assert.equal(answer.skipped, 5);
  const [first, , third] = answer.results;
  assert.equal(first.credit.scrip_no, "0310165322");
  assert.equal(first.credit.issued_on, "2026-10-01");
  assert.equal(first.credit.expires_on, "2028-09-30");
  assert.equal(third.credit.issued_paise, 50_000_000);

  const csv = [
    "Scrip details of ACME EXPORTS",
    heading.join(","),
    "0310165322,RODTEP,1234567.89,1234567.89,01/10/2026,30/09/2028",
  ].join("\n");
  const again = await send({ csv }, 200);
  assert.deepEqual(
    listOutcomes(again),
    [[3, 200, 123_456_789]],
    "the same credit, in the same way",
  );
});

test("a cell that has lost its text is refused by its row, and the other rows are taken", async (t) => {
  const service = await startService(t);
  const { take } = await importer(service);
  const raw = (value: string, type = "n", style = 0) => ({
    xml: (place: string) => `<c r="${place}" t="${type}" s="${style}"><v>${value}</v></c>`,
  });
  const lost = "is stored as a number, which may have lost digits: store it as text";
  const cases: [BuiltCell[], string, string][] = [
    [row(310_165_322), "scrip_no", lost],
    [row(raw("3.10165322E8")), "scrip_no", lost],
    [row(raw("123456789012345680")), "scrip_no", lost],
    [row(310_165_322.5), "scrip_no", lost],
    [row({ date: 46_296 }), "scrip_no", lost],
    [
      row("1.23457E+11"),
      "scrip_no",
      "must be the whole number; a spreadsheet shortened it to scientific notation",
    ],
    [
      row({ formula: '"ABC"&"123456"', value: "ABC123456" }),
      "scrip_no",
      "is a formula: paste its value",
    ],
    [row("AMT-000001", { formula: "1+1", value: "2" }), "issued", "is a formula: paste its value"],
    [row("AMT-000002", 10.505), "issued", "has more than two decimals"],
    [row("AMT-000003", { date: 46_296 }), "issued", "is a date, not an amount"],
    [
      row("AMT-000004", raw("12345678901234567")),
      "issued",
      "is too large for a number of a spreadsheet: store it as text",
    ],
    [row("AMT-000005", -5), "issued", "must be an amount in rupees, such as 12,34,567.00"],
    [
      row("AMT-000006", raw("#DIV/0!", "e")),
      "issued",
      "is an error or a truth value of the spreadsheet",
    ],
    [
      ["DAY-000001", "RoDTEP", 1, 1, issued, 47_026],
      "expires_on",
      "is a number: format it as a date",
    ],
    [
      ["DAY-000002", "RoDTEP", 1, 1, issued, raw("47026", "n", 3)],
      "expires_on",
      "is a number: format it as a date",
    ],
    [row("LONG".repeat(300)), "scrip_no", "is longer than 1000 characters"],
    [row("WIDE-000001", 1, [null, "beyond"]), "row", "has more cells than the heading"],
    [row("HIDE-000001"), "row", "is hidden: show it or delete it"],
    [row("MERG-000001"), "row", "has merged cells"],
    [row("MERG-000002"), "row", "has merged cells"],
  ];
  const at = (scripNo: string) => 2 + cases.findIndex(([cells]) => cells[0] === scripNo);
  const merged = `A${at("MERG-000001")}:A${at("MERG-000002")}`;
  const noisy = raw("12345.670000000001");
  const rows = [heading, ...cases.map(([cells]) => cells), row("GOOD-000001", noisy)];
  const book = buildXlsx([{ rows, hiddenRows: [at("HIDE-000001")], merged: [merged] }]);
  const answer = await take(book);
  const wrong = listOutcomes(answer).slice(0, cases.length);
  cases.forEach(([, path, problem], index) => {
    const [number, status, fields] = wrong[index] ?? [];
    assert.deepEqual([number, status], [index + 2, 422]);
    const [found] = fields as readonly { readonly path: string; readonly problem: string }[];
    assert.deepEqual(found, { path, problem });
  });
  assert.deepEqual(listOutcomes(answer).at(-1), [cases.length + 2, 201, 1_234_567]);
  assert.equal(answer.accepted, 1);
});

test("what is no report in a workbook is refused as a whole, and says why", async (t) => {
  const service = await startService(t);
  const { send, take, key } = await importer(service);
  const good = { rows: [heading, row("GOOD-000001")] };
  const readProblem = async (book: Uint8Array): Promise<string> => {
    const { code, detail } = await take(book, 422);
    assert.equal(code, "unprocessable");
    assert.equal(detail.fields[0].path, "xlsx");
    return detail.fields[0].problem;
  };
  assert.match(await readProblem(buildXlsx([good, good])), /several sheets with a report/);
  const hidden = { ...good, state: "hidden" as const };
  assert.match(await readProblem(buildXlsx([hidden])), /no column for scrip_no/);
  assert.match(await readProblem(buildXlsx([{ rows: [] }])), /no column for scrip_no/);
  assert.match(await readProblem(buildXlsx([{ rows: [["a", "b"]] }])), /no column for scrip_no/);
  const twice = { rows: [[...heading, "Scrip ID"], row("GOOD-000001")] };
  assert.match(await readProblem(buildXlsx([twice])), /two columns mean scrip_no/);
  const macros = { parts: { "xl/vbaProject.bin": "x" } };
  assert.match(await readProblem(buildXlsx([good], macros)), /has macros/);
  const compound = Buffer.from("d0cf11e0a1b11ae1000000000000", "hex");
  assert.match(await readProblem(compound), /is an \.xls file or has a password/);
  assert.match(await readProblem(Buffer.from("<html><table>")), /is not an \.xlsx workbook/);
  assert.match(await readProblem(packParts({ "a.txt": "a" })), /is damaged/);

  assert.equal(
    (await send({ xlsx: "not base64!" }, 422)).detail.fields[0].problem,
    "must be base64",
  );
  const csv = heading.join(",");
  const both = await send({ csv, xlsx: "AAAA" }, 422);
  assert.deepEqual(both.detail.fields, [{ path: "xlsx", problem: "cannot be given with csv" }]);
  const neither = await send({}, 422);
  assert.deepEqual(neither.detail.fields, [{ path: "csv", problem: "is required, or xlsx" }]);
  const xlsx = Buffer.from(buildXlsx([good])).toString("base64");
  const foreign = "/v1/firms/frm_01jd2m7q4x8r5v6w9y0abcdefg/credits:import";
  const unknown = await service.send("POST", foreign, { key, body: { xlsx } });
  assert.deepEqual([unknown.status, readSlug(unknown)], [404, "not_found"]);
  // A workbook is taken by its first sheet with a heading; others may be notes.
  assert.equal((await take(buildXlsx([{ rows: [["notes"]] }, good]))).accepted, 1);
});

const sheetName = "xl/worksheets/sheet1.xml";
const formatSheet = (inner: string) => `<worksheet><sheetData>${inner}</sheetData></worksheet>`;

/** The sheet's part says that it is this long when it is unpacked. */
function claimSize(book: Uint8Array, name: string, size: number): Uint8Array {
  const bytes = Buffer.from(book);
  for (const [signature, sizeAt, nameAt] of [
    ["504b0304", 22, 30],
    ["504b0102", 24, 46],
  ] as const) {
    const start = Buffer.from(signature, "hex");
    for (let at = bytes.indexOf(start); at >= 0; at = bytes.indexOf(start, at + 4)) {
      if (bytes.toString("latin1", at + nameAt, at + nameAt + name.length) !== name) continue;
      bytes.writeUInt32LE(size, at + sizeAt);
    }
  }
  return bytes;
}

test("a workbook that would burst is refused, and others are served meanwhile", async (t) => {
  const service = await startService(t);
  const { take, key } = await importer(service);
  const build = (xml: string) => buildXlsx([{ rows: [heading] }], { parts: { [sheetName]: xml } });
  const large = build(formatSheet(" ".repeat(17_000_000)));
  const long = "x".repeat(32_000);
  const manyRows = Array.from({ length: 5_001 }, (_, at) => row(`ROW-${100_000 + at}`));
  const columns = Array.from({ length: 2_000 }, (_, at) => `<c t="n"><v>${at}</v></c>`).join("");
  const entries = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, at) => [`x${at}`, strToU8("")]),
  );
  const bombs: readonly (readonly [string, Uint8Array, RegExp])[] = [
    ["a sheet over the limit", large, /more than 16777216 bytes/],
    ["a size that lies", claimSize(large, sheetName, 1_000), /is damaged/],
    ["a size of four gigabytes", claimSize(large, sheetName, 0xff_ff_ff_fe), /more than 16777216/],
    ["deep nesting", build("<a>".repeat(100_000)), /is damaged/],
    [
      "many attributes",
      build(`<worksheet ${Array.from({ length: 100_000 }, (_, at) => `a${at}=""`).join(" ")}/>`),
      /is damaged/,
    ],
    [
      "entities that grow",
      build(
        `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${formatSheet("<row><c t='inlineStr'><is><t>&b;</t></is></c></row>")}`,
      ),
      /is damaged/,
    ],
    ["rows out of order", build(formatSheet('<row r="2"/><row r="1"/>')), /is damaged/],
    ["a row past the last", build(formatSheet('<row r="9999999"/>')), /is damaged/],
    [
      "a text that is not there",
      build(formatSheet('<row><c t="s"><v>9</v></c></row>')),
      /is damaged/,
    ],
    ["a wide heading", build(formatSheet(`<row>${columns}</row>`)), /no column for scrip_no/],
    ["many files", zipSync(entries), /is damaged/],
    [
      "a million cells in one row",
      build(formatSheet(`<row>${"<c/>".repeat(1_000_000)}</row>`)),
      /more than 16384 cells/,
    ],
    [
      "a long blank text in 100,000 cells",
      buildXlsx([{ rows: [heading] }], {
        parts: {
          "xl/sharedStrings.xml": `<sst><si><t>${" ".repeat(5_000_000)}</t></si></sst>`,
          [sheetName]: formatSheet(
            `<row>${'<c t="s"><v>0</v></c>'.repeat(100)}</row>`.repeat(1_000),
          ),
        },
      }),
      /no column for scrip_no/,
    ],
  ];
  for (const [what, book, problem] of bombs) {
    assert.ok(Buffer.from(book).toString("base64").length < 1_000_000, `${what} fits a body`);
    const [{ detail }] = await Promise.all([
      take(book, 422),
      service.send("GET", "/v1/whoami", { key, expect: 200 }),
    ]);
    assert.match(detail.fields[0].problem, problem, what);
  }
  const rows = await take(buildXlsx([{ rows: [heading, ...manyRows] }]), 400);
  assert.equal(rows.detail.problem, "at most 5000 rows");
  // One text in every cell is not copied into every row.
  const shared = [heading, ...Array.from({ length: 4_000 }, () => row("x"))];
  const wide = buildXlsx([{ rows: shared }], {
    parts: {
      "xl/sharedStrings.xml": `<sst>${`<si><t>${long}</t></si>`.repeat(400)}</sst>`,
      [sheetName]: formatSheet(
        `<row>${heading.map((title) => `<c t="inlineStr"><is><t>${title}</t></is></c>`).join("")}</row>${`<row>${'<c t="s"><v>1</v></c>'.repeat(6)}</row>`.repeat(4_000)}`,
      ),
    },
  });
  const answer = await take(wide);
  assert.equal(answer.failed, 4_000);
});

test("a workbook of 5,000 rows is imported", async (t) => {
  const service = await startService(t);
  const { take } = await importer(service);
  const many = Array.from({ length: 5_000 }, (_, at) => row(`ROW-${100_000 + at}`, at + 1));
  const answer = await take(buildXlsx([{ rows: [["Title"], heading, ...many, ["Total"]] }]));
  assert.deepEqual([answer.accepted, answer.failed, answer.skipped], [5_000, 0, 2]);
});

test("the house's stock comes in as a workbook, and a second person approves its rows", async (t) => {
  const service = await startService(t);
  const rows = [heading, row("STOCK-00001", 10.5), row(310_165_322)];
  const xlsx = Buffer.from(buildXlsx([{ rows }])).toString("base64");
  const adding = { environment: "live", inventory: { xlsx } } as const;
  const added = await addInventoryWithApproval(service.ctx, operator, adding);
  assert.ok(added.outcome === "done");
  assert.deepEqual(listOutcomes(added.results), [
    [2, 201, 1_050],
    [
      3,
      422,
      [
        {
          path: "scrip_no",
          problem: "is stored as a number, which may have lost digits: store it as text",
        },
      ],
    ],
  ]);
});
