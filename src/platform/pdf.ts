// Lays out documents as PDF: a letterhead, facts side by side, tables over several pages, notes, page
// numbers.
//
//   measure   every cell: a row is as high as its tallest cell, and no text is cut off
//   break     before a row that does not fit; the head of its table is repeated
//   twice     all documents are laid out first without drawing, to count the pages; then they are
//             drawn, and each full page is written out and released
//
// The same input gives the same bytes: the date is an argument, and nothing else depends on time.

import type PdfWriter from "pdfkit";

import { NobodyWaits, type Stop } from "./heavy/kinds.ts";
import { findScripts, hasIndianText, loadFonts } from "./pdf-fonts.ts";
import { breakLines, openTypefaces, type Pdf, type Typeface, type Typefaces } from "./pdf-text.ts";

// The page that a document is drawn on: the position of the next element, and what draws it. Everything
// drawn is part of the document's structure, which readers aloud follow, or is marked as decoration.

const page = { width: 595.28, height: 841.89, margin: 40 } as const;
const contentWidth = page.width - 2 * page.margin;
const size = { title: 15, name: 12, text: 8.5, small: 7, least: 5 } as const;
const ink = { text: "#16202a", soft: "#5b6875", rule: "#c9d1d9", band: "#eef2f5" } as const;
const footerTop = page.height - page.margin - 8;

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

/** What an element of the structure is, as PDF names it. */
type TagRole = "Sect" | "H1" | "H2" | "P" | "Table" | "TR" | "TH" | "TD";

type Element = ReturnType<Pdf["struct"]>;

class PdfSheet {
  y: number = page.margin;
  pages = 0;
  readonly #typefaces: Typefaces;
  readonly #stop: Stop;
  readonly #drawn: Drawn | undefined;
  /** The open elements of the structure, the innermost last. */
  readonly #open: Element[] = [];

  constructor(typefaces: Typefaces, stop: Stop, drawn?: Drawn) {
    this.#typefaces = typefaces;
    this.#stop = stop;
    this.#drawn = drawn;
    if (!drawn) return;
    const document = drawn.pdf.struct("Document");
    drawn.pdf.addStructure(document);
    this.#open.push(document);
  }

