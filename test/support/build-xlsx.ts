// Workbooks as exporters send them, and as attackers do. Their XML is written by hand here, with what the
// service's own writer never writes: shared texts, formulas, merged cells, several sheets.

import { strToU8, type Zippable, zipSync } from "fflate";

const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const packaged = "http://schemas.openxmlformats.org/package/2006";

/** A cell: a text, a number, a date by its serial number, or XML of its own. */
export type BuiltCell =
  | string
  | number
  | null
  | { readonly date: number }
  | { readonly formula: string; readonly value: string }
  | { readonly xml: (place: string) => string };

export type BuiltSheet = {
  readonly name?: string;
  readonly state?: "visible" | "hidden" | "veryHidden";
  /** By row; null is a row that is left out. */
  readonly rows: readonly (readonly BuiltCell[] | null)[];
  readonly hiddenRows?: readonly number[];
  readonly merged?: readonly string[];
};

type BuildOptions = {
  readonly is1904?: boolean;
  /** Parts that replace or join the others. */
  readonly parts?: Readonly<Record<string, string>>;
};

/** The style of dates, as in `styles`. */
const dateStyle = 1;

export function buildXlsx(sheets: readonly BuiltSheet[], options: BuildOptions = {}): Uint8Array {
  const strings: string[] = [];
  const sheetXml = sheets.map((sheet) => writeSheet(sheet, strings));
  const names = sheets.map(({ name, state = "visible" }, at) => {
    const hidden = state === "visible" ? "" : ` state="${state}"`;
    return `<sheet name="${name ?? `Sheet${at + 1}`}" sheetId="${at + 1}"${hidden} r:id="rId${at + 1}"/>`;
  });
  const relations = sheets.map(
    (_, at) =>
      `<Relationship Id="rId${at + 1}" Type="${office}/worksheet" Target="worksheets/sheet${at + 1}.xml"/>`,
  );
  const parts: Record<string, string> = {
    "[Content_Types].xml": `<Types xmlns="${packaged}/content-types"/>`,
    "_rels/.rels": `<Relationships xmlns="${packaged}/relationships"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "xl/workbook.xml": `<workbook xmlns="${main}" xmlns:r="${office}"><workbookPr${options.is1904 ? ' date1904="1"' : ""}/><sheets>${names.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships xmlns="${packaged}/relationships">${relations.join("")}<Relationship Id="s" Type="${office}/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="t" Type="${office}/styles" Target="/xl/styles.xml"/></Relationships>`,
    "xl/sharedStrings.xml": `<sst xmlns="${main}">${strings.join("")}</sst>`,
    "xl/styles.xml": `<styleSheet xmlns="${main}"><numFmts><numFmt numFmtId="170" formatCode="dd/mm/yyyy;@"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/><xf numFmtId="14"/><xf numFmtId="20"/></cellXfs></styleSheet>`,
    ...Object.fromEntries(sheetXml.map((xml, at) => [`xl/worksheets/sheet${at + 1}.xml`, xml])),
    ...options.parts,
  };
  return packParts(parts);
}

export function packParts(parts: Readonly<Record<string, string>>): Uint8Array {
  const files: Zippable = {};
  for (const [name, text] of Object.entries(parts)) files[name] = strToU8(text);
  return zipSync(files, { level: 9 });
}

function writeSheet({ rows, hiddenRows = [], merged = [] }: BuiltSheet, strings: string[]): string {
  const written = rows.map((cells, at) => {
    const row = at + 1;
    if (cells === null) return "";
    const inner = cells.map((cell, column) =>
      writeCell(`${String.fromCharCode(65 + column)}${row}`, cell, strings),
    );
    const hidden = hiddenRows.includes(row) ? ' hidden="1"' : "";
    return `<row r="${row}"${hidden}>${inner.join("")}</row>`;
  });
  const merges = merged.map((ref) => `<mergeCell ref="${ref}"/>`).join("");
  return `<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="${main}"><sheetData>${written.join("")}</sheetData><mergeCells>${merges}</mergeCells></worksheet>`;
}

function writeCell(place: string, cell: BuiltCell, strings: string[]): string {
  if (cell === null) return `<c r="${place}" s="0"/>`;
  if (typeof cell === "number") return `<c r="${place}"><v>${cell}</v></c>`;
  if (typeof cell === "string") {
    // Half of a text in a run of its own, and a reading that is no part of it.
    const half = Math.ceil(cell.length / 2);
    const run = (text: string) => `<r><t xml:space="preserve">${escape(text)}</t></r>`;
    strings.push(
      `<si>${run(cell.slice(0, half))}${run(cell.slice(half))}<rPh><t>no</t></rPh></si>`,
    );
    return `<c r="${place}" t="s"><v>${strings.length - 1}</v></c>`;
  }
  if ("xml" in cell) return cell.xml(place);
  if ("date" in cell) return `<c r="${place}" s="${dateStyle}"><v>${cell.date}</v></c>`;
  return `<c r="${place}"><f>${escape(cell.formula)}</f><v>${cell.value}</v></c>`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** The serial number of a day. */
export function toSerial(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / 86_400_000 + 25_569;
}
