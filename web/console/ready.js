// What is missing before the first live day, with the page and the command that mend it.

import { make, makeTable } from "./dom.js";
import { makeHead } from "./list.js";
import { readOps } from "./ops.js";
import { showState } from "./show.js";
import { linkTo } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const readyPages = [
  { path: "/ready", title: "Ready for live", reach: "live", show: showReady },
];

const words = /** @type {Readonly<Record<string, readonly [string, string]>>} */ ({
  people: ["People", "Invite a second admin"],
  house: ["House in law", "Set the house"],
  rate_card: ["Rate cards", "Publish a card"],
  key: ["A desk's live key", "Issue a key"],
  tax_lines: ["Tax lines", "Confirm the lines"],
  calendar: ["Calendar", "Check the holidays"],
  bank_statement: ["Bank statement", "Import a statement"],
  notices: ["Notices by mail", "Add an address"],
  public_page: ["Public page", ""],
});

/** @param {View} view */
async function showReady(view) {
  /** @type {Row} */
  const { ready, steps } = await readOps("/ops/live-readiness", {}, view.signal);
  const missing = steps.filter((/** @type {Row} */ { needed }) => needed).length;
  return make(
    "div",
    { class: "page" },
    makeHead("Ready for live"),
    make(
      "p",
      { class: ready ? "muted lead" : "notice" },
      ready
        ? "Nothing that a live deal needs is missing. What is marked “to check” may wait, and should not."
        : `Before the first live deal: ${missing} to do.`,
    ),
    makeTable(
      "What a live day needs",
      [
        { head: "What" },
        { head: "State" },
        { head: "Found", kind: "wide" },
        { head: "Here" },
        { head: "Or by command", kind: "wide" },
      ],
      steps.map((/** @type {Row} */ { step, done, needed, found, page, command }) => {
        const [name, act] = words[step] ?? [step, "Open"];
        return [
          name,
          showState(chooseState(done, needed)),
          found,
          page && !done ? make("a", { href: linkTo(page) }, act) : "",
          done ? "" : make("code", { class: "plain" }, `npx scripdesk ${command}`),
        ];
      }),
    ),
  );
}

/**
 * @param {boolean} done
 * @param {boolean} needed
 */
function chooseState(done, needed) {
  if (done) return "done";
  return needed ? "missing" : "to_check";
}

/**
 * A line for Today while something that a live deal needs is missing.
 *
 * @param {View} view
 */
export async function showUnready({ environment, signal }) {
  if (environment !== "live") return null;
  const { steps } = await readOps("/ops/live-readiness", {}, signal);
  const missing = steps.filter((/** @type {Row} */ { needed }) => needed);
  if (missing.length === 0) return null;
  const names = missing.map((/** @type {Row} */ { step }) => words[step]?.[0] ?? step);
  return make(
    "p",
    { class: "notice" },
    `Missing before a live deal can be done: ${names.join(", ")}. `,
    make("a", { href: linkTo("/ready") }, "Ready for live"),
  );
}