  startPage(): void {
    if (this.#stop.isAsked()) throw new NobodyWaits();
    this.pages += 1;
    this.#drawn?.pdf.addPage();
    if (this.#drawn) this.#drawFooter(this.#drawn);
    this.y = page.margin;
  }

  /** An element that consists of others. */
  group(role: TagRole, draw: () => void): void {
    const element = this.#drawn?.pdf.struct(role);
    if (element) {
      this.#open.at(-1)?.add(element);
      this.#open.push(element);
    }
    draw();
    if (!element) return;
    this.#open.pop();
    element.end(); // Writes it out.
  }

  /** An element with this text, all of it on one page. */
  element(role: TagRole, text: string, draw: () => void): void {
    const pdf = this.#drawn?.pdf;
    if (!pdf) {
      draw();
      return;
    }
    // The types of the library leave `scope` out.
    const options: object = {
      ...(role === "TH" && { scope: "Column" }),
      // A shaped script is drawn in another order than it is read in.
      ...(hasIndianText(text) && { actual: text }),
    };
    const element = pdf.struct(role, options);
    this.#open.at(-1)?.add(element);
    const content = pdf.markStructureContent(role);
    draw();
    pdf.endMarkedContent();
    element.add(content);
    element.end();
  }

  /** Draws what says nothing: lines, colours, and what is repeated on every page. */
  decorate(draw: () => void, type: "Layout" | "Pagination" = "Layout"): void {
    this.#drawn?.pdf.markContent("Artifact", { type });
    draw();
    this.#drawn?.pdf.endMarkedContent();
  }

  /** Ends the structure; nothing can be drawn after it. */
  end(): void {
    this.#open.pop()?.end();
  }

  /** Leaves `y` under the text. */
  write(text: string, writing: Writing): void {
    const { x, y, width, align = "left", strong, size: points, color = ink.text } = writing;
    const typeface = this.#findTypeface(strong);
    const lines = breakLines(typeface, text, { width, size: points });
    const lineHeight = typeface.lineHeight(text) * points;
    this.y = y + lines.length * lineHeight;
    const pdf = this.#drawn?.pdf;
    if (!pdf) return;
    pdf.fillColor(color);
    const ascent = typeface.ascent(text) * points;
    lines.forEach((line, at) => {
      const runs = typeface.setRuns(line);
      const wide = runs.reduce((sum, run) => sum + run.width * points, 0);
      let left = x + (align === "right" ? width - wide : 0);
      for (const run of runs) {
        // With a given width, the library does not measure the text again.
        const told = { lineBreak: false, textWidth: run.width * points, wordCount: 1 };
        const place = { ...told, baseline: "alphabetic" } as const;
        pdf
          .font(run.font)
          .fontSize(points)
          .text(run.text, left, y + at * lineHeight + ascent, place);
        left += run.width * points;
      }
    });
  }

  measureHeight(text: string, { width, size: points, strong }: Omit<Writing, "x" | "y">): number {
    const typeface = this.#findTypeface(strong);
    const lines = breakLines(typeface, text, { width, size: points });
    return lines.length * typeface.lineHeight(text) * points;
  }

  measureWidth(text: string, { size: points, strong }: Pick<Writing, "size" | "strong">): number {
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
    this.decorate(() => {
      this.rule(footerTop - 5, 0.5);
      const box = { y: footerTop, size: size.small, color: ink.soft };
      this.write(name, { ...box, x: page.margin, width: contentWidth * 0.7 });
      const x = page.margin + contentWidth * 0.7;
      const text = `Page ${this.pages} of ${pages}`;
      this.write(text, { ...box, x, width: contentWidth * 0.3, align: "right" });
    }, "Pagination");
  }

  #findTypeface(strong = false): Typeface {
    return this.#typefaces[strong ? "strong" : "regular"];
  }
}

/** The house's name and address on documents. */
export type Letterhead = {
  readonly name: string;
  /** Lines. */
  readonly address: readonly string[];
  readonly gstin: string | null;
  /** Of a company; a paper that was frozen before it was told has none. */
  readonly cin?: string | null;
};

/** The letterhead as name and lines. */
export function toPaperHead({ name, address, gstin, cin = null }: Letterhead): {
  readonly name: string;
  readonly lines: readonly string[];
} {
  const codes = [gstin && `GSTIN ${gstin}`, cin && `CIN ${cin}`].filter((code) => code !== null);
  return { name, lines: [...address, ...codes] };
}

export type Paper = {
  readonly title: string;
  readonly letterhead: { readonly name: string; readonly lines: readonly string[] };
  /** Under the title, such as a number or a period. */
  readonly subtitle: string;
  /** A word across the head of a document that is not final. */
  readonly mark?: string | undefined;
  readonly sections: readonly PdfSection[];
};

export type PdfSection =
  | { readonly kind: "facts"; readonly columns: readonly (readonly Fact[])[] }
  | {
      readonly kind: "table";
      readonly columns: readonly PdfColumn[];
      readonly rows: readonly PdfRow[];
    }
  | { readonly kind: "heading"; readonly text: string }
  | { readonly kind: "note"; readonly text: string };

type Fact = { readonly label: string; readonly value: string };

type PdfColumn = {
  readonly head: string;
  /** In points; the columns of a table share the width of the page. */
  readonly width: number;
  readonly align?: "left" | "right";
};

export type PdfRow = {
  /** One per column; the part after a line break is set small. */
  readonly cells: readonly string[];
  readonly strong?: boolean;
};

const contentBottom = page.height - page.margin - 24;
const underHeading = 64;
const cellPadding = 4;
/** The structure of a row's cells takes 700 bytes; a longer table has an element for each row only. */
const cellsTaggedMax = 1_000;

let writer: Promise<{ readonly default: typeof PdfWriter }> | undefined;

type Papers = {
  readonly papers: readonly Paper[];
  /** What readers and file lists show: what it is, whose and of when. */
  readonly title: string;
  readonly dated: Date;
};

/** Each document begins on a new page; the pages are numbered through. */
export async function drawPapers(
  { papers, title, dated }: Papers,
  stop: Stop = { isAsked: () => false },
): Promise<Buffer> {
  // Loaded on first use: the library takes longer to load than most commands run, and few draw.
  writer ??= import("pdfkit");
  const { default: Writer } = await writer;
  const fonts = await loadFonts(findScripts([papers, title]));
  const name = papers[0]?.letterhead.name ?? "";
  const pdf = new Writer({
    size: "A4",
    margins: { top: page.margin, left: page.margin, right: page.margin, bottom: 0 },
    autoFirstPage: false,
    fontLayoutCache: false,
    pdfVersion: "1.7",
    lang: "en-IN",
    tagged: true,
    displayTitle: true,
    info: { Title: title, Author: name, CreationDate: dated, ModDate: dated },
  });
  const bytes = collect(pdf);
  const typefaces = openTypefaces(pdf, fonts);
  const measured = new PdfSheet(typefaces, stop);
  layOut(measured, papers);
  const drawn = new PdfSheet(typefaces, stop, { pdf, name, pages: measured.pages });
  layOut(drawn, papers);
  drawn.end();
  pdf.end();
  return await bytes;
}

async function collect(pdf: Pdf): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of pdf) chunks.push(chunk as Buffer); // A PDF is a stream of bytes.
  return Buffer.concat(chunks);
}

