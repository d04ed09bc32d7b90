// Text that strangers and tenants type, and that is shown on terminals, papers, pages and in
// spreadsheets. Control characters can act there: ESC begins a terminal's commands, CR overwrites a
// line, and a bidirectional override shows a name in another order than it was written in. They are
// refused where text comes in, and replaced where older text is shown.

/** C0 but for tab and line ends, DEL, C1, the line separators and the bidirectional controls. */
// oxlint-disable-next-line no-control-regex -- They are what is looked for.
const controls = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
const everyControl = new RegExp(controls, "g");
const lineControls = /[\t\n\r]/;

export type TextForm = "line" | "lines";

/** Whether text has characters that act instead of being read; in a line, a line end is one. */
export function hasControls(text: string, form: TextForm): boolean {
  return controls.test(text) || (form === "line" && lineControls.test(text));
}

/** The text on one line, with a mark in the place of each character that would act. */
export function showLine(text: string): string {
  return showLines(text).replace(/[\t\n\r]+/g, " ");
}

/** The text with its line ends, and a mark in the place of each character that would act. */
export function showLines(text: string): string {
  return controls.test(text) ? text.replace(everyControl, "\ufffd") : text;
}

/** JSON text with every such character escaped, which is the same JSON. */
export function escapeControls(json: string): string {
  return json.replace(
    everyControl,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
