import { makeAct } from "./acts.js";
import { make, makeFacts, makeSection } from "./dom.js";
import { makeHead, showList } from "./list.js";
import { readOps } from "./ops.js";
import { sayWord, showId, showMoney, showState, showTime } from "./show.js";
import { linkTo, person } from "./state.js";
import { showTerms } from "./terms.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const approvalPages = [
  {
    path: "/approvals",
    title: "Approvals",
    reach: "live",
    key: "a",
    show: (view) =>
      showList(view, {
        title: "Approvals",
        lead: "What one person must not do alone. It happens when somebody else approves it.",
        path: "/ops/approvals",
        rows: "approvals",
        query: { environment: view.environment },
        filters: [
          {
            name: "status",
            label: "State",
            options: ["proposed", "approved", "rejected", "voided", "expired"],
            initial: "proposed",
          },
        ],
        columns: [
          {
            head: "Proposal",
            kind: "wide",
            cell: (row) =>
              make("a", { href: linkTo(`/approvals/${row["approval_id"]}`) }, row["summary"]),
          },
          { head: "Value", kind: "number", cell: (row) => showMoney(row["value_paise"]) },
          { head: "Proposed by", cell: (row) => row["proposed_by"] },
          { head: "Since", cell: (row) => showTime(row["proposed_at"]) },
          { head: "Until", cell: (row) => showTime(row["expires_at"]) },
          { head: "State", cell: (row) => showState(row["status"]) },
        ],
        empty: "Nothing waits for approval.",
      }),
  },
  { path: "/approvals/:id", title: "Approval", reach: "live", show: showApproval },
];

/** @param {View} view */
async function showApproval(view) {
  /** @type {Row} */
  const approval = await readOps(`/ops/approvals/${view.id}`, {}, view.signal);
  const isOpen = approval["status"] === "proposed";
  const isOwn = approval["proposed_by"].toLowerCase() === person.name.toLowerCase();
  const approve = makeAct(view, {
    label: "Approve…",
    permission: "approvals.decide",
    main: true,
    says: [approval["summary"], " It is carried out at once."],
    call: () => ({ path: `/ops/approvals/${view.id}/approve` }),
    said: () => "Approved and carried out.",
    ...(approval["kind"].startsWith("operator.") && { reveal: revealCode }),
  });
  const reject = makeAct(view, {
    label: isOwn ? "Take back…" : "Reject…",
    permission: "approvals.decide",
    danger: true,
    fields: [{ name: "reason", label: "Reason", type: "long" }],
    call: (values) => ({ path: `/ops/approvals/${view.id}/reject`, body: values }),
    said: () => (isOwn ? "Taken back." : "Rejected."),
  });
  return make(
    "div",
    { class: "page" },
    makeHead("Approval", isOpen ? [isOwn ? null : approve, reject] : []),
    make("p", { class: "summary" }, approval["summary"]),
    isOpen && isOwn
      ? make("p", { class: "notice" }, "You proposed this: somebody else has to approve it.")
      : null,
    makeFacts([
      ["State", showState(approval["status"])],
      ["Kind", sayWord(approval["kind"])],
      ["Value", showMoney(approval["value_paise"])],
      ["About", showId(approval["subject_id"])],
      ["Proposed", [`by ${approval["proposed_by"]}, `, showTime(approval["proposed_at"])]],
      ["Until", showTime(approval["expires_at"])],
      [
        "Decided",
        approval["decided_by"]
          ? [`by ${approval["decided_by"]}, `, showTime(approval["decided_at"])]
          : "–",
      ],
      ["Reason", approval["reason"] ?? "–"],
      ["Id", make("span", { class: "id" }, approval["approval_id"])],
    ]),
    makeSection("All terms", showTerms(approval["terms"])),
  );
}

/** @param {any} answer */
function revealCode({ result }) {
  if (!result?.code) return "Approved and carried out.";
  return make(
    "div",
    {},
    make(
      "p",
      {},
      "Give this code to the person, who enrols with it and the proposer's. It is shown this once.",
    ),
    make("code", {}, result.code),
  );
}