function layOut(sheet: PdfSheet, papers: readonly Paper[]): void {
  for (const paper of papers) {
    sheet.startPage();
    sheet.group("Sect", () => {
      drawHead(sheet, paper);
      for (const section of paper.sections) drawSection(sheet, section);
    });
  }
}

function drawHead(sheet: PdfSheet, { letterhead, title, subtitle, mark }: Paper): void {
  const half = contentWidth / 2 - 8;
  const top = page.margin;
  const name = { x: page.margin, y: top, width: half, size: size.name, strong: true };
  sheet.element("P", letterhead.name, () => sheet.write(letterhead.name, name));
  let left = sheet.y + 2;
  const small = { x: page.margin, width: half, size: size.small, color: ink.soft };
  for (const line of letterhead.lines) {
    const y = left;
    sheet.element("P", line, () => sheet.write(line, { ...small, y }));
    left = sheet.y + 1;
  }
  const x = page.margin + contentWidth - half;
  const right = { x, width: half, align: "right" } as const;
  const under = { ...right, size: size.text } as const;
  sheet.element("H1", title, () =>
    sheet.write(title, { ...right, y: top, size: size.title, strong: true }),
  );
  sheet.element("P", subtitle, () =>
    sheet.write(subtitle, { ...under, y: sheet.y + 1, color: ink.soft }),
  );
  if (mark) {
    sheet.element("P", mark, () => sheet.write(mark, { ...under, y: sheet.y + 2, strong: true }));
  }
  sheet.y = Math.max(left, sheet.y) + 8;
  sheet.decorate(() => sheet.rule(sheet.y, 1));
  sheet.y += 10;
}

function drawSection(sheet: PdfSheet, section: PdfSection): void {
  switch (section.kind) {
    case "facts":
      return drawFacts(sheet, section.columns);
    case "heading":
      // The content under a heading begins on the same page.
      if (sheet.y + underHeading > contentBottom) sheet.startPage();
      return drawText(sheet, section.text, {
        role: "H2",
        strong: true,
        size: size.text + 1,
        after: 4,
      });
    case "note":
      return drawText(sheet, section.text, {
        role: "P",
        color: ink.soft,
        size: size.small,
        after: 4,
      });
    case "table":
      return drawTable(sheet, section.columns, section.rows);
  }
}

function drawText(
  sheet: PdfSheet,
  text: string,
  {
    role,
    after,
    ...style
  }: Pick<Writing, "size" | "strong" | "color"> & {
    readonly role: "H2" | "P";
    readonly after: number;
  },
): void {
  const box = { x: page.margin, width: contentWidth, ...style };
  if (sheet.y + sheet.measureHeight(text, box) > contentBottom) sheet.startPage();
  sheet.element(role, text, () => sheet.write(text, { ...box, y: sheet.y }));
  sheet.y += after;
}

function drawFacts(sheet: PdfSheet, columns: readonly (readonly Fact[])[]): void {
  const width = contentWidth / columns.length - 8;
  const top = sheet.y;
  let bottom = top;
  columns.forEach((facts, at) => {
    const x = page.margin + at * (contentWidth / columns.length);
    let y = top;
    for (const { label, value } of facts) {
      const from = y;
      sheet.element("P", `${label} ${value}`, () => {
        sheet.write(label, { x, y: from, width, size: size.small, color: ink.soft });
        sheet.write(value, { x, y: sheet.y, width, size: size.text, strong: true });
      });
      y = sheet.y + 4;
    }
    bottom = Math.max(bottom, y);
  });
  sheet.y = bottom + 6;
}

