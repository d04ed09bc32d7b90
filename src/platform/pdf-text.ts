// Measures text and breaks it into lines.
//
// The PDF library shapes text for any script, at some tenths of a millisecond per word. Latin letters,
// figures and signs need no shaping, so they are set glyph by glyph from the widths of the font; the
// library shapes everything else.

import type PdfWriter from "pdfkit";

import { showLines } from "../kernel/text.ts";

export type Pdf = InstanceType<typeof PdfWriter>;

export type Weight = "regular" | "strong";

export type Typeface = {
  /** Of one line, at a size of one point. */
  width(text: string): number;
  /** From one line to the next, at a size of one point. */
  readonly lineHeight: number;
};

export type Typefaces = Readonly<Record<Weight, Typeface>>;

const plainCodesEnd = 0x2300;
const plainText = /^[\u0020-\u024f\u2010-\u2027\u2030-\u205e\u20a0-\u20c0\u2100-\u22ff]*$/;

/** The fields of the library's embedded fonts that are used here. */
type EmbeddedFont = {
  readonly font: { glyphForCodePoint(codePoint: number): Glyph };
  readonly scale: number;
  layoutRun(text: string, features?: unknown): Run;
};

type Glyph = { readonly id: number; readonly advanceWidth: number };

type Position = {
  readonly xAdvance: number;
  readonly yAdvance: number;
  readonly xOffset: number;
  readonly yOffset: number;
  readonly advanceWidth: number;
};

type Run = {
  readonly glyphs: readonly Glyph[];
  readonly positions: readonly Position[];
  readonly advanceWidth: number;
};

type Placed = { readonly glyph: Glyph; readonly position: Position };

/** Registers the fonts of a document and measures text in them. */
export function openTypefaces(pdf: Pdf, fonts: Readonly<Record<Weight, Buffer>>): Typefaces {
  const open = (weight: Weight): Typeface => {
    pdf.registerFont(weight, fonts[weight]);
    pdf.font(weight).fontSize(1);
    // The types of the library leave these fields out; its version is pinned.
    const { _font: font } = pdf as unknown as { readonly _font: EmbeddedFont };
    const placed = setPlainly(font);
    const lineHeight = pdf.currentLineHeight(true);
    return {
      lineHeight,
      width(text) {
        if (!plainText.test(text)) return pdf.font(weight).fontSize(1).widthOfString(text);
        let thousandths = 0;
        for (let at = 0; at < text.length; at++) {
          thousandths += placed(text.charCodeAt(at)).position.advanceWidth;
        }
        return thousandths / 1_000;
      },
    };
  };
  return { regular: open("regular"), strong: open("strong") };
}

/** Makes the library set plain text glyph by glyph; returns the glyph of each letter. */
function setPlainly(font: EmbeddedFont): (code: number) => Placed {
  const known = Array.from<Placed | undefined>({ length: plainCodesEnd });
  const placed = (code: number): Placed => {
    const found = known[code];
    if (found) return found;
    const glyph = font.font.glyphForCodePoint(code);
    const advanceWidth = glyph.advanceWidth * font.scale;
    const position = { xAdvance: advanceWidth, yAdvance: 0, xOffset: 0, yOffset: 0, advanceWidth };
    const made = { glyph, position };
    known[code] = made;
    return made;
  };
  const shape = font.layoutRun.bind(font);
  font.layoutRun = (text, features) => {
    if (!plainText.test(text)) return shape(text, features);
    const glyphs: Glyph[] = [];
    const positions: Position[] = [];
    let advanceWidth = 0;
    for (let at = 0; at < text.length; at++) {
      const { glyph, position } = placed(text.charCodeAt(at));
      glyphs.push(glyph);
      positions.push(position);
      advanceWidth += position.advanceWidth;
    }
    return { glyphs, positions, advanceWidth };
  };
  return placed;
}

/** Breaks at spaces and line breaks, and inside a word that is wider than a line. */
export function breakLines(
  typeface: Typeface,
  text: string,
  { width, size }: { readonly width: number; readonly size: number },
): string[] {
  const most = width / size;
  const paragraphs = showLines(text).split("\n");
  return paragraphs.flatMap((paragraph) => {
    if (typeface.width(paragraph) <= most) return [paragraph];
    const lines: string[] = [];
    const space = typeface.width(" ");
    let line = "";
    let reached = 0;
    for (const word of paragraph.split(" ")) {
      const wide = typeface.width(word);
      if (line !== "" && reached + space + wide <= most) {
        line += ` ${word}`;
        reached += space + wide;
        continue;
      }
      if (line !== "") lines.push(line);
      const pieces = wide <= most ? [word] : cutWord(typeface, word, most);
      lines.push(...pieces.slice(0, -1));
      line = pieces.at(-1) ?? "";
      reached = typeface.width(line);
    }
    return [...lines, line];
  });
}

function cutWord(typeface: Typeface, word: string, most: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const letter of word) {
    if (piece !== "" && typeface.width(piece + letter) > most) {
      pieces.push(piece);
      piece = "";
    }
    piece += letter;
  }
  return [...pieces, piece];
}
