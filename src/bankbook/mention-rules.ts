// What the words of a bank line may name: ids, references and UTRs. A name counts as a whole word only,
// or as words in a row that together are the name, because banks break long ones.

import { utrForm } from "../kernel/ids.ts";

/** Keeps capitals and digits only: banks change case and drop punctuation. */
export function normalize(text: string): string {
  return text.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
}

/** The reference, if it has the form of a UTR. */
export function parseUtr(reference: string): string | null {
  const squeezed = normalize(reference);
  return utrForm.test(squeezed) ? squeezed : null;
}

/** As NEFT and RTGS give them: the bank's four letters first, and a serial number last. */
const transferUtr = /^(?:[A-Z]{4}[A-Z0-9]{6}\d{6}|[A-Z]{4}[A-Z0-9]{6}\d{12})$/;
const ownReference = /^SD[0-9A-HJKMNP-TV-Z]{14}$/;
/** Words that banks put between the rail and its number. */
const instantUtr =
  /(?<![A-Z0-9])(?:IMPS|UPI)(?:[^A-Z0-9]+(?:CR|DR|IN|INW|P2A|P2P|P2M|REF|RRN|NO|TXN))*[^A-Z0-9]*(\d{12})(?![A-Z0-9])/g;

/** The texts of a line. */
type LineWords = { readonly reference: string; readonly narration: string };

/**
 * The UTRs of a line, the likeliest first: what the bank's column says, then what the narration has in
 * the form of NEFT or RTGS, or right after IMPS or UPI. Other long words may be account numbers.
 */
export function listUtrs({ reference, narration }: LineWords): string[] {
  const text = narration.toUpperCase();
  const transfers = listWords(text).filter(
    (each) => transferUtr.test(each) && !ownReference.test(each),
  );
  const instant = [...text.matchAll(instantUtr)].map(([, digits = ""]) => digits);
  const first = parseUtr(reference);
  return [...new Set([...(first === null ? [] : [first]), ...transfers, ...instant])];
}

const idForm = /^(?:STL|CRS|FRM)[0-9A-HJKMNP-TV-Z]{26}$/;
const idLength = 29;
const remittance = /(?=(SD[0-9A-HJKMNP-TV-Z]{14}))/g;

/** Everything in the text that looks like a reference or an id; most of it exists nowhere. */
export function findMentions({ reference, narration }: LineWords) {
  const text = normalize(`${reference} ${narration}`);
  const words = [...listWords(reference), ...listWords(narration)];
  const runs = [reference, narration].flatMap((each) => listRuns(each, idLength));
  return {
    remittances: [...new Set([...text.matchAll(remittance)].map(([, found = ""]) => found))],
    /** Settlements, crosses and firms. */
    ids: [...new Set(runs.filter((run) => idForm.test(run)).map(toId))],
    utrs: [...new Set(words.filter((word) => utrForm.test(word)))],
  };
}

function toId(squeezed: string): string {
  return `${squeezed.slice(0, 3)}_${squeezed.slice(3)}`.toLowerCase();
}

/** Whether a text of the line has the name as a whole word. */
export function hasName({ reference, narration }: LineWords, name: string): boolean {
  const squeezed = normalize(name);
  return [reference, narration].some((text) => listRuns(text, squeezed.length).includes(squeezed));
}

function listWords(text: string): string[] {
  return text.toUpperCase().match(/[A-Z0-9]+/g) ?? [];
}

/** Words of this length, and words in a row that together have it. */
export function listWordsByLength({ reference, narration }: LineWords, length: number): string[] {
  return [reference, narration]
    .flatMap((text) => listRuns(text, length))
    .filter((run) => run.length === length);
}

/** Each word, and each two or more in a row written as one, up to a length. */
function listRuns(text: string, lengthMax: number): string[] {
  const words = listWords(text);
  return words.flatMap((_, at) => {
    const runs: string[] = [];
    let run = "";
    for (const word of words.slice(at, at + lengthMax)) {
      run += word;
      if (run.length > lengthMax) break;
      runs.push(run);
    }
    return runs;
  });
}
