import { makeAct } from "./acts.js";
import { make } from "./dom.js";
import { showList } from "./list.js";
import { linkTo } from "./state.js";
import { nameFirm, sayField, sayWord, showFirm, showId, showMoney, showTime } from "./show.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */
/** @typedef {import("./fields.js").Field} Field */

const permission = "registry.write";

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
        acts: (rows) => makeAnswersToSeveral(view, rows),
        query: { environment: view.environment },
        filters: [{ name: "port", label: "Asked of" }],
        firms: (row) => [row["desk_id"]],
        columns: [
          { head: "Question", kind: "wide", cell: (row) => sayQuestion(row) },
          { head: "About", cell: (row) => showId(row["subject_id"].split(":")[0]) },
          { head: "Facts", kind: "wide", cell: (row) => showAskedFacts(row["facts"]) },
          { head: "Desk", kind: "wide", cell: (row) => showFirm(row["desk_id"]) },
          { head: "Since", cell: (row) => showTime(row["created_at"]) },
          { head: "Actions", kind: "last", cell: (row) => makeAnswer(view, row) },
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

/** What an answer to several is about. @type {Readonly<Record<string, string>>} */
const subjects = {
  firm_identity: "firms",
  bank_account: "accounts",
  credit_holding: "credits",
};

/** @param {Row} row */
export function sayQuestion({ kind }) {
  return questions[kind] ?? sayWord(kind);
}

/** Ids are linked beside the facts, and scenarios are the sandbox's own. @param {string} name */
const isHidden = (name) => name === "scenario" || name.endsWith("_id");

/** @param {Row} facts */
function listAskedFacts(facts) {
  return Object.entries(facts).flatMap(([name, value]) => {
    if (value === null || typeof value === "object" || isHidden(name)) return [];
    const isMoney = name.endsWith("paise");
    return [`${sayField(name)} ${isMoney ? showMoney(value) : String(value)}`];
  });
}

/** @param {Row} facts */
function showAskedFacts(facts) {
  return make("span", { class: "small-text" }, listAskedFacts(facts).join(", "));
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
  if (!isAnsweredHere({ kind })) {
    const [subject = ""] = subject_id.split(":");
    const place = subject.startsWith("pay_") ? `/payouts/${subject}` : findDeal(subject);
    return make("a", { href: linkTo(place) }, "Answer there");
  }
  return makeAct(view, {
    label: "Answer…",
    permission,
    says: [sayQuestion({ kind }), " ", showAskedFacts(facts)],
    fields: listAnswerFields(kind),
    call: (values) => toCall(values, [question_id]),
    said: () => "Answer saved.",
  });
}

/**
 * One answer to several questions of a kind: none is chosen until somebody chooses it.
 *
 * @param {View} view
 * @param {readonly Row[]} rows
 */
function makeAnswersToSeveral(view, rows) {
  const kinds = Map.groupBy(rows.filter(isAnsweredHere), ({ kind }) => kind);
  return [...kinds].flatMap(([kind, own]) => {
    if (own.length < 2) return [];
    const options = own.map(({ question_id, desk_id, facts }) => {
      const words = [...listAskedFacts(facts), nameFirm(desk_id)].join(", ");
      return /** @type {const} */ ([question_id, words]);
    });
    return makeAct(view, {
      label: `Answer ${own.length} about ${subjects[kind]}…`,
      permission,
      says: sayQuestion({ kind }),
      fields: [
        { name: "question_ids", label: "About", type: "several", options },
        ...listAnswerFields(kind),
      ],
      call: ({ question_ids, ...values }) => toCall(values, question_ids),
      said: ({ answered }) => `${answered} answers saved.`,
    });
  });
}

/** What is about a deal or a payout is answered where that is shown. @param {{kind?: string}} row */
function isAnsweredHere({ kind = "" }) {
  return kind === "credit_holding" || checks[kind] !== undefined;
}

/**
 * @param {string} kind
 * @returns {Field[]}
 */
function listAnswerFields(kind) {
  /** @type {Field} */
  const evidence = { name: "reference", label: "Evidence", hint: "A ticket, a letter" };
  const choose = /** @type {const} */ (["", "choose"]);
  if (kind === "credit_holding") {
    const options = /** @type {const} */ ([choose, ["yes", "yes"], ["no", "no"]]);
    const label = "The firm holds it, with these facts";
    return [evidence, { name: "held", label, type: "choice", options }];
  }
  const failing = (checks[kind] ?? []).map(
    (name) => /** @type {const} */ ([name, sayWord(name.toLowerCase())]),
  );
  const options = [choose, /** @type {const} */ (["nothing", "nothing: all is well"]), ...failing];
  return [
    evidence,
    { name: "failed", label: "Failed check", type: "choice", options },
    { name: "cure", label: "Remedy", optional: true },
  ];
}

/**
 * @param {Record<string, any>} values
 * @param {readonly string[]} ids
 */
function toCall({ reference, held, failed, cure }, ids) {
  const isFailure = failed && failed !== "nothing";
  const findings = ids.map((question_id) => ({
    question_id,
    reference,
    ...(held && { held: held === "yes" }),
    ...(isFailure && { failed: [{ check: failed, ...(cure && { cure }) }] }),
  }));
  return { path: "/ops/questions/attest", body: { findings } };
}

/** @param {string} id */
function findDeal(id) {
  return id.startsWith("crs_") ? `/crosses/${id}` : `/settlements/${id}`;
}
