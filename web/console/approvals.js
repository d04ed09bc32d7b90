import { makeAct } from "./acts.js";
import { make, makeEmpty, makeFacts, makeSection } from "./dom.js";
import { makeHead, showList } from "./list.js";
import { readOps } from "./ops.js";
import { makeToken } from "./people.js";
import {
  findFirmIds,
  loadNames,
  nameFirms,
  sayWord,
  showId,
  showMoney,
  showState,
  showTime,
} from "./show.js";
import { linkTo, may, person } from "./state.js";
import { showBands, showRows, showTerms } from "./terms.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const approvalPages = [
  {
    path: "/approvals",
    title: "Approvals",
    refreshes: true,
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
            initial: "proposed",
          },
        ],
        firms: (row) => findFirmIds(row["summary"]),
        columns: [
          {
            head: "Proposal",
            kind: "wide",
            cell: (row) =>
              make(
                "a",
                { href: linkTo(`/approvals/${row["approval_id"]}`) },
                nameFirms(row["summary"]),
              ),
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
  const { shown, changed, hindrance } = approval;
  await Promise.all([
    loadFirms(view, shown),
    loadNames(findFirmIds(approval["summary"])),
    loadBankTexts(view, approval),
  ]);
  const summary = nameFirms(approval["summary"]);
  const isOpen = approval["status"] === "proposed";
  const isOwn = approval["proposed_by"].toLowerCase() === person.name.toLowerCase();
  const roles = ["admin", ...approval["approvers"]];
  const isForOthers = !isOwn && !roles.includes(person.role);
  const approve = makeAct(view, {
    label: "Approve…",
    permission: "approvals.decide",
    main: true,
    says: [summary, ". It is carried out at once."],
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
    makeHead("Approval", isOpen && !isForOthers ? [isOwn ? null : approve, reject] : []),
    make("p", { class: "summary" }, summary),
    isOpen && isOwn
      ? make("p", { class: "notice" }, "You proposed this: somebody else has to approve it.")
      : null,
    isOpen && isForOthers
      ? make("p", { class: "notice" }, `The role ${roles.join(" or ")} decides this.`)
      : null,
    hindrance
      ? make("p", { class: "notice" }, `It cannot be carried out as things are: ${hindrance}.`)
      : null,
    changed
      ? make(
          "p",
          { class: "notice" },
          "What it rests on has changed since it was proposed: approving it ends it, and it has to be proposed anew.",
        )
      : null,
    shown.map((/** @type {Row} */ { title, count, rows }) =>
      makeSection(
        count > rows.length ? `${title}: the first ${rows.length} of ${count}` : title,
        showPart({ title, rows }),
      ),
    ),
    makeSection(
      "About the proposal",
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
        ["Changed since", sayChanged(approval)],
        ["Id", make("span", { class: "id" }, approval["approval_id"])],
      ]),
    ),
    make(
      "details",
      { class: "block" },
      make("summary", {}, "All terms"),
      showTerms(approval["terms"]),
    ),
  );
}

/** @param {{title: string, rows: readonly Row[]}} part */
function showPart({ title, rows }) {
  if (rows.length === 0) return makeEmpty("None.");
  return rows[0]?.["bid_after_bps"] === undefined ? showRows({ title, rows }) : showBands(rows);
}

/** @param {Row} approval */
function sayChanged({ changed }) {
  if (changed === null) return "–";
  return changed ? "yes" : "nothing";
}

/**
 * Adds who sent a bank's line and what the bank wrote about it, which is sealed where it is kept.
 *
 * @param {View} view
 * @param {Row} approval
 */
async function loadBankTexts({ signal }, { kind, subject_id, shown }) {
  const [part] = shown;
  if (!part || !kind.startsWith("bank.") || !may("bank.write")) return;
  const isImport = kind === "bank.import";
  const path = isImport ? `/ops/bank/statements/${subject_id}` : `/ops/bank/lines/${subject_id}`;
  const told = await readOps(path, {}, signal);
  /** @type {Row[]} */
  const lines = isImport ? told.lines : [told];
  part.rows = part.rows.map((/** @type {Row} */ row, /** @type {number} */ at) => {
    const { remitter_name, remitter_account_masked, narration } = lines[at] ?? {};
    const account = remitter_account_masked ? ` ${remitter_account_masked}` : "";
    return { ...row, remitter: `${remitter_name || "nobody named"}${account}`, narration };
  });
}

/**
 * Names the firms of what is shown; a credit that is asked about has its holder's.
 *
 * @param {View} view
 * @param {readonly Row[]} shown
 */
async function loadFirms(view, shown) {
  /** @type {Row[]} */
  const rows = shown.flatMap((part) => part["rows"]);
  for (const row of rows.filter(({ question }) => question === "credit_holding")) {
    const query = { environment: view.environment, scrip_no: row["scrip_no"] };
    const { credits } = await readOps("/ops/credits", query, view.signal);
    const credit = credits.find((/** @type {Row} */ one) => one["credit_id"] === row["subject_id"]);
    row["firm_id"] = credit?.firm_id;
  }
  const ids = rows.flatMap((row) =>
    Object.entries(row).flatMap(([name, value]) => (/(firm|desk)_id$/.test(name) ? [value] : [])),
  );
  await loadNames(ids);
}

/** @param {any} answer */
function revealCode({ result }) {
  if (result?.token) return makeToken(result.token);
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
