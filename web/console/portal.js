// The customs portal: its reports of transfers, each looked at before it counts, and its outages.

import { makeAct } from "./acts.js";
import { make, makeSection, makeTable } from "./dom.js";
import { showList } from "./list.js";
import { sayWord, showId, showMoney, showState, showTime } from "./show.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */
/** @typedef {import("./fields.js").Field} Field */

const permission = "settlements.write";

/** @type {readonly import("./state.js").Page[]} */
export const portalPages = [
  { path: "/portal", title: "Customs portal", reach: "live", show: showPortal },
];

/** @type {readonly Field[]} */
const reportFields = [
  { name: "report", label: "The report (CSV or .xlsx)", type: "report" },
  { name: "as_of", label: "Date of the report", type: "moment", hint: "IST" },
  {
    name: "is_whole",
    label: "Complete: it has all our transfers",
    type: "yes",
    hint: "What it lacks is then not there: a holder whose deadline is over is late",
  },
];

/** @param {View} view */
async function showPortal(view) {
  /** @type {object} what the dialog was given */
  let read = {};
  const preview = make("div", { "aria-live": "polite" });
  const list = await showList(view, {
    title: "Customs portal",
    lead: "What the portal shows is the proof of who did what. Read its report of transfers each working day, after the close.",
    acts: [
      makeAct(view, {
        label: "Read a report…",
        permission,
        main: true,
        says: "You see first what it says of our transfers. Nothing is done before you import it.",
        fields: reportFields,
        call: ({ report, ...asked }) => {
          read = { ...report, ...asked };
          return { path: "/ops/ledger-reports", body: { ...read, preview: true } };
        },
        said: () => "This is what the report says.",
        after: (answer) => preview.replaceChildren(showPreview(view, read, answer)),
      }),
      makeOutage(view, {
        label: "Declare an outage…",
        says: "Nobody is late and nothing ends while it is down. Once it is up, the deadlines that it cut into move.",
        fields: [{ name: "note", label: "Reason" }],
      }),
      makeOutage(view, {
        label: "End an outage…",
        says: "The deadlines that were not over when it went down move by the working days that it took.",
      }),
    ],
    path: "/ops/ledger-reports",
    rows: "reports",
    columns: [
      { head: "Made", cell: (row) => showTime(row["as_of"]) },
      { head: "Transferred", kind: "number", cell: (row) => row["transferred"] },
      { head: "Refused", kind: "number", cell: (row) => row["refused"] },
      { head: "Pending", kind: "number", cell: (row) => row["pending"] },
      {
        head: "Missing",
        kind: "number",
        cell: (row) => (row["is_whole"] ? row["absent"] + row["missing"] : "–"),
      },
      { head: "To review", kind: "wide", cell: (row) => row["queued"].map(showQueued) },
      { head: "Imported by", cell: (row) => row["imported_by"] },
    ],
    empty: "No report was read yet.",
  });
  list.querySelector(".lead")?.after(preview);
  return list;
}

/**
 * @param {View} view
 * @param {{label: string, says: string, fields?: readonly Field[]}} outage
 */
function makeOutage(view, { fields = [], ...outage }) {
  /** @type {Field} */
  const port = {
    name: "port",
    label: "Office",
    type: "choice",
    options: [
      ["registry", "the customs portal"],
      ["bank", "the bank"],
    ],
  };
  return makeAct(view, {
    ...outage,
    permission: "registry.write",
    fields: [port, ...fields],
    call: (body) => ({ path: "/ops/ports/outage", body: { environment: "live", ...body } }),
  });
}

/** @param {Row} row */
function showQueued({ row, scrip_no, reason, problem }) {
  return make(
    "div",
    {},
    `Row ${row}: `,
    scrip_no === null ? null : [make("span", { class: "id" }, scrip_no), " "],
    problem ?? sayWord(reason),
  );
}

/**
 * @param {View} view
 * @param {object} read
 * @param {Row} answer
 */
function showPreview(view, read, { moves, queued, known }) {
  const rows = moves.map((/** @type {Row} */ move) => [
    showId(move["settlement_id"]),
    move["scrip_no"],
    showMoney(move["face_paise"]),
    move["row"] ?? "–",
    says[move["says"]],
    move["late"] === null ? "–" : [showState("late"), ` ${sides[move["late"]]}`],
  ]);
  return makeSection(
    "What the report says",
    make(
      "p",
      { class: "muted" },
      `${rows.length} of our transfers, ${known} that ended as it says, ${queued.length} rows for a person.`,
    ),
    makeTable(
      "What the report says",
      [
        { head: "Settlement" },
        { head: "Credit" },
        { head: "Face", kind: "number" },
        { head: "Row", kind: "number" },
        { head: "It shows", kind: "wide" },
        { head: "Late" },
      ],
      rows,
    ),
    queued.map(showQueued),
    makeAct(view, {
      label: "Import it…",
      permission,
      main: true,
      says: "What was transferred changes hands, what was refused or never begun is refunded, and who is late pays. Large faces take two people.",
      fields: [],
      call: () => ({ path: "/ops/ledger-reports", body: read }),
    }),
  );
}

const says = /** @type {Readonly<Record<string, string>>} */ ({
  transferred: "Transferred",
  refused: "Refused",
  pending: "Waits for its receiver",
  absent: "Missing after its holder's deadline: the deal ends",
  missing: "Claimed and missing: its holder is asked again",
});

const sides = /** @type {Readonly<Record<string, string>>} */ ({ sell: "seller", buy: "buyer" });
