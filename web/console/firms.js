import { makeAccount } from "./account.js";
import { makeAct } from "./acts.js";
import { makePast } from "./audit.js";
import { make, makeEmpty, makeFacts, makeSection, makeTable } from "./dom.js";
import { listFilters, makeHead, showList } from "./list.js";
import { makeDeskAddresses } from "./notices.js";
import { readOps } from "./ops.js";
import { loadNames, sayWord, showFirm, showState, showTime } from "./show.js";
import { linkTo, standWith } from "./state.js";
import { makeTasks } from "./tasks.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const firmPages = [
  {
    path: "/firms",
    title: "Firms",
    key: "c",
    show: (view) =>
      showList(view, {
        title: "Firms",
        path: "/ops/firms",
        rows: "firms",
        query: { environment: view.environment },
        filters: [
          { name: "connection_state", label: "State" },
          ...listFilters.filter(({ name }) => name !== "firm_id"),
        ],
        columns: [
          {
            head: "Firm",
            kind: "wide",
            cell: ({ firm }) =>
              make("a", { href: linkTo(`/firms/${firm.firm_id}`) }, firm.legal_name),
          },
          { head: "Desk", kind: "wide", cell: ({ desk_name }) => desk_name },
          { head: "IEC", cell: ({ firm }) => firm.iec ?? "–" },
          { head: "Role", cell: ({ firm }) => firm.role },
          { head: "Checks", cell: ({ firm }) => sayChecks(firm.checks) },
          { head: "Registered", cell: ({ firm }) => showTime(firm.created_at) },
          { head: "State", cell: ({ firm }) => showState(firm.connection_state) },
        ],
        empty: "No firms found.",
      }),
  },
  { path: "/firms/:id", title: "Firm", show: showFirmPage },
];

/** @param {readonly Row[]} checks */
function sayChecks(checks) {
  if (checks.length === 0) return "–";
  const passed = checks.filter((check) => check["outcome"] === "pass").length;
  return `${passed} of ${checks.length} passed`;
}

/** @param {View} view */
async function showFirmPage(view) {
  /** @type {Row} */
  const firm = await readOps(`/ops/firms/${view.id}`, {}, view.signal);
  standWith(view, firm);
  const { tasks } = await readOps(`/ops/firms/${view.id}/tasks`, {}, view.signal);
  const account = await readOps(`/ops/firms/${view.id}/account`, {}, view.signal);
  await loadNames([account.desk_id]);
  const { bank, mandate, suspension } = firm;
  return make(
    "div",
    { class: "page" },
    makeHead(firm["legal_name"], makeFirmActs(view, firm)),
    suspension
      ? make(
          "p",
          { class: "notice" },
          `Suspended by ${sayWord(suspension.by)}: ${suspension.reason}`,
        )
      : null,
    makeFacts([
      ["State", showState(firm["connection_state"])],
      ["Role", firm["role"]],
      ["Desk", showFirm(account.desk_id)],
      ["IEC", firm["iec"] ?? "–"],
      ["PAN", firm["pan"] ?? "–"],
      ["GSTIN", firm["gstin"] ?? "–"],
      ["CIN", firm["cin"] ?? "–"],
      ["Email", firm["email"] ?? "–"],
      ["Phone", firm["phone"] ?? "–"],
      ["Bank account", bank ? `${bank.account_no_masked} at ${bank.ifsc}, ${bank.name}` : "–"],
      [
        "Mandate",
        mandate
          ? [
              `${mandate.signatory_name}, ${mandate.reference}, until `,
              showTime(mandate.valid_until),
              mandate.transfers === "firm" ? "; it initiates transfers itself" : "",
            ]
          : "–",
      ],
      ["Client reference", firm["external_id"] ?? "–"],
      ["Registered", showTime(firm["created_at"])],
      ["Id", make("span", { class: "id" }, firm["firm_id"])],
    ]),
    ...(await makeAccount(view, account)),
    makeSection(
      "Checks",
      firm["checks"].length === 0
        ? makeEmpty("Not checked yet.")
        : makeTable(
            "Checks of the firm",
            [
              { head: "Check" },
              { head: "Outcome" },
              { head: "Remedy", kind: "wide" },
              { head: "As of" },
            ],
            firm["checks"].map((/** @type {Row} */ check) => [
              sayWord(check["check"].toLowerCase()),
              showState(check["outcome"]),
              check["cure"] ?? "–",
              showTime(check["as_of"]),
            ]),
          ),
    ),
    firm["holds"].length > 0
      ? makeSection(
          "Holds",
          makeTable(
            "What is held back",
            [{ head: "On" }, { head: "Reason", kind: "wide" }, { head: "Until" }],
            firm["holds"].map((/** @type {Row} */ hold) => [
              sayWord(hold["on"]),
              sayWord(hold["reason"]),
              showTime(hold["until"]),
            ]),
          ),
        )
      : null,
    tasks.length > 0 ? makeSection("To do", makeTasks(tasks)) : null,
    await makeDeskAddresses(view),
    makeSection(
      "More of this firm",
      make(
        "ul",
        { class: "links" },
        [
          ["/orders", "Orders"],
          ["/settlements", "Settlements"],
          ["/payouts", "Payouts"],
          ["/credits", "Credits"],
          ["/crosses", "Crosses"],
        ].map(([path = "", words]) =>
          make("li", {}, make("a", { href: linkTo(path, { firm_id: view.id }) }, words)),
        ),
      ),
    ),
    ...(await makePast(view, { desk_id: account.desk_id, entity_id: view.id })),
  );
}

