// Papers as PDF: a letterhead, facts side by side, tables that go on over pages, notes, page numbers.
//
//   measure   every cell, so that a row is as high as its tallest and nothing is cut off
//   break     before a row that no longer fits; the head of its table is repeated
//   number    all pages at the end, when their count is known
//
// The same paper is the same bytes: its date is given, and nothing else in it depends on the time.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { setImmediate as yieldToOthers } from "node:timers/promises";

import type PdfWriter from "pdfkit";

export type Paper = {
  readonly title: string;
  readonly letterhead: { readonly name: string; readonly lines: readonly string[] };
  /** Stands under the title, such as a number or a span of time. */
  readonly subtitle: string;
  /** A word across the head for a paper that is not the last one of its kind. */
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

type Pdf = InstanceType<typeof PdfWriter>;

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
  readonly regular: Buffer;
  readonly strong: Buffer;
};

/** The library takes longer to load than most commands take to run, and few of them draw. */
async function loadTools(): Promise<Tools> {
  const [{ default: Writer }, regular, strong] = await Promise.all([
    import("pdfkit"),
    face("400Regular"),
    face("600SemiBold"),
  ]);
  return { Writer, regular, strong };
}

let tools: Promise<Tools> | undefined;

/** Each paper begins on a page of its own; the pages are numbered through. */
export async function drawPapers(papers: readonly Paper[], dated: Date): Promise<Buffer> {
  tools ??= loadTools();
  const { Writer, regular, strong } = await tools;
  const pdf = new Writer({
    size: "A4",
    margins: { top: page.margin, left: page.margin, right: page.margin, bottom: 0 },
    autoFirstPage: false,
    bufferPages: true,
    lang: "en-IN",
    info: {
      Title: papers[0]?.title ?? "",
      Author: papers[0]?.letterhead.name ?? "",
      CreationDate: dated,
      ModDate: dated,
    },
  });
  const bytes = collect(pdf);
  pdf.registerFont("regular", regular);
  pdf.registerFont("strong", strong);
  for (const paper of papers) {
    pdf.addPage();
    drawHead(pdf, paper);
    for (const section of paper.sections) await drawSection(pdf, section);
  }
  numberPages(pdf, papers[0]?.letterhead.name ?? "");
  pdf.end();
  return await bytes;
}

async function collect(pdf: Pdf): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of pdf) chunks.push(chunk as Buffer); // A PDF is a stream of bytes.
  return Buffer.concat(chunks);
}

function drawHead(pdf: Pdf, { letterhead, title, subtitle, mark }: Paper): void {
  const half = contentWidth / 2 - 8;
  const top = page.margin;
  write(pdf, letterhead.name, {
    x: page.margin,
    y: top,
    width: half,
    size: size.name,
    strong: true,
  });
  let left = pdf.y + 2;
  for (const line of letterhead.lines) {
    write(pdf, line, { x: page.margin, y: left, width: half, size: size.small, color: ink.soft });
    left = pdf.y + 1;
  }
  const x = page.margin + contentWidth - half;
  const right = { x, width: half, align: "right" } as const;
  write(pdf, title, { ...right, y: top, size: size.title, strong: true });
  write(pdf, subtitle, { ...right, y: pdf.y + 1, size: size.text, color: ink.soft });
  if (mark) write(pdf, mark, { ...right, y: pdf.y + 2, size: size.text, strong: true });
  pdf.y = Math.max(left, pdf.y) + 8;
  rule(pdf, pdf.y, 1);
  pdf.y += 10;
}

async function drawSection(pdf: Pdf, section: Section): Promise<void> {
  switch (section.kind) {
    case "facts":
      return drawFacts(pdf, section.columns);
    case "heading":
      // What it is the heading of begins on the same page.
      if (pdf.y + underHeading > contentBottom) startPage(pdf);
      return drawText(pdf, section.text, { strong: true, size: size.text + 1, after: 4 });
    case "note":
      return drawText(pdf, section.text, { color: ink.soft, size: size.small, after: 4 });
    case "table":
      return await drawTable(pdf, section.columns, section.rows);
  }
}

function drawText(
  pdf: Pdf,
  text: string,
  { after, ...style }: Pick<Writing, "size" | "strong" | "color"> & { readonly after: number },
): void {
  const box = { x: page.margin, width: contentWidth, ...style };
  if (pdf.y + heightOf(pdf, text, box) > contentBottom) startPage(pdf);
  write(pdf, text, { ...box, y: pdf.y });
  pdf.y += after;
}

function drawFacts(pdf: Pdf, columns: readonly (readonly Fact[])[]): void {
  const width = contentWidth / columns.length - 8;
  const top = pdf.y;
  let bottom = top;
  columns.forEach((facts, at) => {
    const x = page.margin + at * (contentWidth / columns.length);
    let y = top;
    for (const { label, value } of facts) {
      write(pdf, label, { x, y, width, size: size.small, color: ink.soft });
      write(pdf, value, { x, y: pdf.y, width, size: size.text, strong: true });
      y = pdf.y + 4;
    }
    bottom = Math.max(bottom, y);
  });
  pdf.y = bottom + 6;
}

