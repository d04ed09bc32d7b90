// Who did what: the trail of the house or of a desk, and that of one thing on its own page.

import { make, makeEmpty, makeSection, makeTable } from "./dom.js";
import { showList } from "./list.js";
import { readOps } from "./ops.js";
import { sayWord, showId, showTime } from "./show.js";
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
  { head: "About", cell: (row) => showId(row["entity_id"]) },
];

/** @type {readonly import("./state.js").Page[]} */
export const auditPages = [
  {
    path: "/audit",
    title: "Audit",
    show: (view) =>
      showList(view, {
        title: "Audit",
        lead: "Who changed what, the newest first: of the house, or of a desk by its id.",
        path: "/ops/audit",
        rows: "records",
        query: { environment: view.environment },
        filters: [
          { name: "actor", label: "Who" },
          { name: "entity_id", label: "About (id)" },
          { name: "action", label: "Action" },
          { name: "desk_id", label: "Desk's id" },
          { name: "from", label: "From", type: "date" },
          { name: "to", label: "Up to", type: "date" },
        ],
        columns: [
          ...columns,
          {
            head: "Request",
            cell: (row) => make("span", { class: "id" }, row["request_id"] ?? "–"),
          },
        ],
        empty: "There are no records like that.",
      }),
  },
];

/** @param {Row} row */
function showActor({ actor_kind, actor_id }) {
  const kind = make("span", { class: "muted" }, ` ${actor_kind}`);
  return actor_kind === "operator" ? [actor_id] : [actor_id, kind];
}

/**
 * What was done to a thing, and by whom.
 *
 * @param {View} view
 * @param {{desk_id?: string, entity_id: string}} thing of a desk, or of the house
 */
export async function makeTrail({ environment, signal }, thing) {
  const query = { environment, ...thing, limit: recordsOfThing };
  const { records, next_cursor } = await readOps("/ops/audit", query, signal);
  return makeSection(
    "Who did what",
    records.length === 0
      ? makeEmpty("Nothing is recorded.")
      : makeTable(
          "Who did what",
          columns,
          records.map((/** @type {Row} */ row) => columns.map(({ cell }) => cell(row))),
        ),
    next_cursor ? make("a", { href: linkTo("/audit", thing) }, "All of it") : null,
  );
}
