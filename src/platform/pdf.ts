// Lays out documents as PDF: a letterhead, facts side by side, tables over several pages, notes, page
// numbers.
//
//   measure   every cell: a row is as high as its tallest cell, and no text is cut off
//   break     before a row that does not fit; the head of its table is repeated
//   twice     all documents are laid out first without drawing, to count the pages; then they are
//             drawn, and each full page is written out and released
//
// The same input gives the same bytes: the date is an argument, and nothing else depends on time.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import type PdfWriter from "pdfkit";

import { NobodyWaits, type Stop } from "./heavy/kinds.ts";
import {
  breakLines,
  openTypefaces,
  type Pdf,
  type Typeface,
  type Typefaces,
  type Weight,
} from "./pdf-text.ts";

export type Paper = {
  readonly title: string;
  readonly letterhead: { readonly name: string; readonly lines: readonly string[] };
  /** Under the title, such as a number or a period. */
  readonly subtitle: string;
  /** A word across the head of a document that is not final. */
  readonly mark?: string | undefined;
  readonly sections: readonly Section[];
};

export type Section =
  | { readonly kind: "facts"; readonly columns: readonly (readonly Fact[])[] }
  | { readonly kind: "table"; readonly columns: readonly Column[]; readonly rows: readonly Row[] }
  | { readonly kind: "heading"; readonly text: string }
  | { readonly kind: "note"; readonly text: string };

export type Fact = { readonly label: string; readonly value: string };

export type Column = {
  readonly head: string;
  /** In points; the columns of a table share the width of the page. */
  readonly width: number;
  readonly align?: "left" | "right";
};

export type Row = {
  /** One per column; the part after a line break is set small. */
  readonly cells: readonly string[];
  readonly strong?: boolean;
};

const page = { width: 595.28, height: 841.89, margin: 40 } as const;
const contentWidth = page.width - 2 * page.margin;
const contentBottom = page.height - page.margin - 24;
const footerTop = page.height - page.margin - 8;
const underHeading = 64;
const cellPadding = 4;
const size = { title: 15, name: 12, text: 8.5, small: 7, least: 5 } as const;
const ink = { text: "#16202a", soft: "#5b6875", rule: "#c9d1d9", band: "#eef2f5" } as const;

const face = (weight: string) =>
  readFile(
    fileURLToPath(
      import.meta.resolve(`@expo-google-fonts/ibm-plex-sans/${weight}/IBMPlexSans_${weight}.ttf`),
    ),
  );

type Tools = {
  readonly Writer: typeof PdfWriter;
  readonly fonts: Readonly<Record<Weight, Buffer>>;
};

/** Loaded on first use: the library takes longer to load than most commands run, and few draw. */
async function loadTools(): Promise<Tools> {
  const [{ default: Writer }, regular, strong] = await Promise.all([
    import("pdfkit"),
    face("400Regular"),
    face("600SemiBold"),
  ]);
  return { Writer, fonts: { regular, strong } };
}

let tools: Promise<Tools> | undefined;

/** Each document begins on a new page; the pages are numbered through. */
export async function drawPapers(
  papers: readonly Paper[],
  dated: Date,
  stop: Stop = { isAsked: () => false },
): Promise<Buffer> {
  tools ??= loadTools();
  const { Writer, fonts } = await tools;
  const name = papers[0]?.letterhead.name ?? "";
  const pdf = new Writer({
    size: "A4",
    margins: { top: page.margin, left: page.margin, right: page.margin, bottom: 0 },
    autoFirstPage: false,
    fontLayoutCache: false,
    lang: "en-IN",
    info: {
      Title: papers[0]?.title ?? "",
      Author: name,
      CreationDate: dated,
      ModDate: dated,
    },
  });
  const bytes = collect(pdf);
  const typefaces = openTypefaces(pdf, fonts);
  const measured = new Sheet(typefaces, stop);
  layOut(measured, papers);
  const drawn = new Sheet(typefaces, stop, { pdf, name, pages: measured.pages });
  layOut(drawn, papers);
  pdf.end();
  return await bytes;
}

async function collect(pdf: Pdf): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of pdf) chunks.push(chunk as Buffer); // A PDF is a stream of bytes.
  return Buffer.concat(chunks);
}

/** The PDF and the number of its pages; absent in the first pass, which draws nothing. */
type Drawn = { readonly pdf: Pdf; readonly name: string; readonly pages: number };

type Writing = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly size: number;
  readonly strong?: boolean;
  readonly color?: string;
  readonly align?: "left" | "right";
};

