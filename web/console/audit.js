// Who did what: the trail of the house or of a desk, and that of one thing on its own page.

import { make, makeEmpty, makeSection, makeTable } from "./dom.js";
import { showList } from "./list.js";
import { readOps } from "./ops.js";
import { sayWord, showId, showKey, showState, showTime } from "./show.js";
import { linkTo } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */
/** @typedef {import("./list.js").Column} Column */

/** On the page of a thing; the audit page has all of them. */
const recordsOfThing = 20;

/** @type {readonly Column[]} */
const columns = [
  { head: "When", cell: (row) => showTime(row["at"]) },
  { head: "Who", kind: "wide", cell: showActor },
  { head: "What", kind: "wide", cell: (row) => sayWord(row["action"]) },
];

/** @type {readonly import("./state.js").Page[]} */
export const auditPages = [
  {
    path: "/audit",
    title: "Audit",
    show: (view) =>
      showList(view, {
        title: "Audit",
        lead: "Who changed what, the newest first: of the house, or of a desk.",
        path: "/ops/audit",
        rows: "records",
        query: { environment: view.environment },
        filters: [
          { name: "actor", label: "Who" },
          { name: "entity_id", label: "About (id)" },
          { name: "action", label: "Action" },
          { name: "desk_id", label: "Desk", type: "firm" },
          { name: "from", label: "From", type: "date" },
          { name: "to", label: "Up to", type: "date" },
        ],
        columns: [
          ...columns,
          { head: "About", cell: (row) => showId(row["entity_id"]) },
          {
            head: "Request",
            cell: showRequest,
          },
        ],
        empty: "No records found.",
      }),
  },
];

/**
 * A desk's call leads to what it was answered.
 *
 * @param {Row} row
 */
function showRequest({ actor_kind, request_id }) {
  if (actor_kind !== "key" || !request_id) return make("span", { class: "id" }, request_id ?? "–");
  return make("a", { class: "id", href: linkTo("/requests", { request_id }) }, request_id);
}

/** @param {Row} row */
function showActor({ actor_kind, actor_id }) {
  if (actor_kind === "key") return ["the desk, key ", showKey(actor_id)];
  const kind = make("span", { class: "muted" }, ` ${actor_kind}`);
  return actor_kind === "operator" || actor_kind === actor_id ? [actor_id] : [actor_id, kind];
}

/**
 * What became of a thing, by whom and on what evidence.
 *
 * @param {View} view
 * @param {{desk_id?: string, entity_id: string}} thing of a desk, or of the house
 * @param {readonly {status: string, at: string, reason: string | null}[]} [steps] of its lifecycle
 */
export async function makePast({ environment, signal }, thing, steps) {
  const query = { environment, ...thing, limit: recordsOfThing };
  const [{ records, next_cursor }, { evidence }] = await Promise.all([
    readOps("/ops/audit", query, signal),
    readOps("/ops/evidence", { about: thing.entity_id }, signal),
  ]);
  return [
    steps && makeSection("History", makeHistory(steps, { records, evidence })),
    evidence.length > 0 && makeSection("Evidence", makeEvidence(evidence)),
    makeSection(
      "Who did what",
      records.length === 0
        ? makeEmpty("Nothing is recorded.")
        : makeTable(
            "Who did what",
            columns,
            records.map((/** @type {Row} */ row) => columns.map(({ cell }) => cell(row))),
          ),
      next_cursor ? make("a", { href: linkTo("/audit", thing) }, "All of it") : null,
    ),
  ];
}

/**
 * Each step with whoever made it and what they gave as evidence: what was recorded in its moment.
 *
 * @param {readonly {status: string, at: string, reason: string | null}[]} steps
 * @param {{records: readonly Row[], evidence: readonly Row[]}} told
 */
function makeHistory(steps, { records, evidence }) {
  return make(
    "ol",
    { class: "history" },
    steps.map(({ status, at, reason }, place) => {
      const isThen = (/** @type {{at?: string}} */ one) => one.at === at;
      const ofMoment = records.filter((row) => isSame(row["at"], at));
      ofMoment.sort((a, b) => a["entity_version"] - b["entity_version"]);
      const doer = ofMoment[steps.slice(0, place).filter(isThen).length] ?? ofMoment.at(-1);
      const references = evidence
        .filter((row) => isSame(row["at"], at))
        .map((row) => row["reference"]);
      const said = [
        reason ? sayWord(reason) : "",
        doer ? sayDoer(doer) : "",
        [...new Set(references.filter(Boolean))].join(", "),
      ].filter((words) => words !== "");
      return make(
        "li",
        {},
        showState(status),
        " ",
        showTime(at),
        said.length > 0 ? make("span", { class: "muted" }, ` ${said.join(" · ")}`) : "",
      );
    }),
  );
}

/** What happens by itself is nobody's. @param {Row} record */
function sayDoer({ actor_kind, actor_id }) {
  if (actor_kind === "operator") return `by ${actor_id}`;
  if (actor_kind === "key") return "by the desk";
  return actor_kind === "counterparty" ? "by the other side" : "";
}

/**
 * @param {string} at
 * @param {string} other
 */
function isSame(at, other) {
  return Date.parse(at) === Date.parse(other);
}

/** @param {readonly Row[]} evidence */
function makeEvidence(evidence) {
  return makeTable(
    "Evidence",
    [
      { head: "When" },
      { head: "About", kind: "wide" },
      { head: "Reference or reason", kind: "wide" },
      { head: "By" },
      { head: "Approved by" },
    ],
    evidence.map(({ id, kind, status, at, reference, said_by, approved_by }) => [
      showTime(at),
      [sayWord(kind), " ", showState(status), " ", id.startsWith("inq_") ? "" : showId(id)],
      reference ?? "–",
      said_by,
      approved_by ?? "–",
    ]),
  );
}
