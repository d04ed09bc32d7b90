// The parts of an .xlsx file: a zip archive of XML from a stranger.
//
//   unpack   only what is asked for, and only while all of it together is not too large; a part that is
//            larger than the archive says is cut, and is no XML then
//   visit    without document types, entities of its own, or deep nesting

import { strFromU8, unzipSync } from "fflate";
import sax from "sax";

import { type Failure, unprocessable } from "../../kernel/failure.ts";

/** 5,000 rows of 30 columns take about 6 MB. */
const unpackedBytesMax = 16 * 1_024 * 1_024;
const depthMax = 32;
const attributesMax = 64;
const pieceLength = 65_536;

export function refuse(problem: string): Failure {
  return unprocessable({ path: "xlsx", problem });
}

export function damaged(): Failure {
  return refuse("is damaged: it cannot be read as a workbook");
}

const zipStart = "504b0304";
const compoundStart = "d0cf11e0a1b11ae1";

export function refuseOthers(bytes: Uint8Array): void {
  const start = Buffer.from(bytes.subarray(0, 8)).toString("hex");
  if (start === compoundStart) {
    throw refuse("is an .xls file or has a password: save it as .xlsx without one");
  }
  if (!start.startsWith(zipStart)) throw refuse("is not an .xlsx workbook");
}

export class Archive {
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

export type Attributes = Readonly<Record<string, string>>;

export type Visitor = {
  readonly open?: (name: string, attributes: Attributes) => void;
  readonly text?: (text: string) => void;
  readonly close?: (name: string) => void;
  /** Whether the rest need not be read. */
  readonly isDone?: () => boolean;
};

export type Read = (name: string, visit: Visitor) => void;

export function visitXml(
  xml: string,
  { open, text, close, isDone }: Visitor,
  onPiece: () => void,
): void {
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
export function findAttribute(attributes: Attributes, name: string): string | undefined {
  const key = Object.keys(attributes).find((one) => one.endsWith(`:${name}`));
  return key === undefined ? undefined : attributes[key];
}