/** The current page: the position of the next element, and the functions that draw it. */
class Sheet {
  y: number = page.margin;
  pages = 0;
  readonly #typefaces: Typefaces;
  readonly #stop: Stop;
  readonly #drawn: Drawn | undefined;

  constructor(typefaces: Typefaces, stop: Stop, drawn?: Drawn) {
    this.#typefaces = typefaces;
    this.#stop = stop;
    this.#drawn = drawn;
  }

  startPage(): void {
    if (this.#stop.isAsked()) throw new NobodyWaits();
    this.pages += 1;
    this.#drawn?.pdf.addPage();
    if (this.#drawn) this.#drawFooter(this.#drawn);
    this.y = page.margin;
  }

  /** Leaves `y` under the text. */
  write(text: string, writing: Writing): void {
    const { x, y, width, align = "left", strong, size: points, color = ink.text } = writing;
    const typeface = this.#findTypeface(strong);
    const lines = breakLines(typeface, text, { width, size: points });
    const lineHeight = typeface.lineHeight * points;
    this.y = y + lines.length * lineHeight;
    const pdf = this.#drawn?.pdf;
    if (!pdf) return;
    pdf
      .font(strong ? "strong" : "regular")
      .fontSize(points)
      .fillColor(color);
    lines.forEach((line, at) => {
      const wide = this.widthOf(line, writing);
      const indent = align === "right" ? width - wide : 0;
      // With a given width, the library does not measure the text again.
      const told = { lineBreak: false, textWidth: wide, wordCount: 1 };
      pdf.text(line, x + indent, y + at * lineHeight, told);
    });
  }

  heightOf(text: string, { width, size: points, strong }: Omit<Writing, "x" | "y">): number {
    const typeface = this.#findTypeface(strong);
    const lines = breakLines(typeface, text, { width, size: points });
    return lines.length * typeface.lineHeight * points;
  }

  widthOf(text: string, { size: points, strong }: Pick<Writing, "size" | "strong">): number {
    return this.#findTypeface(strong).width(text) * points;
  }

  rule(y: number, width: number): void {
    this.#drawn?.pdf
      .moveTo(page.margin, y)
      .lineTo(page.margin + contentWidth, y)
      .lineWidth(width)
      .strokeColor(ink.rule)
      .stroke();
  }

  band(y: number, height: number, color: string): void {
    this.#drawn?.pdf.rect(page.margin, y, contentWidth, height).fill(color);
  }

  #drawFooter({ name, pages }: Drawn): void {
    this.rule(footerTop - 5, 0.5);
    const box = { y: footerTop, size: size.small, color: ink.soft };
    this.write(name, { ...box, x: page.margin, width: contentWidth * 0.7 });
    const x = page.margin + contentWidth * 0.7;
    const text = `Page ${this.pages} of ${pages}`;
    this.write(text, { ...box, x, width: contentWidth * 0.3, align: "right" });
  }

  #findTypeface(strong = false): Typeface {
    return this.#typefaces[strong ? "strong" : "regular"];
  }
}

function layOut(sheet: Sheet, papers: readonly Paper[]): void {
  for (const paper of papers) {
    sheet.startPage();
    drawHead(sheet, paper);
    for (const section of paper.sections) drawSection(sheet, section);
  }
}

function drawHead(sheet: Sheet, { letterhead, title, subtitle, mark }: Paper): void {
  const half = contentWidth / 2 - 8;
  const top = page.margin;
  const name = { x: page.margin, y: top, width: half, size: size.name, strong: true };
  sheet.write(letterhead.name, name);
  let left = sheet.y + 2;
  const small = { x: page.margin, width: half, size: size.small, color: ink.soft };
  for (const line of letterhead.lines) {
    sheet.write(line, { ...small, y: left });
    left = sheet.y + 1;
  }
  const x = page.margin + contentWidth - half;
  const right = { x, width: half, align: "right" } as const;
  sheet.write(title, { ...right, y: top, size: size.title, strong: true });
  sheet.write(subtitle, { ...right, y: sheet.y + 1, size: size.text, color: ink.soft });
  if (mark) sheet.write(mark, { ...right, y: sheet.y + 2, size: size.text, strong: true });
  sheet.y = Math.max(left, sheet.y) + 8;
  sheet.rule(sheet.y, 1);
  sheet.y += 10;
}

function drawSection(sheet: Sheet, section: Section): void {
  switch (section.kind) {
    case "facts":
      return drawFacts(sheet, section.columns);
    case "heading":
      // The content under a heading begins on the same page.
      if (sheet.y + underHeading > contentBottom) sheet.startPage();
      return drawText(sheet, section.text, { strong: true, size: size.text + 1, after: 4 });
    case "note":
      return drawText(sheet, section.text, { color: ink.soft, size: size.small, after: 4 });
    case "table":
      return drawTable(sheet, section.columns, section.rows);
  }
}

