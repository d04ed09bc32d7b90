import { make, makeFacts, makeSection, makeTable } from "./dom.js";
import { makeDownload } from "./download.js";
import { makeHead } from "./list.js";
import { readOps } from "./ops.js";
import { showId, showState, showTime } from "./show.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const healthPages = [{ path: "/health", title: "Health", key: "w", show: showHealth }];

/** @param {View} view */
async function showHealth(view) {
  const today = await readOps("/ops/today", { environment: view.environment }, view.signal);
  return make(
    "div",
    { class: "page" },
    makeHead("Health"),
    make("p", { class: "muted lead" }, "Both checks read everything: they may take a while."),
    makeSection(
      "Ledger",
      make(
        "p",
        {},
        "The service proves its books by itself: ",
        showState(today.ledger_sound ? "sound" : "failed"),
        today.ledger_sound ? "" : " or not proved lately",
      ),
      makeProof("Check the books", "/ops/ledger/check", showLedger, view),
    ),
    makeSection("Scheduled jobs", ...(await showUnattended(view))),
    makeSection("Audit trail", makeProof("Verify the trail", "/ops/audit/verify", showAudit, view)),
  );
}

/** @param {View} view */
async function showUnattended(view) {
  const { schedules } = await readOps("/ops/schedules", {}, view.signal);
  const { files } = await readOps("/ops/dropped-files", { limit: "20" }, view.signal);
  return [
    schedules.length === 0
      ? make("p", { class: "muted" }, "No scheduled jobs.")
      : makeTable(
          "Scheduled jobs",
          [
            { head: "What", kind: "wide" },
            { head: "When" },
            { head: "Last" },
            { head: "Outcome" },
            { head: "Next" },
          ],
          schedules.map((/** @type {Row} */ one) => [
            one["name"],
            one["times"],
            one["last_at"] ? showTime(one["last_at"]) : "never",
            one["outcome"]
              ? [showState(one["outcome"]), make("div", { class: "muted" }, one["said"])]
              : "–",
            one["next_at"] ? showTime(one["next_at"]) : "–",
          ]),
        ),
    files.length === 0
      ? null
      : makeTable(
          "The last files of the drop folder",
          [{ head: "File", kind: "wide" }, { head: "When" }, { head: "Outcome" }],
          files.map((/** @type {Row} */ one) => [
            `${one["folder"]}/${one["name"]}`,
            [showTime(one["at"]), make("div", { class: "muted" }, `by ${one["machine"]}`)],
            [showState(one["outcome"]), make("div", { class: "muted" }, one["said"])],
          ]),
        ),
    files.length === 0 ? null : makeDownload("dropped-files", async () => files),
  ];
}

/**
 * @param {string} words
 * @param {string} path
 * @param {(verdict: Row) => Node} show
 * @param {View} view
 */
function makeProof(words, path, show, view) {
  const result = make("div", { role: "status" });
  const button = make("button", { class: "button small", type: "button" }, words);
  button.addEventListener("click", () => {
    button.setAttribute("aria-disabled", "true");
    result.textContent = "Reading everything…";
    readOps(path, {}, view.signal)
      .then(
        (verdict) => result.replaceChildren(show(verdict)),
        (error) =>
          (result.textContent = error instanceof Error ? error.message : "It did not work."),
      )
      .finally(() => button.removeAttribute("aria-disabled"));
  });
  return make("div", { class: "proof" }, button, result);
}

/** @param {Row} verdict */
function showLedger({ sound, entries, took_ms, checked_at, first_break: broken }) {
  return makeFacts([
    ["Books", showState(sound ? "sound" : "failed")],
    ["Entries", entries.toLocaleString("en-IN")],
    ["Took", `${(took_ms / 1_000).toFixed(1)} s`],
    ["At", showTime(checked_at)],
    ...(broken
      ? listBreak(
          ["Rule", broken.check],
          ["Where", broken.place],
          ["Found", broken.found],
          ["Expected", broken.expected],
        )
      : []),
  ]);
}

/** @param {Row} verdict */
function showAudit({ whole, desks, records, erased, first_break: broken }) {
  return makeFacts([
    ["Trail", showState(whole ? "whole" : "failed")],
    ["Chains", desks.toLocaleString("en-IN")],
    ["Records", records.toLocaleString("en-IN")],
    ["Erased events", erased.toLocaleString("en-IN")],
    ...(broken
      ? listBreak(
          ["Problem", broken.problem],
          ["At number", broken.seq],
          ["Record", broken.record_id],
        )
      : []),
    ...(broken ? [/** @type {const} */ (["Desk", showId(broken.desk_id)])] : []),
  ]);
}

/** @param {...[string, string | number | null]} facts */
function listBreak(...facts) {
  return facts.map(([name, value]) => /** @type {const} */ ([name, String(value ?? "–")]));
}
