// Writes a table as an .xlsx workbook of one sheet (ECMA-376).
//
//   text     is marked as text, so that a scrip number keeps its zeros and `=1+1` stays a text, also
//            after somebody edits the cell
//   money    is a number with exact decimals; a spreadsheet keeps 15 digits, so an amount with more is
//            written as text
//   time     is the spreadsheet's serial day number of the time in IST
//
// Rows are compressed as they are written. The same table gives the same bytes.

import { showLines } from "../../kernel/text.ts";
import { heavyKind, NobodyWaits, type Stop } from "../heavy/kinds.ts";
import type { ColumnKind, TableColumn, WrittenCell } from "./table.ts";
import { writeZip } from "./zip.ts";

type Workbook = {
  readonly sheet: string;
  readonly title: string;
  readonly dated: Date;
  readonly columns: readonly TableColumn[];
  /** Lines of JSON, each a row's cells, in blocks of whole lines. */
  readonly lines: readonly Uint8Array[];
  /** The cells of the last row, in bold. */
  readonly total?: readonly WrittenCell[] | undefined;
};

/** Printed on A4 across, as wide as the sheet and as long as it takes, with its title on each page. */
function writePrintSetup(title: string): string {
  const heading = escapeXml(title.slice(0, printedTitleMax).replaceAll("&", "&&"));
  return `<pageMargins left="0.4" right="0.4" top="0.7" bottom="0.5" header="0.3" footer="0.3"/><pageSetup paperSize="9" orientation="landscape" fitToWidth="1" fitToHeight="0"/><headerFooter><oddHeader>&amp;L${heading}&amp;RPage &amp;P of &amp;N</oddHeader></headerFooter>`;
}

/** A heading of a page has at most 255 characters, its own signs included. */
const printedTitleMax = 100;

/** What a spreadsheet takes in one cell. */
const textLengthMax = 32_767;
const digitsMax = 15;

/** The order of `cellXfs` in the styles. */
const style = {
  plain: 0,
  heading: 1,
  text: 2,
  guarded: 3,
  money: 4,
  time: 5,
  count: 6,
  long: 7,
  numberHeading: 8,
  totalText: 9,
  totalMoney: 10,
};
const totalStyle = { ...style, text: style.totalText, money: style.totalMoney };

const widths: Readonly<Record<ColumnKind, number>> = {
  text: 18,
  count: 9,
  money: 18,
  percent: 13,
  time: 21,
};

export const writeWorkbook = heavyKind(
  "workbook",
  async (workbook: Workbook, stop): Promise<Uint8Array> => {
    const { title, dated, sheet } = workbook;
    return await writeZip([
      { name: "[Content_Types].xml", pieces: [contentTypes] },
      { name: "_rels/.rels", pieces: [packageRelations] },
      { name: "docProps/core.xml", pieces: [writeCoreProperties(title, dated)] },
      { name: "xl/workbook.xml", pieces: [writeWorkbookPart(sheet)] },
      { name: "xl/_rels/workbook.xml.rels", pieces: [workbookRelations] },
      { name: "xl/styles.xml", pieces: [styles] },
      { name: "xl/worksheets/sheet1.xml", pieces: writeSheet(workbook, stop) },
    ]);
  },
);

function* writeSheet({ title, columns, lines, total }: Workbook, stop: Stop): Generator<string> {
  yield `${declaration}<worksheet xmlns="${spreadsheet}"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr><sheetViews><sheetView tabSelected="1" workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>`;
  for (const [at, { kind, width = widths[kind] }] of columns.entries()) {
    yield `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`;
  }
  const letters = columns.map((_, at) => nameColumn(at));
  const heading = columns.map(({ name, kind }, at) =>
    writeText(`${letters[at]}1`, name, kind === "text" ? style.heading : style.numberHeading),
  );
  yield `</cols><sheetData><row r="1">${heading.join("")}</row>`;
  let row = 1;
  for (const block of lines) {
    if (stop.isAsked()) throw new NobodyWaits();
    for (const line of Buffer.from(block).toString().split("\n").slice(0, -1)) {
      row += 1;
      const cells = JSON.parse(line) as readonly WrittenCell[]; // Written by `writeCells`.
      const written = cells.map((cell, place) =>
        writeCell(`${letters[place]}${row}`, cell, columns[place]?.kind ?? "text"),
      );
      yield `<row r="${row}">${written.join("")}</row>`;
    }
  }
  if (total) {
    row += 1;
    const written = total.map((cell, place) =>
      writeCell(`${letters[place]}${row}`, cell, columns[place]?.kind ?? "text", totalStyle),
    );
    yield `<row r="${row}">${written.join("")}</row>`;
  }
  // Without it, a spreadsheet marks every scrip number as a number that was stored as text.
  const all = `A1:${letters.at(-1) ?? "A"}${row}`;
  yield `</sheetData>${writePrintSetup(title)}<ignoredErrors><ignoredError sqref="${all}" numberStoredAsText="1"/></ignoredErrors></worksheet>`;
}

function writeCell(
  place: string,
  cell: WrittenCell,
  kind: ColumnKind,
  styles: Readonly<Record<keyof typeof style, number>> = style,
): string {
  if (cell === null || cell === "") return "";
  const text = String(cell);
  switch (kind) {
    case "text":
      return writeText(place, text, /^[=+\-@\t\r]/.test(text) ? styles.guarded : styles.text);
    case "count":
      return writeNumber(place, text, styles.count);
    case "money":
    case "percent":
      return text.replaceAll(/\D/g, "").replace(/^0+/, "").length > digitsMax
        ? writeText(place, text, styles.long)
        : writeNumber(place, text, styles.money);
    case "time":
      return writeNumber(place, String(toSerialDay(text)), styles.time);
  }
}