/** How many rows are drawn before others get their turn. */
const rowsPerTurn = 25;

async function drawTable(
  pdf: Pdf,
  columns: readonly Column[],
  rows: readonly Row[],
): Promise<void> {
  const head: Row = { cells: columns.map((column) => column.head), strong: true };
  if (pdf.y + underHeading > contentBottom) startPage(pdf);
  drawRow(pdf, columns, head, ink.band);
  for (const [at, row] of rows.entries()) {
    if (at % rowsPerTurn === rowsPerTurn - 1) await yieldToOthers();
    if (pdf.y + rowHeight(pdf, columns, row) > contentBottom) {
      startPage(pdf);
      drawRow(pdf, columns, head, ink.band);
    }
    drawRow(pdf, columns, row, undefined);
  }
  pdf.y += 10;
}

function drawRow(pdf: Pdf, columns: readonly Column[], row: Row, band: string | undefined): void {
  const top = pdf.y;
  const height = rowHeight(pdf, columns, row);
  if (band) pdf.rect(page.margin, top, contentWidth, height).fill(band);
  let x = page.margin;
  columns.forEach((column, at) => {
    drawCell(pdf, row.cells[at] ?? "", { column, x, top, strong: row.strong ?? false });
    x += column.width;
  });
  rule(pdf, top + height, 0.5);
  pdf.y = top + height;
}

type CellPlace = {
  readonly column: Column;
  readonly x: number;
  readonly top: number;
  readonly strong: boolean;
};

function drawCell(pdf: Pdf, cell: string, { column, x, top, strong }: CellPlace): void {
  const [text, small] = partsOf(cell);
  const box = { x: x + cellPadding, width: innerWidth(column), align: column.align ?? "left" };
  const fitted = fitOf(pdf, text, column, strong);
  // A figure that was set smaller stands on the line of the others.
  write(pdf, text, { ...box, y: top + cellPadding + size.text - fitted, size: fitted, strong });
  if (small) write(pdf, small, { ...box, y: pdf.y, size: size.small, color: ink.soft });
}

function rowHeight(pdf: Pdf, columns: readonly Column[], { cells, strong = false }: Row): number {
  const heights = columns.map((column, at) => {
    const [text, small] = partsOf(cells[at] ?? "");
    const width = innerWidth(column);
    const fitted = fitOf(pdf, text, column, strong);
    const main = heightOf(pdf, text, { width, size: fitted, strong });
    return main + (small ? heightOf(pdf, small, { width, size: size.small }) : 0);
  });
  return Math.max(...heights) + 2 * cellPadding;
}

function partsOf(cell: string): [string, string] {
  const end = cell.indexOf("\n");
  return end < 0 ? [cell, ""] : [cell.slice(0, end), cell.slice(end + 1)];
}

function innerWidth({ width }: Column): number {
  return width - 2 * cellPadding;
}

/** A figure is never broken over lines: it is set smaller until it fits. */
function fitOf(pdf: Pdf, text: string, column: Column, strong: boolean): number {
  if (column.align !== "right") return size.text;
  let fitted: number = size.text;
  const isWide = () =>
    pdf
      .font(strong ? "strong" : "regular")
      .fontSize(fitted)
      .widthOfString(text) > innerWidth(column);
  while (fitted > size.least && isWide()) fitted -= 0.25;
  return fitted;
}

type Writing = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly size: number;
  readonly strong?: boolean;
  readonly color?: string;
  readonly align?: "left" | "right";
};

function write(pdf: Pdf, text: string, writing: Writing): void {
  const { x, y, width, align = "left", color = ink.text } = writing;
  styled(pdf, writing).fillColor(color).text(text, x, y, { width, align });
}

function heightOf(
  pdf: Pdf,
  text: string,
  writing: Pick<Writing, "width" | "size" | "strong">,
): number {
  return styled(pdf, writing).heightOfString(text, { width: writing.width });
}

function styled(pdf: Pdf, { strong, size: points }: Pick<Writing, "strong" | "size">): Pdf {
  return pdf.font(strong ? "strong" : "regular").fontSize(points);
}

function rule(pdf: Pdf, y: number, width: number): void {
  pdf
    .moveTo(page.margin, y)
    .lineTo(page.margin + contentWidth, y)
    .lineWidth(width)
    .strokeColor(ink.rule)
    .stroke();
}

function startPage(pdf: Pdf): void {
  pdf.addPage();
  pdf.y = page.margin;
}

function numberPages(pdf: Pdf, name: string): void {
  const { start, count } = pdf.bufferedPageRange();
  for (let at = 0; at < count; at++) {
    pdf.switchToPage(start + at);
    rule(pdf, footerTop - 5, 0.5);
    const box = { y: footerTop, size: size.small, color: ink.soft };
    write(pdf, name, { ...box, x: page.margin, width: contentWidth * 0.7 });
    const x = page.margin + contentWidth * 0.7;
    const text = `Page ${at + 1} of ${count}`;
    write(pdf, text, { ...box, x, width: contentWidth * 0.3, align: "right" });
  }
}
