// Reads the sheets of an .xlsx workbook (ECMA-376): cells with their kinds, so that the caller sees a
// number that should have been text. Nothing in it is computed or run: formulas are marked as such, and a
// workbook with macros is refused. Hidden sheets are left out. The work is linear in the unpacked size: a
// text that many cells share is cut, trimmed and decoded once, and what is beyond the columns that the
// caller reads is only counted.

import { strFromU8, unzipSync } from "fflate";
import sax from "sax";

import { type Failure, unprocessable } from "../../kernel/failure.ts";

/** Whether the bytes begin as those of a zip archive do; CSV never does. */
export function isWorkbook(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b;
}

/**
 *   text      as it was typed
 *   number    in the notation of the file, such as `1234.5` or `1E5`
 *   day       a number that is formatted as a date, as YYYY-MM-DD
 *   formula   what a formula came to when the file was saved
 *   other     an error, or true or false
 */
type CellKind = "text" | "number" | "day" | "formula" | "other";

export type SheetCell = {
  readonly kind: CellKind;
  readonly text: string;
  /** Whether the text went on. */
  readonly isCut: boolean;
};

export type SheetRow = {
  /** As the spreadsheet counts, from 1. */
  readonly row: number;
  /** By column, from 0; cells without content are left out. */
  readonly cells: ReadonlyMap<number, SheetCell>;
  /** Whether there is content beyond the columns that are read. */
  readonly isWide: boolean;
  readonly isHidden: boolean;
  /** Whether a cell of it is merged with others. */
  isMerged: boolean;
};

export type Sheet = { readonly name: string; readonly rows: readonly SheetRow[] };

const sheetsMax = 20;
const stringsMax = 250_000;
const mergesMax = 1_000;
/** The last row and the last column that a spreadsheet has. */
const rowNumberMax = 1_048_576;
const columnNumberMax = 16_384;
/** Rows and cells of all sheets together, with content or without: 5,000 rows of 100 columns. */
const visitsMax = 500_000;
/** What a spreadsheet takes for the format of a number. */
const formatLengthMax = 255;

type XlsxLimits = {
  /** Rows with content of each sheet; the rest is not read. */
  readonly rowsMax: number;
  /** Columns whose cells are kept. */
  readonly columnsMax: number;
  /** Characters of a text; the rest is cut off. */
  readonly textMax: number;
};

/** Rows with content of each visible sheet. */
export function readXlsx(
  bytes: Uint8Array,
  { onPiece = () => {}, ...limits }: XlsxLimits & { readonly onPiece?: () => void },
): Sheet[] {
  refuseOthers(bytes);
  const archive = new Archive(bytes);
  const read = (name: string, visit: Visitor) => visitXml(archive.unpack(name), visit, onPiece);
  const workbookPath = findWorkbook(read);
  const relations = readRelations(read, workbookPath);
  const { sheets, is1904 } = readWorkbookPart(read, workbookPath);
  const pathFor = (kind: string) => relations.find(({ type }) => type.endsWith(`/${kind}`))?.path;
  const strings = readStrings(read, pathFor("sharedStrings"), limits.textMax);
  const dayStyles = readDayStyles(read, pathFor("styles"));
  const relationsById = new Map(relations.toReversed().map((relation) => [relation.id, relation]));
  const facts = { strings, dayStyles, is1904, limits, visits: { left: visitsMax } };
  const found: Sheet[] = [];
  for (const { name, id } of sheets) {
    const relation = relationsById.get(id);
    if (!relation?.type.endsWith("/worksheet")) continue;
    if (found.length === sheetsMax) throw refuse(`has more than ${sheetsMax} sheets`);
    found.push({ name, rows: readRows(read, relation.path, facts) });
  }
  return found;
}

type Relation = { readonly id: string; readonly type: string; readonly path: string };

function findWorkbook(read: Read): string {
  const workbook = readRelations(read, "").find(({ type }) => type.endsWith("/officeDocument"));
  if (!workbook) throw damaged();
  return workbook.path;
}

/** The parts that a part refers to; those outside of the archive are left out. */
function readRelations(read: Read, path: string): Relation[] {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const relations: Relation[] = [];
  read(`${folder}_rels/${path.slice(folder.length)}.rels`, {
    open(name, { Id: id = "", Type: type = "", Target: target = "", TargetMode: mode }) {
      if (name !== "Relationship" || mode === "External") return;
      const full = target.startsWith("/") ? target.slice(1) : folder + target;
      relations.push({ id, type, path: full });
    },
  });
  return relations;
}

