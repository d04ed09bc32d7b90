import { schemeName } from "../words.js";
import { makeAct } from "./acts.js";
import { listFilters, showList } from "./list.js";
import { sayWord, showDay, showFirm, showId, showMoney, showState } from "./show.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const creditPages = [
  {
    path: "/credits",
    title: "Credits",
    key: "d",
    show: (view) =>
      showList(view, {
        title: "Credits",
        acts: [makeNews(view)],
        path: "/ops/credits",
        rows: "credits",
        query: { environment: view.environment },
        filters: [
          { name: "scrip_no", label: "Number" },
          { name: "scheme", label: "Scheme" },
          { name: "status", label: "State" },
          ...listFilters,
        ],
        firms: (row) => [row["firm_id"]],
        columns: [
          { head: "Credit", cell: (row) => row["scrip_no"] },
          { head: "Holder", kind: "wide", cell: (row) => showFirm(row["firm_id"]) },
          { head: "Scheme", cell: (row) => schemeName(row["scheme"]) },
          { head: "Face", kind: "number", cell: (row) => showMoney(row["face_paise"]) },
          { head: "Issued", kind: "number", cell: (row) => showMoney(row["issued_paise"]) },
          { head: "Expires", cell: (row) => showDay(row["expires_on"]) },
          { head: "For", cell: (row) => showId(row["reserved_for"]) },
          {
            head: "State",
            cell: (row) => [
              showState(row["status"]),
              row["reason"] ? ` ${sayWord(row["reason"])}` : "",
            ],
          },
        ],
        empty: "There are no credits like that.",
      }),
  },
];

/** @param {View} view */
function makeNews(view) {
  return makeAct(view, {
    label: "Record customs' notice…",
    permission: "credits.write",
    says: "What customs did to a credit unasked. A deal that has it is looked at.",
    fields: [
      { name: "scrip_no", label: "Scrip number" },
      {
        name: "news",
        label: "Customs' decision",
        type: "choice",
        options: [
          ["suspend", "suspended it"],
          ["lift", "lifted its suspension"],
          ["cancel", "cancelled it"],
        ],
      },
      { name: "reason", label: "Notice number" },
    ],
    call: (values) => ({
      path: "/ops/credits/news",
      body: { environment: view.environment, ...values },
    }),
    said: () => "Recorded.",
  });
}
