// Templates are plain text files of `templates/notices/`, one for each occasion:
//
//   Subject: Payouts of {desk} were paid
//
//   These payouts were paid:
//
//   * {amount} to {firm}, bank reference {utr}
//
// A line that begins with `* ` is written once for each event. A word in braces is a value; values are
// made one line, so that none can add a line, a header or another recipient.

import { showLine } from "../kernel/text.ts";

export type Words = Readonly<Record<string, string>>;

export type Template = { readonly subject: string; readonly lines: readonly string[] };

const subjectLengthMax = 150;
const valueLengthMax = 300;
const itemsMax = 50;

/** Throws for a file that is no template: the service does not start with it. */
export function parseTemplate(name: string, text: string): Template {
  const [first = "", blank, ...lines] = text.trimEnd().split("\n");
  const subject = /^Subject: (\S.*)$/.exec(first)?.[1];
  if (subject === undefined || blank !== "" || lines.length === 0) {
    throw new Error(`${name} must begin with "Subject: …", an empty line, and a text`);
  }
  return { subject, lines };
}

/** The subject and the text; `shared` are the values that all events have in common. */
export function renderTemplate(
  template: Template,
  { shared, items }: { readonly shared: Words; readonly items: readonly Words[] },
): { readonly subject: string; readonly body: string } {
  const isItem = (line: string) => line.startsWith("* ");
  const lines = template.lines.flatMap((line) => {
    if (!isItem(line)) return [fill(line, shared)];
    const shown = items.slice(0, itemsMax).map((item) => fill(line, { ...shared, ...item }));
    const more = items.length - itemsMax;
    return more > 0 ? [...shown, `* and ${more} more`] : shown;
  });
  const subject = fill(template.subject, { ...shared, ...items[0] });
  return { subject: subject.slice(0, subjectLengthMax), body: `${lines.join("\n")}\n` };
}

/** Puts values in the place of their names; throws for a name without a value. */
export function fill(text: string, words: Words): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = words[name];
    if (value === undefined) throw new Error(`a template names {${name}}, which has no value`);
    return showLine(value).slice(0, valueLengthMax);
  });
}