function readWorkbookPart(read: Read, path: string) {
  const sheets: { readonly name: string; readonly id: string }[] = [];
  let is1904 = false;
  read(path, {
    open(element, attributes) {
      if (element === "workbookPr") is1904 = isTrue(attributes["date1904"]);
      if (element !== "sheet" || (attributes["state"] ?? "visible") !== "visible") return;
      const { name = "" } = attributes;
      sheets.push({ name, id: findAttribute(attributes, "id") ?? "" });
    },
  });
  return { sheets, is1904 };
}

function isTrue(value: string | undefined): boolean {
  return value === "1" || value === "true";
}

/** A text as it is kept: cut, decoded, and nothing at all where it is blank. */
type KeptText = { readonly text: string; readonly isCut: boolean };

/** Gathers the parts of a text up to a length. */
class TextParts {
  readonly #max: number;
  #parts: string[] = [];
  #left: number;
  #isCut = false;

  constructor(max: number) {
    this.#max = max;
    this.#left = max;
  }

  clear(): void {
    this.#parts = [];
    this.#left = this.#max;
    this.#isCut = false;
  }

  add(part: string): void {
    if (part.length > this.#left) this.#isCut = true;
    if (this.#left > 0) this.#parts.push(part.slice(0, this.#left));
    this.#left = Math.max(0, this.#left - part.length);
  }

  keep(): KeptText {
    const text = this.#parts.join("");
    const isBlank = !this.#isCut && text.trim() === "";
    return { text: isBlank ? "" : text, isCut: this.#isCut };
  }
}

/** The texts that cells refer to by number. A text may be in runs; readings of it are left out. */
function readStrings(read: Read, path: string | undefined, textMax: number): SheetCell[] {
  const strings: SheetCell[] = [];
  if (path === undefined) return strings;
  let isText = false;
  let isReading = false;
  const parts = new TextParts(textMax);
  read(path, {
    open(name) {
      if (name === "si") parts.clear();
      if (name === "rPh") isReading = true;
      isText = name === "t" && !isReading;
    },
    text(part) {
      if (isText) parts.add(part);
    },
    close(name) {
      isText = false;
      if (name === "rPh") isReading = false;
      if (name !== "si") return;
      if (strings.length === stringsMax) throw refuse(`has more than ${stringsMax} texts`);
      strings.push(toTextCell(parts.keep()));
    },
  });
  return strings;
}

function toTextCell({ text, isCut }: KeptText): SheetCell {
  return { kind: "text", text: decodeText(text), isCut };
}

/** `_x000D_` is how a character is written that XML cannot have. */
function decodeText(text: string): string {
  if (!text.includes("_x")) return text;
  return text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Formats that every spreadsheet knows, and that show a day. */
const isBuiltInDay = (id: number) =>
  (id >= 14 && id <= 17) || id === 22 || (id >= 27 && id <= 36) || (id >= 50 && id <= 58);

/** Which styles show a number as a day. */
function readDayStyles(read: Read, path: string | undefined): boolean[] {
  const styles: boolean[] = [];
  if (path === undefined) return styles;
  const own = new Map<number, boolean>();
  let isInCells = false;
  read(path, {
    open(name, { numFmtId = "0", formatCode = "" }) {
      if (name === "numFmt") own.set(Number(numFmtId), isDayFormat(formatCode));
      if (name === "cellXfs") isInCells = true;
      if (name !== "xf" || !isInCells) return;
      styles.push(own.get(Number(numFmtId)) ?? isBuiltInDay(Number(numFmtId)));
    },
    close(name) {
      if (name === "cellXfs") isInCells = false;
    },
  });
  return styles;
}

/** Whether a format shows a day or a year, outside of quoted text, escapes and colours. */
function isDayFormat(code: string): boolean {
  const shown = code.slice(0, formatLengthMax).replaceAll(/"[^"]*"|\\.|_.|\[[^\]]*\]/g, "");
  return /[dy]/i.test(shown);
}

type SheetFacts = {
  readonly strings: readonly SheetCell[];
  readonly dayStyles: readonly boolean[];
  readonly is1904: boolean;
  readonly limits: XlsxLimits;
  readonly visits: { left: number };
};

type OpenCell = { readonly column: number; readonly type: string; readonly isDay: boolean };

function readRows(read: Read, path: string, facts: SheetFacts): SheetRow[] {
  const { limits, visits } = facts;
  const rows: SheetRow[] = [];
  const merges: { readonly from: number; readonly to: number }[] = [];
  let row = newRow(0);
  let cell: OpenCell | undefined;
  let column = -1;
  let hasFormula = false;
  let inner = "";
  const value = new TextParts(limits.textMax);
  read(path, {
    open(name, attributes) {
      if ((name === "row" || name === "c") && --visits.left < 0) {
        throw refuse(`has more than ${visitsMax} rows and cells`);
      }
      if (name === "row") {
        row = newRow(readRowNumber(attributes["r"], row.row), isTrue(attributes["hidden"]));
        column = -1;
      } else if (name === "c") {
        const { r, t = "n", s = "0" } = attributes;
        column = readColumn(r, row.row, column);
        cell = { column, type: t, isDay: facts.dayStyles[Number(s)] ?? false };
        hasFormula = false;
        value.clear();
      } else if (name === "f") {
        hasFormula = true;
      } else if (name === "mergeCell") {
        if (merges.length === mergesMax) throw refuse(`has more than ${mergesMax} merged cells`);
        merges.push(readMerge(attributes["ref"]));
      }
      inner = name;
    },
    text(part) {
      if (cell && (inner === "v" || inner === "t")) value.add(part);
    },
    close(name) {
      inner = "";
      if (name === "c" && cell) {
        const found = toCell(cell, value.keep(), { hasFormula, ...facts });
        if (found && column >= limits.columnsMax) row.isWide = true;
        else if (found) row.cells.set(column, found);
        cell = undefined;
      }
      if (name === "row" && (row.cells.size > 0 || row.isWide)) rows.push(row);
    },
    isDone: () => rows.length >= limits.rowsMax,
  });
  for (const one of rows)
    one.isMerged = merges.some(({ from, to }) => one.row >= from && one.row <= to);
  return rows.slice(0, limits.rowsMax);
}

function newRow(row: number, isHidden = false) {
  return { row, cells: new Map<number, SheetCell>(), isWide: false, isHidden, isMerged: false };
}

/** Rows and cells without a place follow the one before. */
function readRowNumber(text: string | undefined, before: number): number {
  const row = text === undefined ? before + 1 : Number(text);
  if (!Number.isInteger(row) || row <= before || row > rowNumberMax) throw damaged();
  return row;
}

function readColumn(place: string | undefined, row: number, before: number): number {
  const column = place === undefined ? before + 1 : parsePlace(place, row);
  if (column <= before) throw damaged();
  if (column >= columnNumberMax) throw refuse(`has a row of more than ${columnNumberMax} cells`);
  return column;
}

function parsePlace(place: string, row: number): number {
  const [, letters = "", number] = /^([A-Z]{1,3})(\d{1,7})$/.exec(place) ?? [];
  if (Number(number) !== row) throw damaged();
  return toColumn(letters);
}

/** `A` is 0. */
function toColumn(letters: string): number {
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

function readMerge(ref: string | undefined): { from: number; to: number } {
  const [, from, to] = /^[A-Z]{1,3}(\d{1,7}):[A-Z]{1,3}(\d{1,7})$/.exec(ref ?? "") ?? [];
  if (from === undefined || to === undefined) throw damaged();
  return { from: Number(from), to: Number(to) };
}

/** Undefined for a cell without content. */
function toCell(
  { type, isDay }: OpenCell,
  { text, isCut }: KeptText,
  { hasFormula, strings, is1904 }: SheetFacts & { readonly hasFormula: boolean },
): SheetCell | undefined {
  if (hasFormula) return { kind: "formula", text, isCut };
  if (text === "") return undefined;
  switch (type) {
    case "s": {
      const shared = strings[Number(text)];
      if (shared === undefined) throw damaged();
      return shared.text === "" ? undefined : shared;
    }
    case "inlineStr":
    case "str":
      return toTextCell({ text, isCut });
    case "d":
      return { kind: "day", text: text.slice(0, 10), isCut };
    case "n": {
      if (isCut || !Number.isFinite(Number(text))) throw damaged();
      const day = isDay ? toDay(Number(text), is1904) : undefined;
      return day === undefined
        ? { kind: "number", text, isCut }
        : { kind: "day", text: day, isCut };
    }
    default:
      return { kind: "other", text, isCut };
  }
}

const dayMs = 86_400_000;
/** 1 January 1970, as spreadsheets count from the end of 1899 and, where they say so, from 1904. */
const epochDays = { usual: 25_569, from1904: 24_107 };
/** 1 March 1900: before it, spreadsheets count a day that there was not. */
const firstSureDay = 61;
/** 31 December 9999. */
const lastDay = 2_958_465;

/** The day of a serial number, without its time. */
function toDay(serial: number, is1904: boolean): string | undefined {
  if (serial < firstSureDay || serial > lastDay) return undefined;
  const days = Math.floor(serial) - (is1904 ? epochDays.from1904 : epochDays.usual);
  return new Date(days * dayMs).toISOString().slice(0, 10);
}

// The parts of an .xlsx file: a zip archive of XML from a stranger.
//
//   unpack   only what is asked for, and only while all of it together is not too large; a part that is
//            larger than the archive says is cut, and is no XML then
//   visit    without document types, entities of its own, or deep nesting

/** 5,000 rows of 30 columns take about 6 MB. */
const unpackedBytesMax = 16 * 1_024 * 1_024;
const depthMax = 32;
const attributesMax = 64;
const pieceLength = 65_536;

function refuse(problem: string): Failure {
  return unprocessable({ path: "xlsx", problem });
}

function damaged(): Failure {
  return refuse("is damaged: it cannot be read as a workbook");
}

const zipStart = "504b0304";
const compoundStart = "d0cf11e0a1b11ae1";

function refuseOthers(bytes: Uint8Array): void {
  const start = Buffer.from(bytes.subarray(0, 8)).toString("hex");
  if (start === compoundStart) {
    throw refuse("is an .xls file or has a password: save it as .xlsx without one");
  }
  if (!start.startsWith(zipStart)) throw refuse("is not an .xlsx workbook");
}

class Archive {
  readonly #bytes: Uint8Array;
  readonly #sizes = new Map<string, number>();
  #unpackedBytes = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#walk(({ name, size, originalSize }) => {
      if (this.#sizes.has(name)) throw damaged();
      this.#sizes.set(name, Math.max(size, originalSize));
      return false;
    });
    const names = [...this.#sizes.keys()];
    if (names.some((name) => /(^|\/)vbaProject\.bin$/i.test(name))) {
      throw refuse("has macros: save it as .xlsx without them");
    }
  }

  unpack(name: string): string {
    const size = this.#sizes.get(name);
    if (size === undefined) throw damaged();
    this.#unpackedBytes += size;
    if (this.#unpackedBytes > unpackedBytesMax) {
      throw refuse(`is more than ${unpackedBytesMax} bytes when it is unpacked`);
    }
    const part = this.#walk((entry) => entry.name === name)[name];
    if (!part) throw damaged();
    return strFromU8(part);
  }

  #walk(filter: NonNullable<Parameters<typeof unzipSync>[1]>["filter"]) {
    try {
      return unzipSync(this.#bytes, { ...(filter && { filter }) });
    } catch (error) {
      // The archive's own refusals come from the filter above; the rest is a bad archive.
      if (error instanceof Error && "detail" in error) throw error;
      throw damaged();
    }
  }
}

type Attributes = Readonly<Record<string, string>>;

type Visitor = {
  readonly open?: (name: string, attributes: Attributes) => void;
  readonly text?: (text: string) => void;
  readonly close?: (name: string) => void;
  /** Whether the rest need not be read. */
  readonly isDone?: () => boolean;
};

type Read = (name: string, visit: Visitor) => void;

function visitXml(xml: string, { open, text, close, isDone }: Visitor, onPiece: () => void): void {
  let depth = 0;
  let attributes = 0;
  const parser = Object.assign(sax.parser(true, { position: false }), {
    onerror() {
      throw damaged();
    },
    ondoctype() {
      throw damaged();
    },
    onopentagstart() {
      attributes = 0;
    },
    onattribute() {
      if (++attributes > attributesMax) throw damaged();
    },
    onopentag(tag: sax.Tag | sax.QualifiedTag) {
      if (++depth > depthMax) throw damaged();
      open?.(stripPrefix(tag.name), tag.attributes as Attributes); // Without `xmlns` they are text.
    },
    ontext: (part: string) => text?.(part),
    oncdata: (part: string) => text?.(part),
    onclosetag(name: string) {
      depth -= 1;
      close?.(stripPrefix(name));
    },
  });
  for (let at = 0; at < xml.length; at += pieceLength) {
    parser.write(xml.slice(at, at + pieceLength));
    if (isDone?.()) return;
    onPiece();
  }
  parser.close();
}

/** Some programs write `<x:row>`. */
function stripPrefix(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** An attribute whatever its prefix is. */
function findAttribute(attributes: Attributes, name: string): string | undefined {
  const key = Object.keys(attributes).find((one) => one.endsWith(`:${name}`));
  return key === undefined ? undefined : attributes[key];
}