function drawTable(sheet: PdfSheet, columns: readonly PdfColumn[], rows: readonly PdfRow[]): void {
  const cells = columns.map((column) => column.head);
  const height = rowHeight(sheet, columns, { cells, strong: true });
  const head = { cells, height, strong: true, band: ink.band } as const;
  const isShort = rows.length <= cellsTaggedMax;
  if (sheet.y + underHeading > contentBottom) sheet.startPage();
  sheet.group(isShort ? "Table" : "Sect", () => {
    drawRow(sheet, columns, { ...head, role: isShort ? "TH" : "P" });
    for (const row of rows) {
      const measured = { ...row, height: rowHeight(sheet, columns, row) };
      if (sheet.y + measured.height > contentBottom) {
        sheet.startPage();
        sheet.decorate(() => drawCells(sheet, columns, head), "Pagination");
      }
      drawRow(sheet, columns, { ...measured, role: isShort ? "TD" : "P" });
    }
  });
  sheet.y += 10;
}

type MeasuredRow = PdfRow & { readonly height: number; readonly band?: string };

function drawRow(
  sheet: PdfSheet,
  columns: readonly PdfColumn[],
  { role, ...row }: MeasuredRow & { readonly role: "TH" | "TD" | "P" },
): void {
  const { band } = row;
  if (band) sheet.decorate(() => sheet.band(sheet.y, row.height, band));
  if (role === "P") sheet.element(role, row.cells.join(" "), () => drawTexts(sheet, columns, row));
  else sheet.group("TR", () => drawTexts(sheet, columns, { ...row, role }));
  sheet.y += row.height;
  sheet.decorate(() => sheet.rule(sheet.y, 0.5));
}

/** The head of a table on a further page, where it is no part of the text. */
function drawCells(sheet: PdfSheet, columns: readonly PdfColumn[], row: MeasuredRow): void {
  if (row.band) sheet.band(sheet.y, row.height, row.band);
  drawTexts(sheet, columns, row);
  sheet.y += row.height;
  sheet.rule(sheet.y, 0.5);
}

/** Leaves `y` where it was. */
function drawTexts(
  sheet: PdfSheet,
  columns: readonly PdfColumn[],
  { cells, strong = false, role }: MeasuredRow & { readonly role?: "TH" | "TD" },
): void {
  const top = sheet.y;
  let x = page.margin;
  columns.forEach((column, at) => {
    const place = { column, x, top, strong };
    const text = cells[at] ?? "";
    const draw = () => drawCell(sheet, text, place);
    if (role) sheet.element(role, text, draw);
    else draw();
    x += column.width;
  });
  sheet.y = top;
}

type CellPlace = {
  readonly column: PdfColumn;
  readonly x: number;
  readonly top: number;
  readonly strong: boolean;
};

function drawCell(sheet: PdfSheet, cell: string, { column, x, top, strong }: CellPlace): void {
  const [text, small] = splitCell(cell);
  const box = { x: x + cellPadding, width: innerWidth(column), align: column.align ?? "left" };
  const fitted = fitSize(sheet, text, { column, strong });
  // A figure in a smaller size is aligned with the others on the baseline.
  sheet.write(text, { ...box, y: top + cellPadding + size.text - fitted, size: fitted, strong });
  if (small) sheet.write(small, { ...box, y: sheet.y, size: size.small, color: ink.soft });
}

function rowHeight(
  sheet: PdfSheet,
  columns: readonly PdfColumn[],
  { cells, strong = false }: PdfRow,
): number {
  const heights = columns.map((column, at) => {
    const [text, small] = splitCell(cells[at] ?? "");
    const width = innerWidth(column);
    const fitted = fitSize(sheet, text, { column, strong });
    const main = sheet.measureHeight(text, { width, size: fitted, strong });
    return main + (small ? sheet.measureHeight(small, { width, size: size.small }) : 0);
  });
  return Math.max(...heights) + 2 * cellPadding;
}

function splitCell(cell: string): [string, string] {
  const end = cell.indexOf("\n");
  return end < 0 ? [cell, ""] : [cell.slice(0, end), cell.slice(end + 1)];
}

function innerWidth({ width }: PdfColumn): number {
  return width - 2 * cellPadding;
}

/** A figure is never wrapped: its size is reduced until it fits. */
function fitSize(
  sheet: PdfSheet,
  text: string,
  { column, strong }: Pick<CellPlace, "column" | "strong">,
): number {
  if (column.align !== "right") return size.text;
  const wide = sheet.measureWidth(text, { size: 1, strong });
  let fitted: number = size.text;
  while (fitted > size.least && wide * fitted > innerWidth(column)) fitted -= 0.25;
  return fitted;
}
