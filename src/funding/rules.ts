// Account numbers of firms' own at the house's bank. The bank gives a form: a prefix, a length and an
// alphabet; what comes to such a number is on the house's account, with the number in the line. A number
// is the prefix, the firm's serial number, and two check digits by ISO 7064 mod 97-10, which find every
// digit in place of a digit and letter in place of a letter, and nearly every other slip. It says for whom money is meant, and never from
// whom it came.

import type { Environment } from "../kernel/caller.ts";
import type { FieldProblem } from "../kernel/failure.ts";
import { findIfscProblem } from "../kernel/identifiers.ts";

export const alphabets = { digits: "0123456789", letters: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ" };

export type Alphabet = keyof typeof alphabets;

export const alphabetNames = Object.keys(alphabets) as Alphabet[];

/** The form that the bank gave. */
export type NumberForm = {
  readonly prefix: string;
  /** Of the whole number. */
  readonly length: number;
  readonly alphabet: Alphabet;
  /** The branch that these numbers are at. */
  readonly ifsc: string;
};

/** A form as it was set once; null ends the numbers, and firms pay into the house's own account. */
export type SetForm = {
  readonly environment: Environment;
  readonly version: number;
  readonly form: NumberForm | null;
  readonly set_at: Date;
  readonly set_by: string;
  readonly approved_by: string | null;
};

const checkLength = 2;
const prefixLength = { min: 3, max: 12 };
const numberLength = { min: 10, max: 30 };
/** A serial number of this many characters is enough for a million firms. */
const serialLengthMin = 6;

export function findFormProblems({ prefix, length, alphabet, ifsc }: NumberForm): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const isPrefix =
    prefix.length >= prefixLength.min &&
    prefix.length <= prefixLength.max &&
    Array.from(prefix).every((character) => alphabets.letters.includes(character));
  if (!isPrefix) {
    const problem = `must be ${prefixLength.min} to ${prefixLength.max} capital letters and digits`;
    problems.push({ path: "prefix", problem });
  }
  const least = Math.max(numberLength.min, prefix.length + serialLengthMin + checkLength);
  if (!Number.isInteger(length) || length < least || length > numberLength.max) {
    problems.push({ path: "length", problem: `must be ${least} to ${numberLength.max}` });
  }
  if (!alphabetNames.includes(alphabet)) {
    problems.push({ path: "alphabet", problem: `must be ${alphabetNames.join(" or ")}` });
  }
  const wrongIfsc = findIfscProblem(ifsc);
  if (wrongIfsc) problems.push({ path: "ifsc", problem: wrongIfsc });
  return problems;
}

/** The number of a firm. */
export function buildNumber({ prefix, length, alphabet }: NumberForm, serial: number): string {
  const base = alphabets[alphabet].length;
  const written = serial.toString(base).toUpperCase();
  const room = length - prefix.length - checkLength;
  if (written.length > room) throw new Error(`serial number ${serial} does not fit into ${length}`);
  const body = `${prefix}${written.padStart(room, "0")}`;
  return `${body}${computeCheckDigits(body)}`;
}

/** The serial number in a number of this form; undefined where its check digits are others. */
export function readSerial({ prefix, alphabet }: NumberForm, number: string): number | undefined {
  if (toRemainder(number) !== 1n) return undefined;
  const serial = Number.parseInt(
    number.slice(prefix.length, -checkLength),
    alphabets[alphabet].length,
  );
  return Number.isSafeInteger(serial) && serial > 0 ? serial : undefined;
}

/** Whether a word has the look of the form, with right check digits or wrong ones. */
export function hasForm({ prefix, length, alphabet }: NumberForm, word: string): boolean {
  return (
    word.length === length &&
    word.startsWith(prefix) &&
    Array.from(word.slice(prefix.length)).every((each) => alphabets[alphabet].includes(each))
  );
}

function computeCheckDigits(body: string): string {
  return String(98n - toRemainder(`${body}00`)).padStart(checkLength, "0");
}

/** Letters count as 10 to 35. */
function toRemainder(text: string): bigint {
  const digits = Array.from(text).map((character) => alphabets.letters.indexOf(character));
  return BigInt(digits.join("")) % 97n;
}
