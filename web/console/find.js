import { make, makeEmpty, makeTable } from "./dom.js";
import { makeDownload } from "./download.js";
import { makeHead } from "./list.js";
import { readOps } from "./ops.js";
import { noteNames, sayWord, showFirm, showState } from "./show.js";
import { linkTo } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const findPages = [{ path: "/find", title: "Find", show: showFound }];

/** @type {Readonly<Record<string, (row: Row) => readonly [string, Record<string, string>?]>>} */
const places = {
  firm: ({ id }) => [`/firms/${id}`],
  order: ({ id }) => [`/orders/${id}`],
  settlement: ({ id }) => [`/settlements/${id}`],
  payout: ({ id }) => [`/payouts/${id}`],
  payout_file: ({ id }) => [`/files/${id}`],
  cross: ({ id }) => [`/crosses/${id}`],
  approval: ({ id }) => [`/approvals/${id}`],
  enquiry: ({ id }) => [`/enquiries/${id}`],
  credit: ({ id }) => [`/credits/${id}`],
  deposit: ({ firm_id }) => [`/firms/${firm_id}`],
  bank_line: ({ id }) => [`/bank-lines/${id}`],
  bank_statement: ({ id }) => [`/bank-statements/${id}`],
  notice: () => ["/notices"],
  notice_address: () => ["/notices"],
  operator: () => ["/people"],
  webhook: ({ id }) => ["/letters", { webhook_id: id }],
  question: () => ["/questions"],
  key: ({ firm_id }) => ["/keys", { firm_id }],
  request: ({ id }) => ["/requests", { request_id: id }],
};

/** @param {View} view */
async function showFound(view) {
  const asked = view.params.get("q") ?? "";
  const { found } = await readOps("/ops/find", { q: asked }, view.signal);
  for (const { firm_id, firm_name } of found) if (firm_name) noteNames({ [firm_id]: firm_name });
  const box = document.querySelector(".search input");
  if (box instanceof HTMLInputElement) box.value = asked;
  return make(
    "div",
    { class: "page" },
    makeHead(`Found for “${asked}”`),
    found.length === 0
      ? makeEmpty(
          "Nothing found. Try a whole id, an IEC, a PAN, the beginning of a name, a number of a credit, a UTR, or a ticket as it was written.",
        )
      : makeTable(
          "What the text may mean",
          [
            { head: "What" },
            { head: "Which" },
            { head: "Firm", kind: "wide" },
            { head: "Desk", kind: "wide" },
            { head: "Environment" },
            { head: "Details", kind: "wide" },
            { head: "State" },
          ],
          found.map((/** @type {Row} */ row) => [
            sayWord(row["kind"]),
            showPlace(row),
            showFirm(row["firm_id"]),
            row["desk_name"] ?? "–",
            row["environment"] ?? "–",
            row["note"] ?? "–",
            showState(row["status"]),
          ]),
        ),
    found.length === 0 ? null : makeDownload("found", async () => found),
  );
}

/** @param {Row} row */
function showPlace(row) {
  const words = make("span", { class: "id" }, row["id"]);
  const [path, query] = places[row["kind"]]?.(row) ?? [];
  if (path === undefined) return words;
  const env = row["environment"] === "sandbox" ? "sandbox" : null;
  return make("a", { href: linkTo(path, { ...query, env }) }, words);
}