function writeNumber(place: string, text: string, as: number): string {
  return `<c r="${place}" s="${as}"><v>${text}</v></c>`;
}

function writeText(place: string, text: string, as: number): string {
  return `<c r="${place}" s="${as}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(cutText(text))}</t></is></c>`;
}

const dayMs = 86_400_000;
/** 1 January 1970, counted from the last day of 1899. */
const unixEpochDay = 25_569;

/** `2026-11-15T14:45:00.000+05:30` as a spreadsheet counts, without its zone. */
function toSerialDay(istTimestamp: string): number {
  const local = Date.parse(`${istTimestamp.slice(0, -"+05:30".length)}Z`);
  if (Number.isNaN(local)) throw new Error(`${istTimestamp} is not an IST timestamp`);
  return local / dayMs + unixEpochDay;
}

/** `A`, `Z`, `AA` */
function nameColumn(at: number): string {
  const last = String.fromCharCode("A".charCodeAt(0) + (at % 26));
  return at < 26 ? last : nameColumn(Math.floor(at / 26) - 1) + last;
}

/** A longer cell would make a spreadsheet refuse the whole file. */
function cutText(text: string): string {
  const sign = " … cut here";
  return text.length <= textLengthMax ? text : text.slice(0, textLengthMax - sign.length) + sign;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** `_x0041_` would be read as `A`, so its first character is itself written so. */
function escapeXml(text: string): string {
  return showLines(text)
    .toWellFormed()
    .replaceAll(/[\ufffe\uffff]/g, "\ufffd")
    .replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_")
    .replaceAll(/[&<>"]/g, (sign) => entities[sign] ?? sign);
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const openXml = "http://schemas.openxmlformats.org";
const spreadsheet = `${openXml}/spreadsheetml/2006/main`;
const relationships = `${openXml}/package/2006/relationships`;
const officeRelations = `${openXml}/officeDocument/2006/relationships`;
const sheetType = "application/vnd.openxmlformats-officedocument.spreadsheetml";

const contentTypes = `${declaration}<Types xmlns="${openXml}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${sheetType}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${sheetType}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${sheetType}.styles+xml"/><Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>`;

const packageRelations = `${declaration}<Relationships xmlns="${relationships}"><Relationship Id="rId1" Type="${officeRelations}/officeDocument" Target="xl/workbook.xml"/><Relationship Id="rId2" Type="${relationships}/metadata/core-properties" Target="docProps/core.xml"/></Relationships>`;

const workbookRelations = `${declaration}<Relationships xmlns="${relationships}"><Relationship Id="rId1" Type="${officeRelations}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${officeRelations}/styles" Target="styles.xml"/></Relationships>`;

/** A text after an amount keeps a distance from it. */
const toLeft = '<alignment horizontal="left" indent="1"/>';
const toRight = '<alignment horizontal="right"/>';

/** In the order of `style`; 4, 2, 1 and 49 are formats that every spreadsheet knows. */
const cellFormats = [
  writeFormat(0),
  writeFormat(49, { font: 1, fill: 2, inner: toLeft }),
  writeFormat(49, { inner: toLeft }),
  writeFormat(49, { inner: toLeft, more: ' quotePrefix="1"' }),
  writeFormat(4),
  writeFormat(164),
  writeFormat(1),
  writeFormat(49, { inner: toRight }),
  writeFormat(49, { font: 1, fill: 2, inner: toRight }),
  writeFormat(49, { font: 1, inner: toLeft }),
  writeFormat(4, { font: 1 }),
];

const styles = `${declaration}<styleSheet xmlns="${spreadsheet}"><numFmts count="1"><numFmt numFmtId="164" formatCode="dd\\-mmm\\-yyyy\\ hh:mm:ss"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FFEEF2F5"/></patternFill></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="${cellFormats.length}">${cellFormats.join("")}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

function writeFormat(number: number, { font = 0, fill = 0, more = "", inner = "" } = {}): string {
  return `<xf numFmtId="${number}" fontId="${font}" fillId="${fill}" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1" applyAlignment="1"${more}>${inner}</xf>`;
}

/** The heading is printed on every page. */
function writeWorkbookPart(sheet: string): string {
  const name = escapeXml(sheet);
  return `${declaration}<workbook xmlns="${spreadsheet}" xmlns:r="${officeRelations}"><sheets><sheet name="${name}" sheetId="1" r:id="rId1"/></sheets><definedNames><definedName name="_xlnm.Print_Titles" localSheetId="0">'${name.replaceAll("'", "''")}'!$1:$1</definedName></definedNames></workbook>`;
}

function writeCoreProperties(title: string, dated: Date): string {
  const at = `<dcterms:created xsi:type="dcterms:W3CDTF">${dated.toISOString().slice(0, 19)}Z</dcterms:created>`;
  return `${declaration}<cp:coreProperties xmlns:cp="${openXml}/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><dc:title>${escapeXml(title)}</dc:title><dc:description>Amounts are rupees, times are IST.</dc:description>${at}</cp:coreProperties>`;
}
