import { makeAct } from "./acts.js";
import { make } from "./dom.js";
import { showList } from "./list.js";
import { linkTo } from "./state.js";
import { sayWord, showFirm, showId, showMoney, showTime } from "./show.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */
/** @typedef {import("./fields.js").Field} Field */

/** @type {readonly import("./state.js").Page[]} */
export const questionPages = [
  {
    path: "/questions",
    title: "Questions",
    proposals: ["question.attest"],
    key: "i",
    show: (view) =>
      showList(view, {
        title: "Questions to customs and banks",
        lead: "What the service asks and cannot look up by itself. Look at the portal or the bank, and say what you saw.",
        path: "/ops/questions",
        rows: "questions",
        query: { environment: view.environment },
        filters: [{ name: "port", label: "Asked of" }],
        firms: (row) => [row["desk_id"]],
        columns: [
          { head: "Question", kind: "wide", cell: (row) => sayQuestion(row) },
          { head: "About", cell: (row) => showId(row["subject_id"].split(":")[0]) },
          { head: "Facts", kind: "wide", cell: (row) => showAskedFacts(row["facts"]) },
          { head: "Desk", kind: "wide", cell: (row) => showFirm(row["desk_id"]) },
          { head: "Since", cell: (row) => showTime(row["created_at"]) },
          { head: "Acts", kind: "last", cell: (row) => makeAnswer(view, row) },
        ],
        empty: "No open questions.",
      }),
  },
];

/** @type {Readonly<Record<string, string>>} */
const questions = {
  firm_identity: "Is the firm what it says it is?",
  bank_account: "Does the account bear the firm's name?",
  credit_holding: "Does the firm hold this credit?",
  deal_funding: "Has the buyer's money arrived?",
  credit_transfer: "Did customs transfer the credit?",
  payout: "Did the payment arrive?",
};

/** @param {Row} row */
function sayQuestion({ kind }) {
  return questions[kind] ?? sayWord(kind);
}

/** Ids are linked beside the facts, and scenarios are the sandbox's own. @param {string} name */
const isHidden = (name) => name === "scenario" || name.endsWith("_id");

/** @param {Row} facts */
function showAskedFacts(facts) {
  const said = Object.entries(facts).flatMap(([name, value]) => {
    if (value === null || typeof value === "object" || isHidden(name)) return [];
    const isMoney = name.endsWith("paise");
    const words = sayWord(name.replace(/_?paise$/, "") || "amount");
    return [`${words} ${isMoney ? showMoney(value) : String(value)}`];
  });
  return make("span", { class: "small-text" }, said.join(", "));
}

/** @type {Readonly<Record<string, readonly string[]>>} */
const checks = {
  firm_identity: ["IEC_ACTIVE", "PAN_MATCH", "GSTIN_MATCH", "FLAGGED_IEC"],
  bank_account: ["BANK_NAME_MATCH"],
};

/**
 * @param {View} view
 * @param {Row} row
 */
function makeAnswer(view, { question_id, kind, facts, subject_id }) {
  const failing = checks[kind] ?? [];
  const isHolding = kind === "credit_holding";
  // What is about a deal or a payout is answered where that is shown.
  if (failing.length === 0 && !isHolding) {
    const [subject = ""] = subject_id.split(":");
    const place = subject.startsWith("pay_") ? `/payouts/${subject}` : findDeal(subject);
    return make("a", { href: linkTo(place) }, "Answer there");
  }
  /** @type {Field[]} */
  const fields = [{ name: "reference", label: "Evidence", hint: "A ticket, a letter" }];
  if (isHolding) {
    fields.push({
      name: "held",
      label: "The firm holds it, with these facts",
      type: "choice",
      options: [
        ["", "choose"],
        ["yes", "yes"],
        ["no", "no"],
      ],
    });
  } else {
    fields.push(
      {
        name: "failed",
        label: "Failed check",
        type: "choice",
        options: [
          ["", "choose"],
          ["nothing", "nothing: all is well"],
          ...failing.map((name) => /** @type {const} */ ([name, sayWord(name.toLowerCase())])),
        ],
      },
      { name: "cure", label: "Remedy", optional: true },
    );
  }
  return makeAct(view, {
    label: "Answer…",
    permission: "registry.write",
    says: [sayQuestion({ kind }), " ", showAskedFacts(facts)],
    fields,
    call: ({ reference, held, failed, cure }) => ({
      path: "/ops/questions/attest",
      body: {
        findings: [
          {
            question_id,
            reference,
            ...(held && { held: held === "yes" }),
            ...(failed &&
              failed !== "nothing" && { failed: [{ check: failed, ...(cure && { cure }) }] }),
          },
        ],
      },
    }),
    said: () => "Answer saved.",
  });
}

/** @param {string} id */
function findDeal(id) {
  return id.startsWith("crs_") ? `/crosses/${id}` : `/settlements/${id}`;
}
