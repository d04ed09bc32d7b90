// Control characters in text from strangers and tenants, which is shown on terminals, documents, pages
// and in spreadsheets. There ESC begins terminal commands, CR overwrites a line, and a bidirectional
// override reorders a name. They are refused on input, and replaced when older text is shown.

/** C0 but for tab and line ends, DEL, C1, the line separators and the bidirectional controls. */
// oxlint-disable-next-line no-control-regex -- It looks for them.
const controls = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
const everyControl = new RegExp(controls, "g");
const lineControls = /[\t\n\r]/;

type TextForm = "line" | "lines";

/** Whether text has control characters; in a single line, line ends count too. */
export function hasControls(text: string, form: TextForm): boolean {
  return controls.test(text) || (form === "line" && lineControls.test(text));
}

/** The text on one line, with a mark for each control character. */
export function showLine(text: string): string {
  return showLines(text).replace(/[\t\n\r]+/g, " ");
}

/** The text with its line ends, and a mark for each other control character. */
export function showLines(text: string): string {
  return controls.test(text) ? text.replace(everyControl, "\ufffd") : text;
}

/** Equivalent JSON text with control characters escaped. */
export function escapeControls(json: string): string {
  return json.replace(
    everyControl,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * The word that was most likely meant; undefined when none is near. A mistyped word has at most a third
 * of its letters wrong, or another share.
 */
export function findNearest(
  typed: string,
  words: readonly string[],
  wrongShare = 3,
): string | undefined {
  const most = Math.max(1, Math.floor(typed.length / wrongShare));
  const near = words
    .filter((word) => Math.abs(word.length - typed.length) <= most)
    .map((word) => ({ word, distance: countEdits(typed.toLowerCase(), word.toLowerCase()) }))
    .filter(({ distance }) => distance <= most)
    .toSorted((one, other) => one.distance - other.distance);
  return near[0]?.word;
}

/** How many letters must be added, removed, changed or swapped to make one text of the other. */
function countEdits(one: string, other: string): number {
  let twoAbove: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row++) {
    const line = [row];
    for (let at = 1; at <= other.length; at++) {
      const isSame = one[row - 1] === other[at - 1];
      const changed = (above[at - 1] ?? 0) + (isSame ? 0 : 1);
      const isSwapped = one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      const swapped = row > 1 && at > 1 && isSwapped ? (twoAbove[at - 2] ?? 0) + 1 : Infinity;
      line.push(Math.min(changed, swapped, (above[at] ?? 0) + 1, (line[at - 1] ?? 0) + 1));
    }
    [twoAbove, above] = [above, line];
  }
  return above[other.length] ?? 0;
}
