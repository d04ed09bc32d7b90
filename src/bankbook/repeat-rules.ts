// Which lines are the same line in another file of the bank. The balance after a line makes it the same,
// where both files have balances; otherwise its text does, and its place among equal lines of that day.
// Texts are compared without case, spaces and punctuation.

import { createHash } from "node:crypto";

import { normalize } from "./mention-rules.ts";
import type { StatementLine } from "./rules.ts";

type KeyedLine = Pick<
  StatementLine,
  "day" | "direction" | "paise" | "reference" | "narration" | "balancePaise"
>;

/** Names a line by its text and its place among those of its day that read alike. */
export function buildTextKeys(lines: readonly KeyedLine[]): string[] {
  return buildKeys(lines, describeText);
}

/** Names a line by its text and balance. */
export function buildLineKeys(lines: readonly KeyedLine[]): string[] {
  return buildKeys(lines, (line) => `${describeText(line)} ${line.balancePaise ?? ""}`);
}

/** Equal lines of one file are numbered. */
function buildKeys(lines: readonly KeyedLine[], describe: (line: KeyedLine) => string): string[] {
  const seen = new Map<string, number>();
  return lines.map((line) => {
    const alike = describe(line);
    const before = seen.get(alike) ?? 0;
    seen.set(alike, before + 1);
    return createHash("sha256").update(`${alike} ${before}`).digest("hex");
  });
}

/** The narration counts where the bank gives no reference. */
function describeText({ day, direction, paise, reference, narration }: KeyedLine): string {
  return `${day} ${direction} ${paise} ${normalize(reference) || `: ${normalize(narration)}`}`;
}

/** A reference of our own for a line whose own is missing or taken. */
export function buildReference(lineId: string): string {
  const digest = createHash("sha256").update(lineId).digest("hex");
  return `BL${digest.slice(0, 18).toUpperCase()}`;
}

/** A line as it is compared with those of other files. */
export type ComparedLine = {
  readonly line_id: string;
  readonly day: string;
  readonly direction: StatementLine["direction"];
  readonly paise: number;
  readonly balance_paise: number | null;
  readonly text_key: string | null;
  readonly utr: string | null;
  readonly other_utrs: readonly string[];
};

/** The counted line that a line of another file is; not sure where nothing tells. */
type FoundRepeat = { readonly lineId: string; readonly isSure: boolean };

/**
 * Finds the lines of a file that earlier files had, by line; the rest is new. Each counted line is the
 * same as one line at most.
 */
export function findRepeated(
  lines: readonly ComparedLine[],
  counted: readonly ComparedLine[],
): ReadonlyMap<string, FoundRepeat> {
  const alike = Map.groupBy(counted, toGroup);
  const used = new Set<string>();
  const found = new Map<string, FoundRepeat>();
  /** Pairs what is left of both by a rule. */
  const pair = (
    isSame: (line: ComparedLine, other: ComparedLine) => boolean,
  ): [ComparedLine, ComparedLine][] =>
    lines.flatMap((line): [ComparedLine, ComparedLine][] => {
      if (found.has(line.line_id)) return [];
      const same = (alike.get(toGroup(line)) ?? []).find(
        (other) => !used.has(other.line_id) && isSame(line, other),
      );
      if (!same) return [];
      used.add(same.line_id);
      found.set(line.line_id, { lineId: same.line_id, isSure: true });
      return [[line, same]];
    });
  const doubt = (pairs: readonly [ComparedLine, ComparedLine][]) => {
    for (const [line, { line_id }] of pairs) {
      found.set(line.line_id, { lineId: line_id, isSure: false });
    }
  };
  pair((line, other) => hasSameBalance(line, other) && line.text_key === other.text_key);
  pair((line, other) => hasSameBalance(line, other) && !hasOtherUtr(line, other));
  const byText = pair(
    (line, other) => isWithoutBalance(line, other) && line.text_key === other.text_key,
  );
  // Without balance and UTR only the place tells, and a part of a day has other places.
  const missing = counted.filter((other) => !used.has(other.line_id)).map(({ day }) => day);
  const parted = new Set(missing);
  doubt(byText.filter(([, { utr, day }]) => utr === null && parted.has(day)));
  // The bank's balance says that it is the same line, and its UTR that it is another.
  doubt(pair(hasSameBalance));
  return found;
}

function toGroup({ day, direction, paise }: ComparedLine): string {
  return `${day} ${direction} ${paise}`;
}

function hasSameBalance(line: ComparedLine, other: ComparedLine): boolean {
  return line.balance_paise !== null && line.balance_paise === other.balance_paise;
}

function isWithoutBalance(line: ComparedLine, other: ComparedLine): boolean {
  return line.balance_paise === null || other.balance_paise === null;
}

function hasOtherUtr(line: ComparedLine, other: ComparedLine): boolean {
  const own = listLineUtrs(line);
  const others = listLineUtrs(other);
  return own.length > 0 && others.length > 0 && !own.some((utr) => others.includes(utr));
}

function listLineUtrs({ utr, other_utrs }: ComparedLine): string[] {
  return [...(utr === null ? [] : [utr]), ...other_utrs];
}
