// What desks called, for whoever is asked why a call was refused.

import { make } from "./dom.js";
import { listFilters, showList } from "./list.js";
import { sayWord, showFirm, showId, showKey, showTime } from "./show.js";

/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const requestPages = [
  {
    path: "/requests",
    title: "Requests",
    key: "z",
    show: (view) =>
      showList(view, {
        title: "Requests",
        lead: "What desks called in the last 30 days, the newest first: each with its answer and what it made, never what was in it.",
        path: "/ops/requests",
        rows: "requests",
        query: { environment: view.environment },
        filters: [
          { name: "request_id", label: "Request's id" },
          { name: "key_id", label: "Key's id" },
          { name: "route", label: "Route" },
          { name: "status", label: "Status", type: "number" },
          { name: "code", label: "Code" },
          { name: "reason", label: "Reason" },
          ...listFilters,
        ],
        firms: (row) => [row["firm_id"]],
        columns: [
          { head: "When", cell: (row) => showTime(row["at"]) },
          { head: "Firm", kind: "wide", cell: (row) => showFirm(row["firm_id"]) },
          { head: "Call", kind: "wide", cell: (row) => sayCall(row) },
          { head: "Answer", kind: "wide", cell: (row) => showAnswer(row) },
          { head: "Took", kind: "number", cell: (row) => `${row["duration_ms"]} ms` },
          { head: "Made", cell: (row) => showId(row["made"]) },
          { head: "Key", cell: (row) => showKey(row["key_id"]) },
          { head: "Request", cell: (row) => showId(row["request_id"]) },
        ],
        empty: "No requests found.",
      }),
  },
];

/** @param {Row} row */
function sayCall({ method, route }) {
  return `${method} ${route ?? "(no route of ours)"}`;
}

/** @param {Row} row */
function showAnswer({ status, code, reason }) {
  const refused = status < 500 ? "wait" : "bad";
  const tone = status < 400 ? "good" : refused;
  const why = [code, reason].filter(Boolean).map(sayWord).join(": ");
  return [make("span", { class: "state", "data-tone": tone }, String(status)), why && ` ${why}`];
}