function drawText(
  sheet: Sheet,
  text: string,
  { after, ...style }: Pick<Writing, "size" | "strong" | "color"> & { readonly after: number },
): void {
  const box = { x: page.margin, width: contentWidth, ...style };
  if (sheet.y + sheet.heightOf(text, box) > contentBottom) sheet.startPage();
  sheet.write(text, { ...box, y: sheet.y });
  sheet.y += after;
}

function drawFacts(sheet: Sheet, columns: readonly (readonly Fact[])[]): void {
  const width = contentWidth / columns.length - 8;
  const top = sheet.y;
  let bottom = top;
  columns.forEach((facts, at) => {
    const x = page.margin + at * (contentWidth / columns.length);
    let y = top;
    for (const { label, value } of facts) {
      sheet.write(label, { x, y, width, size: size.small, color: ink.soft });
      sheet.write(value, { x, y: sheet.y, width, size: size.text, strong: true });
      y = sheet.y + 4;
    }
    bottom = Math.max(bottom, y);
  });
  sheet.y = bottom + 6;
}

function drawTable(sheet: Sheet, columns: readonly Column[], rows: readonly Row[]): void {
  const head: Row = { cells: columns.map((column) => column.head), strong: true };
  const headHeight = rowHeight(sheet, columns, head);
  if (sheet.y + underHeading > contentBottom) sheet.startPage();
  drawRow(sheet, columns, { ...head, height: headHeight, band: ink.band });
  for (const row of rows) {
    const height = rowHeight(sheet, columns, row);
    if (sheet.y + height > contentBottom) {
      sheet.startPage();
      drawRow(sheet, columns, { ...head, height: headHeight, band: ink.band });
    }
    drawRow(sheet, columns, { ...row, height });
  }
  sheet.y += 10;
}

type MeasuredRow = Row & { readonly height: number; readonly band?: string };

function drawRow(sheet: Sheet, columns: readonly Column[], row: MeasuredRow): void {
  const top = sheet.y;
  if (row.band) sheet.band(top, row.height, row.band);
  let x = page.margin;
  columns.forEach((column, at) => {
    drawCell(sheet, row.cells[at] ?? "", { column, x, top, strong: row.strong ?? false });
    x += column.width;
  });
  sheet.rule(top + row.height, 0.5);
  sheet.y = top + row.height;
}

type CellPlace = {
  readonly column: Column;
  readonly x: number;
  readonly top: number;
  readonly strong: boolean;
};

function drawCell(sheet: Sheet, cell: string, { column, x, top, strong }: CellPlace): void {
  const [text, small] = splitCell(cell);
  const box = { x: x + cellPadding, width: innerWidth(column), align: column.align ?? "left" };
  const fitted = fitSize(sheet, text, { column, strong });
  // A figure in a smaller size is aligned with the others on the baseline.
  sheet.write(text, { ...box, y: top + cellPadding + size.text - fitted, size: fitted, strong });
  if (small) sheet.write(small, { ...box, y: sheet.y, size: size.small, color: ink.soft });
}

function rowHeight(
  sheet: Sheet,
  columns: readonly Column[],
  { cells, strong = false }: Row,
): number {
  const heights = columns.map((column, at) => {
    const [text, small] = splitCell(cells[at] ?? "");
    const width = innerWidth(column);
    const fitted = fitSize(sheet, text, { column, strong });
    const main = sheet.heightOf(text, { width, size: fitted, strong });
    return main + (small ? sheet.heightOf(small, { width, size: size.small }) : 0);
  });
  return Math.max(...heights) + 2 * cellPadding;
}

function splitCell(cell: string): [string, string] {
  const end = cell.indexOf("\n");
  return end < 0 ? [cell, ""] : [cell.slice(0, end), cell.slice(end + 1)];
}

function innerWidth({ width }: Column): number {
  return width - 2 * cellPadding;
}

/** A figure is never wrapped: its size is reduced until it fits. */
function fitSize(
  sheet: Sheet,
  text: string,
  { column, strong }: Pick<CellPlace, "column" | "strong">,
): number {
  if (column.align !== "right") return size.text;
  const wide = sheet.widthOf(text, { size: 1, strong });
  let fitted: number = size.text;
  while (fitted > size.least && wide * fitted > innerWidth(column)) fitted -= 0.25;
  return fitted;
}
