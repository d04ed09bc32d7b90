// Statements as values. A statement is text with its parameters, written with the `sql` tag; it is
// sent when it is passed to a Db.
//
//   fragment   constant text that several statements share, such as a table's column list
//   part       text with its own parameters, such as a set of rows (`table.ts`) or a condition
//
// The text is built once per call site, and a statement is prepared under a hash of its text. So the
// fragments and the columns of parts must be the same at every call.

import { createHash } from "node:crypto";

import { type WireValue, wireValue } from "./wire-value.ts";

export type SqlStatement = {
  readonly name: string;
  readonly text: string;
  readonly values: readonly WireValue[];
};

export class Fragment {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A part of a statement with its own parameters. */
export abstract class Part {
  /** The names that the text depends on. */
  abstract readonly shape: readonly string[];
  /** The text; `next` gives the placeholders of the parameters in their order. */
  abstract write(next: () => string): string;
  /** Adds the parameters in the same order. */
  abstract addValues(values: WireValue[]): void;
}

type Written = {
  readonly name: string;
  readonly text: string;
  readonly shapes: readonly (readonly string[] | undefined)[];
};

const writtenAt = new WeakMap<TemplateStringsArray, Written>();

export function sql(parts: TemplateStringsArray, ...inner: readonly unknown[]): SqlStatement {
  let written = writtenAt.get(parts);
  if (!written) writtenAt.set(parts, (written = write(parts, inner)));
  return new WrittenStatement(written, inner);
}

/** Values are encoded when they are sent, while the server may run an earlier statement. */
class WrittenStatement implements SqlStatement {
  readonly #written: Written;
  readonly #inner: readonly unknown[];

  constructor(written: Written, inner: readonly unknown[]) {
    this.#written = written;
    this.#inner = inner;
  }

  get name(): string {
    return this.#written.name;
  }

  get text(): string {
    return this.#written.text;
  }

  get values(): readonly WireValue[] {
    const values: WireValue[] = [];
    this.#inner.forEach((value, at) => {
      if (value instanceof Part) assertSameShape(this.#written.shapes[at], value.shape);
    });
    addValues(this.#inner, values);
    return values;
  }
}

/** Text with parameters that several statements share, such as what rows a list and its count are of. */
export function part(parts: TemplateStringsArray, ...inner: readonly unknown[]): Part {
  return new WrittenPart(parts, inner);
}

class WrittenPart extends Part {
  readonly #parts: TemplateStringsArray;
  readonly #inner: readonly unknown[];

  constructor(parts: TemplateStringsArray, inner: readonly unknown[]) {
    super();
    this.#parts = parts;
    this.#inner = inner;
  }

  get shape(): readonly string[] {
    return this.#parts;
  }

  write(next: () => string): string {
    return writeText(this.#parts, this.#inner, next);
  }

  addValues(values: WireValue[]): void {
    addValues(this.#inner, values);
  }
}

/** A statement whose text was built elsewhere, such as a list's. */
export function textStatement(text: string, values: readonly unknown[]): SqlStatement {
  return { name: hashText(text), text, values: values.map(wireValue) };
}

export function fragment(parts: TemplateStringsArray, ...inner: readonly Fragment[]): Fragment {
  return new Fragment(String.raw({ raw: parts }, ...inner.map(({ text }) => text)));
}

function write(parts: TemplateStringsArray, inner: readonly unknown[]): Written {
  let count = 0;
  const text = writeText(parts, inner, () => `$${++count}`);
  const name = hashText(text);
  const shapes = inner.map((value) => (value instanceof Part ? [...value.shape] : undefined));
  return { name, text, shapes };
}

function writeText(
  parts: TemplateStringsArray,
  inner: readonly unknown[],
  next: () => string,
): string {
  let text = parts[0] ?? "";
  inner.forEach((value, at) => {
    if (value instanceof Fragment) text += value.text;
    else text += value instanceof Part ? value.write(next) : next();
    text += parts[at + 1] ?? "";
  });
  return text;
}

function addValues(inner: readonly unknown[], values: WireValue[]): void {
  for (const value of inner) {
    if (value instanceof Part) value.addValues(values);
    else if (!(value instanceof Fragment)) values.push(wireValue(value));
  }
}

function hashText(text: string): string {
  return createHash("sha1").update(text).digest("base64url");
}

function assertSameShape(first: readonly string[] | undefined, now: readonly string[]): void {
  if (first?.length === now.length && now.every((name, at) => name === first[at])) return;
  throw new Error(
    `the columns of a statement are constant, but ${now.join()} are not ${first?.join()}`,
  );
}