/**
 * @param {View} view
 * @param {Row} firm
 */
function makeFirmActs(view, firm) {
  const path = `/ops/firms/${view.id}`;
  const permission = "firms.write";
  const allows = (/** @type {string} */ action) => firm["allowed_actions"].includes(action);
  return [
    allows("verify") &&
      makeAct(view, {
        label: "Verify…",
        permission,
        main: true,
        says: "Asks customs and the bank about the firm. Their answers are given under Questions.",
        call: () => ({ path: `${path}/verify` }),
        said: () => "The questions are asked.",
      }),
    allows("authorize") &&
      makeAct(view, {
        label: "Authorize…",
        permission,
        main: true,
        says: "Records the mandate that the firm has signed.",
        fields: [
          { name: "signatory_name", label: "Signatory" },
          { name: "reference", label: "Mandate reference" },
          { name: "valid_until", label: "Valid until", type: "day" },
          {
            name: "transfers",
            label: "Who initiates its transfers at customs",
            type: "choice",
            options: [
              ["house", "the house for it"],
              ["firm", "the firm itself"],
            ],
          },
        ],
        call: (body) => ({ path: `${path}/authorize`, body }),
        said: () => "The firm may trade.",
      }),
    allows("resume") &&
      makeAct(view, {
        label: "Resume…",
        permission,
        main: true,
        says: "Ends the suspension, whoever made it.",
        call: () => ({ path: `${path}/resume` }),
        said: () => "The firm may trade again.",
      }),
    // An operator's suspension replaces the desk's own.
    (allows("suspend") || firm["suspension"]?.by === "desk") &&
      makeAct(view, {
        label: "Suspend…",
        permission,
        danger: true,
        says: "Stops trading for the firm. Only an operator can resume it.",
        fields: [{ name: "reason", label: "Reason, shown to the desk", type: "long" }],
        call: (body) => ({ path: `${path}/suspend`, body }),
        said: () => "The firm is suspended.",
      }),
    makeAct(view, {
      label: "Import credits…",
      permission: "credits.write",
      fields: [{ name: "csv", label: "Report of the customs portal (CSV)", type: "file" }],
      call: (body) => ({ path: `${path}/credits/import`, body }),
      said: sayImported,
    }),
    makeAct(view, {
      label: "Add a deposit…",
      permission: "deposits.write",
      says: "Money that the firm has paid in. A statement of the bank says this by itself.",
      fields: [
        { name: "amount_paise", label: "Amount", type: "money" },
        { name: "reference", label: "The bank's reference (UTR)" },
      ],
      call: (values) => ({
        path: "/ops/deposits",
        body: { environment: firm["environment"], firm_id: view.id, ...values },
      }),
    }),
    firm["bank"] &&
      makeAct(view, {
        label: "Show the account…",
        permission: "accounts.reveal",
        says: "Shows the whole number. Who looked, and why, goes on record.",
        fields: [{ name: "reason", label: "Reason", type: "long" }],
        call: (body) => ({ path: `${path}/reveal-account`, body }),
        said: () => "The account was shown.",
        reveal: ({ account_no, ifsc, name }) =>
          makeFacts([
            ["Account", make("code", {}, account_no)],
            ["Branch", ifsc],
            ["Name", name],
          ]),
      }),
  ];
}

/** How many reasons are told of a report that was refused in part. */
const reasonsMax = 5;

/** @param {{accepted: number, failed: number, skipped: number, results: readonly Row[]}} answer */
function sayImported({ accepted, failed, skipped, results }) {
  const reasons = results
    .filter(({ ok }) => !ok)
    .map(({ row, error }) => `Row ${row}: ${error.message}.`);
  return [
    `${accepted} imported, ${failed} refused, ${skipped} rows skipped.`,
    ...reasons.slice(0, reasonsMax),
    reasons.length > reasonsMax ? `And ${reasons.length - reasonsMax} more.` : "",
  ].join(" ");
}
