// The page that a document is drawn on: the position of the next element, and what draws it. Everything
// drawn is part of the document's structure, which readers aloud follow, or is marked as decoration.

import { NobodyWaits, type Stop } from "./heavy/kinds.ts";
import { hasIndianText } from "./pdf-fonts.ts";
import { breakLines, type Pdf, type Typeface, type Typefaces } from "./pdf-text.ts";

export const page = { width: 595.28, height: 841.89, margin: 40 } as const;
export const contentWidth = page.width - 2 * page.margin;
export const size = { title: 15, name: 12, text: 8.5, small: 7, least: 5 } as const;
export const ink = { text: "#16202a", soft: "#5b6875", rule: "#c9d1d9", band: "#eef2f5" } as const;
const footerTop = page.height - page.margin - 8;

/** The PDF and the number of its pages; absent in the first pass, which draws nothing. */
export type Drawn = { readonly pdf: Pdf; readonly name: string; readonly pages: number };

export type Writing = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly size: number;
  readonly strong?: boolean;
  readonly color?: string;
  readonly align?: "left" | "right";
};

/** What an element of the structure is, as PDF names it. */
export type Role = "Sect" | "H1" | "H2" | "P" | "Table" | "TR" | "TH" | "TD";

type Element = ReturnType<Pdf["struct"]>;

export class PdfSheet {
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
  group(role: Role, draw: () => void): void {
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
  element(role: Role, text: string, draw: () => void): void {
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
