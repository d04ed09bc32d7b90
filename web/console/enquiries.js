import { schemeName } from "../words.js";
import { makeAct } from "./acts.js";
import { make, makeFacts, makeSection } from "./dom.js";
import { makeHead, showList } from "./list.js";
import { readOps } from "./ops.js";
import { showMoney, showState, showTime } from "./show.js";
import { linkTo } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

const permission = "enquiries.read";

/** @type {readonly import("./state.js").Page[]} */
export const enquiryPages = [
  {
    path: "/enquiries",
    title: "Enquiries",
    reach: "both",
    key: "e",
    permission,
    show: (view) =>
      showList(view, {
        title: "Enquiries",
        lead: "What visitors of the public page ask. Their details are deleted 30 days after an enquiry is closed.",
        path: "/ops/enquiries",
        rows: "enquiries",
        filters: [{ name: "status", label: "State", initial: "received" }],
        columns: [
          {
            head: "From",
            kind: "wide",
            cell: (row) =>
              make("a", { href: linkTo(`/enquiries/${row["enquiry_ref"]}`) }, row["name"]),
          },
          { head: "About", cell: (row) => row["kind"] },
          { head: "Scheme", cell: (row) => (row["scheme"] ? schemeName(row["scheme"]) : "–") },
          { head: "Amount", kind: "number", cell: (row) => showMoney(row["amount_paise"]) },
          { head: "IEC", cell: (row) => row["iec"] ?? "–" },
          { head: "Message", kind: "wide", cell: (row) => shorten(row["message"] ?? "–") },
          { head: "Received", cell: (row) => showTime(row["created_at"]) },
          { head: "State", cell: (row) => showState(row["status"]) },
        ],
        empty: "No open enquiries.",
      }),
  },
  { path: "/enquiries/:id", title: "Enquiry", reach: "both", permission, show: showEnquiry },
];

/** @param {View} view */
async function showEnquiry(view) {
  /** @type {Row} */
  const enquiry = await readOps(`/ops/enquiries/${view.id}`, {}, view.signal);
  const reach = (/** @type {string} */ scheme, /** @type {string | null} */ value) =>
    value ? make("a", { href: `${scheme}:${value}` }, value) : "–";
  return make(
    "div",
    { class: "page" },
    makeHead(`Enquiry of ${enquiry["name"]}`, [
      enquiry["status"] === "received" &&
        makeAct(view, {
          label: "Close…",
          permission: "enquiries.write",
          main: true,
          fields: [{ name: "outcome", label: "Outcome", type: "long" }],
          call: (body) => ({ path: `/ops/enquiries/${view.id}/close`, body }),
          said: () => "The enquiry is closed.",
        }),
    ]),
    makeFacts([
      ["State", showState(enquiry["status"])],
      ["About", enquiry["kind"]],
      ["Scheme", enquiry["scheme"] ? schemeName(enquiry["scheme"]) : "–"],
      ["Amount", showMoney(enquiry["amount_paise"])],
      ["Email", reach("mailto", enquiry["email"])],
      ["Phone", reach("tel", enquiry["phone"])],
      [
        "IEC",
        enquiry["iec"]
          ? make("a", { href: linkTo("/find", { q: enquiry["iec"] }) }, enquiry["iec"])
          : "–",
      ],
      ["Received", showTime(enquiry["created_at"])],
      ["Deleted on", showTime(enquiry["kept_until"])],
      ["Outcome", enquiry["outcome"] ?? "–"],
      ["Reference", make("span", { class: "id" }, enquiry["enquiry_ref"])],
    ]),
    enquiry["message"]
      ? makeSection("Message", make("p", { class: "message" }, enquiry["message"]))
      : null,
  );
}

/** Enough to tell one from another. */
const beginning = 80;

/** @param {string} message */
function shorten(message) {
  return message.length <= beginning ? message : `${message.slice(0, beginning)}…`;
}
