import { makeFileButton } from "./download.js";
import { make } from "./dom.js";
import { showList } from "./list.js";
import { readOps } from "./ops.js";
import { showMoney, showTime } from "./show.js";
import { linkTo } from "./state.js";

/** @type {readonly import("./state.js").Page[]} */
export const statementPages = [
  {
    path: "/statements",
    title: "Statements",
    key: "r",
    show: (view) =>
      showList(view, {
        title: "Statements",
        acts: [
          makeFileButton("Month's archive", () =>
            readOps("/ops/statements/archive", {
              environment: view.environment,
              period: view.params.get("period") ?? findLastMonth(),
            }),
          ),
        ],
        lead: [
          "The final statement of every firm that has or had money with us. The archive has them as PDF and CSV, with the register and the month's fee invoices, which are also under ",
          make("a", { href: linkTo("/invoices") }, "Invoices"),
          ".",
        ],
        path: "/ops/statements",
        rows: "statements",
        query: { environment: view.environment },
        filters: [{ name: "period", label: "Month", type: "month", initial: findLastMonth() }],
        columns: [
          {
            head: "Firm",
            kind: "wide",
            cell: (row) =>
              make(
                "a",
                {
                  href: linkTo(`/firms/${row["firm_id"]}`, {
                    month: view.params.get("period") ?? findLastMonth(),
                  }),
                },
                row["legal_name"],
              ),
          },
          { head: "Number", cell: (row) => row["statement_no"] },
          { head: "Opening", kind: "number", cell: (row) => showMoney(row["opening_paise"]) },
          { head: "Closing", kind: "number", cell: (row) => showMoney(row["closing_paise"]) },
          { head: "Commission", kind: "number", cell: (row) => showMoney(row["commission_paise"]) },
          { head: "Dues", kind: "number", cell: (row) => showMoney(row["dues_paise"]) },
          { head: "Final since", cell: (row) => showTime(row["frozen_at"]) },
        ],
        empty: "No statement of this month is final.",
      }),
  },
];

/** The month before this one, in IST. */
export function findLastMonth() {
  const now = new Date(Date.now() + 19_800_000);
  now.setUTCDate(0);
  return now.toISOString().slice(0, 7);
}
