// Measures text and breaks it into lines.
//
// The PDF library shapes text for any script, at some tenths of a millisecond per word. Latin letters,
// figures and signs need no shaping, so they are set glyph by glyph from the widths of the font; the
// library shapes everything else. A line may have runs of several scripts, each in its own font.

import type PdfWriter from "pdfkit";

import { showLines } from "../kernel/text.ts";
import {
  type FaceName,
  type Fonts,
  hasIndianText,
  splitRuns,
  type TextRun,
  type Weight,
} from "./pdf-fonts.ts";

export type Pdf = InstanceType<typeof PdfWriter>;

/** A run with the name of its font and its width at a size of one point. */
type SetRun = TextRun & { readonly font: string; readonly width: number };

export type Typeface = {
  /** Of one line, at a size of one point. */
  width(text: string): number;
  /** From one line to the next, at a size of one point: Indian scripts reach higher and lower. */
  lineHeight(text: string): number;
  /** From the top of a line of the text to its baseline, at a size of one point. */
  ascent(text: string): number;
  setRuns(line: string): SetRun[];
};

export type Typefaces = Readonly<Record<Weight, Typeface>>;

const plainCodesEnd = 0x2300;
const plainText = /^[\u0020-\u024f\u2010-\u2027\u2030-\u205e\u20a0-\u20c0\u2100-\u22ff]*$/;

/** The fields of the library's embedded fonts that are used here. */
type EmbeddedFont = {
  readonly font: LibraryFont;
  readonly scale: number;
  layoutRun(text: string, features?: unknown): GlyphRun;
};

type LibraryFont = {
  readonly ascent: number;
  readonly unitsPerEm: number;
  glyphForCodePoint(codePoint: number): Glyph;
  layout(text: string): unknown;
  readonly _layoutEngine?: { readonly engine?: { readonly GPOSProcessor?: AnchorProcessor } };
};

/** Places marks, such as vowel signs, on the letters that carry them. */
type AnchorProcessor = {
  getAnchor(anchor: object | null | undefined): unknown;
  applyLookup(type: number, table: unknown): boolean;
};

type Glyph = { readonly id: number; readonly advanceWidth: number };

type GlyphPosition = {
  readonly xAdvance: number;
  readonly yAdvance: number;
  readonly xOffset: number;
  readonly yOffset: number;
  readonly advanceWidth: number;
};

type GlyphRun = {
  readonly glyphs: readonly Glyph[];
  readonly positions: readonly GlyphPosition[];
  readonly advanceWidth: number;
};

type Placed = { readonly glyph: Glyph; readonly position: GlyphPosition };

/** What text of Indian scripts needs above and below a line of Latin text, in parts of its size. */
const roomAbove = 0.12;
const roomBelow = 0.18;

/** Registers the fonts of a document and measures text in them. */
export function openTypefaces(pdf: Pdf, fonts: Fonts): Typefaces {
  const open = (weight: Weight): Typeface => {
    const nameFont = (face: FaceName) => `${face} ${weight}`;
    const embed = (face: FaceName): EmbeddedFont => {
      const file = fonts.get(face)?.[weight];
      if (!file) throw new Error(`the font ${nameFont(face)} is not loaded`);
      pdf.registerFont(nameFont(face), file);
      pdf.font(nameFont(face)).fontSize(1);
      // The types of the library leave this field out; its version is pinned.
      const { _font: font } = pdf as unknown as { readonly _font: EmbeddedFont };
      return font;
    };
    const latin = embed("latin");
    const lineHeight = pdf.currentLineHeight(true);
    const ascent = latin.font.ascent / latin.font.unitsPerEm;
    const placed = setPlainly(latin);
    for (const face of fonts.keys()) if (face !== "latin") shapeSafely(embed(face));

    const measure = ({ face, text }: TextRun): number => {
      if (!plainText.test(text)) return pdf.font(nameFont(face)).fontSize(1).widthOfString(text);
      let thousandths = 0;
      for (let at = 0; at < text.length; at++) {
        thousandths += placed(text.charCodeAt(at)).position.advanceWidth;
      }
      return thousandths / 1_000;
    };
    return {
      lineHeight: (text) => lineHeight + (hasIndianText(text) ? roomAbove + roomBelow : 0),
      ascent: (text) => ascent + (hasIndianText(text) ? roomAbove : 0),
      width: (text) => splitRuns(text).reduce((sum, run) => sum + measure(run), 0),
      setRuns: (line) =>
        splitRuns(line).map((run) => ({ ...run, font: nameFont(run.face), width: measure(run) })),
    };
  };
  return { regular: open("regular"), strong: open("strong") };
}

