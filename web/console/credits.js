import { schemeName } from "../words.js";
import { makeAct } from "./acts.js";
import { makePast } from "./audit.js";
import { make, makeEmpty, makeFacts, makeSection, makeTable } from "./dom.js";
import { listFilters, makeHead, showList } from "./list.js";
import { readOps } from "./ops.js";
import {
  loadNames,
  sayWord,
  showDay,
  showFirm,
  showId,
  showMoney,
  showState,
  showTime,
} from "./show.js";
import { linkTo, standWith } from "./state.js";

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
          {
            head: "Credit",
            cell: (row) =>
              make("a", { href: linkTo(`/credits/${row["credit_id"]}`) }, row["scrip_no"]),
          },
          { head: "Holder", kind: "wide", cell: (row) => showFirm(row["firm_id"]) },
          { head: "Scheme", cell: (row) => schemeName(row["scheme"]) },
          { head: "Balance", kind: "number", cell: (row) => showMoney(row["face_paise"]) },
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
        empty: "No credits found.",
      }),
  },
  { path: "/credits/:id", title: "Credit", show: showCredit },
];

/** @param {View} view */
async function showCredit(view) {
  /** @type {Row} */
  const credit = await readOps(`/ops/credits/${view.id}`, {}, view.signal);
  standWith(view, credit);
  await loadNames([credit["firm_id"], credit["desk_id"]]);
  /** @type {readonly Row[]} */
  const uses = credit["uses"];
  return make(
    "div",
    { class: "page" },
    makeHead(`Credit ${credit["scrip_no"]}`, [makeNews(view)]),
    makeFacts([
      [
        "State",
        [showState(credit["status"]), credit["reason"] ? ` ${sayWord(credit["reason"])}` : ""],
      ],
      ["Scheme", schemeName(credit["scheme"])],
      ["Holder", showFirm(credit["firm_id"])],
      ["Desk", showFirm(credit["desk_id"])],
      ["Issued", showMoney(credit["issued_paise"])],
      [
        "Balance",
        [
          showMoney(credit["face_paise"]),
          credit["balance_shown_on"]
            ? `, shown by customs on ${showDay(credit["balance_shown_on"])}`
            : ", as its firm told it",
        ],
      ],
      ["Port", credit["port_code"] ?? "–"],
      ["Issued on", showDay(credit["issued_on"])],
      ["Expires", showDay(credit["expires_on"])],
      ["For", showId(credit["reserved_for"])],
      ["Last confirmed", showTime(credit["as_of"])],
      ["Id", make("span", { class: "id" }, credit["credit_id"])],
    ]),
    makeSection(
      "Duty that it paid",
      uses.length === 0 && credit["used_elsewhere_paise"] === 0
        ? makeEmpty("No duty was paid with it.")
        : makeTable(
            "Issued, less what it paid, is the balance",
            [
              { head: "Bill of entry" },
              { head: "Port" },
              { head: "Day" },
              { head: "Used", kind: "number" },
              { head: "Left", kind: "number" },
            ],
            [
              ...(credit["used_elsewhere_paise"] === 0
                ? []
                : [
                    [
                      "not told by the firm",
                      "–",
                      "–",
                      showMoney(credit["used_elsewhere_paise"]),
                      "–",
                    ],
                  ]),
              ...uses.map((use) => [
                use["bill_of_entry"] ?? "no bill told",
                use["port"] ?? "–",
                showDay(use["used_on"]),
                showMoney(use["amount_paise"]),
                showMoney(use["balance_paise"]),
              ]),
            ],
          ),
    ),
    ...(await makePast(view, { desk_id: credit["desk_id"], entity_id: view.id })),
  );
}

/** @param {View} view */
function makeNews(view) {
  return makeAct(view, {
    label: "Record customs' notice…",
    permission: "credits.write",
    says: "What customs did to a credit on its own. A deal with it is reviewed.",
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