function place(font: EmbeddedFont, code: number): Placed {
  const glyph = font.font.glyphForCodePoint(code);
  const advanceWidth = glyph.advanceWidth * font.scale;
  const position = { xAdvance: advanceWidth, yAdvance: 0, xOffset: 0, yOffset: 0, advanceWidth };
  return { glyph, position };
}

/** Makes the library set plain text glyph by glyph; returns the glyph of each letter. */
function setPlainly(font: EmbeddedFont): (code: number) => Placed {
  const known = Array.from<Placed | undefined>({ length: plainCodesEnd });
  const placed = (code: number): Placed => (known[code] ??= place(font, code));
  shapeSafely(font);
  const shape = font.layoutRun.bind(font);
  font.layoutRun = (text, features) => {
    if (!plainText.test(text)) return shape(text, features);
    return joinPlaced(Array.from(text, (letter) => placed(letter.charCodeAt(0))));
  };
  return placed;
}

function joinPlaced(placed: readonly Placed[]): GlyphRun {
  return {
    glyphs: placed.map(({ glyph }) => glyph),
    positions: placed.map(({ position }) => position),
    advanceWidth: placed.reduce((sum, { position }) => sum + position.advanceWidth, 0),
  };
}

/** A name that the library cannot shape is set letter by letter: it must not cost the document. */
function shapeSafely(font: EmbeddedFont): void {
  skipMissingAnchors(font.font);
  const shape = font.layoutRun.bind(font);
  font.layoutRun = (text, features) => {
    try {
      return shape(text, features);
    } catch {
      return joinPlaced(Array.from(text, (letter) => place(font, letter.codePointAt(0) ?? 0)));
    }
  };
}

/**
 * A font may leave out where a mark goes on some letter; the next of its tables may know. The library
 * throws there, in the version that is pinned.
 */
function skipMissingAnchors(font: LibraryFont): void {
  font.layout(" "); // Makes its layout engine.
  const { _layoutEngine: layout } = font;
  const processor = layout?.engine?.GPOSProcessor;
  if (!processor) return;
  const missing = new Error("there is no such anchor");
  const getAnchor = processor.getAnchor.bind(processor);
  const applyLookup = processor.applyLookup.bind(processor);
  processor.getAnchor = (anchor) => {
    if (!anchor) throw missing;
    return getAnchor(anchor);
  };
  processor.applyLookup = (type, table) => {
    try {
      return applyLookup(type, table);
    } catch (error) {
      if (error !== missing) throw error;
      return false;
    }
  };
}

/** Breaks at spaces and line breaks, and inside a word that is wider than a line. */
export function breakLines(
  typeface: Pick<Typeface, "width">,
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

let letters: Intl.Segmenter | undefined;

/** Cuts between letters, never between a letter and its marks. */
function cutWord(typeface: Pick<Typeface, "width">, word: string, most: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  const parts = plainText.test(word) ? word : splitLetters(word);
  for (const letter of parts) {
    if (piece !== "" && typeface.width(piece + letter) > most) {
      pieces.push(piece);
      piece = "";
    }
    piece += letter;
  }
  return [...pieces, piece];
}

/** The segmenter takes 60 ms to make, so it is made for the first word that needs it. */
function splitLetters(word: string): string[] {
  letters ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return Array.from(letters.segment(word), ({ segment }) => segment);
}
