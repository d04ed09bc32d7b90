import { makeAct } from "./acts.js";
import { makeLineActs, showAmount } from "./bank-line.js";
import { make, makeEmpty, makeFacts, makeSection, makeTable } from "./dom.js";
import { showList } from "./list.js";
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
import { linkTo } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

const permission = "bank.write";

/** @type {readonly import("./state.js").Page[]} */
export const bankPages = [
  {
    path: "/bank",
    title: "Bank",
    proposals: ["bank."],
    reach: "live",
    key: "b",
    permission,
    show: showBank,
  },
];

/** @param {View} view */
async function showBank(view) {
  const [reconciled, { forms }] = await Promise.all([
    readOps("/ops/bank/reconciliation", {}, view.signal),
    readOps("/ops/bank/forms", {}, view.signal),
  ]);
  const preview = make("div", { "aria-live": "polite" });
  /** @type {object} what the dialog was given */
  let given = {};
  const list = await showList(view, {
    title: "Bank",
    lead: "Unmatched lines of the bank's statement, the oldest first. Only live money is on the bank account.",
    acts: [
      makeAct(view, {
        label: "Read a statement…",
        permission,
        main: true,
        says: "You see first what would be matched, what an earlier file had, and what would wait. Nothing is booked before you import it.",
        fields: [
          { name: "content_base64", label: "The bank's file (CSV or .xlsx)", type: "bytes" },
          {
            name: "form",
            label: "Form",
            type: "choice",
            options: ["generic", ...forms.map((/** @type {Row} */ one) => one["name"])].map(
              (name) => [name, name],
            ),
          },
        ],
        call: (body) => {
          given = body;
          return { path: "/ops/bank/statements/preview", body };
        },
        said: ({ matched, repeated, queued }) =>
          `${matched} would be matched, ${repeated} counted before, ${queued} would wait.`,
        after: (answer) => void showRead(answer),
      }),
    ],
    path: "/ops/bank/queue",
    rows: "lines",
    columns: [
      {
        head: "Day",
        cell: (row) =>
          make("a", { href: linkTo(`/bank-lines/${row["line_id"]}`) }, showDay(row["day"])),
      },
      {
        head: "Amount",
        kind: "number",
        cell: showAmount,
      },
      {
        head: "Remitter",
        kind: "wide",
        cell: (row) => [
          row["remitter_name"] || "–",
          " ",
          make("span", { class: "muted" }, row["remitter_account_masked"]),
        ],
      },
      { head: "UTR", cell: (row) => row["utr"] ?? "–" },
      { head: "Narration", kind: "wide", cell: (row) => row["narration"] },
      {
        head: "State",
        kind: "wide",
        cell: (row) => [showState(row["status"]), ` ${sayWord(row["reason"] ?? "")}`],
      },
      { head: "Actions", kind: "last", cell: (row) => makeLineActs(view, row) },
    ],
    empty: "Every bank line is matched.",
  });
  list.querySelector(".lead")?.after(preview);
  list.append(showReconciled(reconciled), showForms(view, forms));
  return list;

  /** @param {Row} answer */
  async function showRead(answer) {
    await loadNames(answer["results"].map((/** @type {Row} */ one) => one["firm_id"]));
    preview.replaceChildren(showPreview(view, given, answer));
    preview.querySelector("button")?.focus();
  }
}

/**
 * @param {View} view
 * @param {object} body
 * @param {Row} answer
 */
function showPreview(view, body, { results, known, incoming_paise, people, ...counts }) {
  const says = known
    ? "This file was imported before: importing it again does nothing."
    : `${counts["matched"]} of ${counts["lines"]} lines would be matched, ${counts["repeated"]} were in an earlier file, ${counts["queued"]} would wait. ${showMoney(incoming_paise)} for firms; it takes ${people === 2 ? "two people" : "one person"}.`;
  return makeSection(
    "What the statement would do",
    make("p", { class: people === 2 || known ? "notice" : "muted" }, says),
    make(
      "div",
      { class: "acts" },
      makeAct(view, {
        label: "Import it…",
        permission,
        main: true,
        says,
        call: () => ({ path: "/ops/bank/statements", body }),
        said: ({ outcome, lines, matched, queued }) =>
          `The statement is ${outcome}: ${lines} lines, ${matched} matched, ${queued} unmatched.`,
      }),
    ),
    makeTable(
      "What the statement would do",
      [
        { head: "Line", kind: "number" },
        { head: "Day" },
        { head: "Amount", kind: "number" },
        { head: "Remitter", kind: "wide" },
        { head: "Narration", kind: "wide" },
        { head: "Would go to", kind: "wide" },
        { head: "Why", kind: "wide" },
      ],
      results.map((/** @type {Row} */ line) => [
        line["ordinal"],
        showDay(line["day"]),
        showAmount(line),
        line["remitter_name"] || "–",
        line["narration"],
        [
          showState(line["status"]),
          " ",
          line["firm_id"] ? showFirm(line["firm_id"]) : "",
          " ",
          line["deal_id"] ? showId(line["deal_id"]) : "",
        ],
        sayWord(line["reason"]),
      ]),
    ),
  );
}

/** @type {readonly (readonly [string, string, string?])[]} */
const headings = [
  ["day", "Day"],
  ["reference", "Reference"],
  ["narration", "Narration"],
  ["debit", "Withdrawal", "with deposit"],
  ["credit", "Deposit", "with withdrawal"],
  ["amount", "Amount", "where there is one column"],
  ["direction", "CR or DR", "beside an amount"],
  ["balance", "Balance"],
  ["time", "Time of day"],
  ["remitter_name", "Remitter's name"],
  ["remitter_account", "Remitter's account"],
];
const needed = new Set(["day", "reference", "narration"]);

const signWords = /** @type {Readonly<Record<string, string>>} */ ({
  debit_is_negative: "a minus is money that left",
  credit_is_negative: "a minus is money that came",
});
const dayWords = /** @type {Readonly<Record<string, string>>} */ ({
  DMY: "day, month, year",
  MDY: "month, day, year",
  YMD: "year, month, day",
});

/**
 * How each bank writes its statements.
 *
 * @param {View} view
 * @param {readonly Row[]} forms
 */
function showForms(view, forms) {
  return makeSection(
    "Forms of statements",
    forms.length === 0
      ? makeEmpty("Only the generic form is there.")
      : makeTable(
          "Forms of statements",
          [
            { head: "Bank" },
            { head: "Columns", kind: "wide" },
            { head: "Saved" },
            { head: "Actions" },
          ],
          forms.map((row) => [
            row["name"],
            sayForm(row["form"]),
            [showTime(row["saved_at"]), ` by ${row["saved_by"]}`],
            make(
              "div",
              { class: "acts" },
              makeSaving(view, row["form"]),
              makeAct(view, {
                label: "Remove…",
                permission,
                danger: true,
                says: `No import is read by ${row["name"]} any more.`,
                call: () => ({ path: `/ops/bank/forms/${encodeURIComponent(row["name"])}/remove` }),
              }),
            ),
          ]),
        ),
    make("div", { class: "acts" }, makeSaving(view)),
  );
}

/** @param {Row} form */
function sayForm(form) {
  const columns = headings.flatMap(([name, label]) =>
    form[name] ? [`${label}: ${form[name]}`] : [],
  );
  const { day_form, sign } = form;
  return [
    ...columns,
    ...(day_form ? [`Days: ${dayWords[day_form]}`] : []),
    ...(sign ? [`Sign: ${signWords[sign]}`] : []),
  ].join("; ");
}

/**
 * @param {View} view
 * @param {Row} [form] the one to change
 */
function makeSaving(view, form) {
  return makeAct(view, {
    label: form ? "Change…" : "Save a form…",
    permission,
    says: "Give the headings as the bank writes them, above which it may write whose account it is. Amounts are in two columns, or in one with CR or DR beside it, or in one with a sign.",
    fields: [
      { name: "name", label: "Bank", hint: "what the form is called", value: form?.["name"] },
      ...headings.map(([name, label, hint]) => ({
        name,
        label,
        optional: !needed.has(name),
        value: form?.[name],
        ...(hint && { hint }),
      })),
      makeChoice("sign", "Sign of the amount", { words: signWords, value: form?.["sign"] }),
      makeChoice("day_form", "Days are written", { words: dayWords, value: form?.["day_form"] }),
    ],
    call: ({ sign, day_form, ...body }) => ({
      path: "/ops/bank/forms",
      body: {
        ...body,
        ...(sign !== "none" && { sign }),
        ...(day_form !== "none" && { day_form }),
      },
    }),
    said: ({ name }) => `The form ${name} is saved.`,
  });
}

/**
 * @param {string} name
 * @param {string} label
 * @param {{words: Readonly<Record<string, string>>, value: string | undefined}} choice
 * @returns {import("./fields.js").Field}
 */
function makeChoice(name, label, { words, value }) {
  const none = name === "sign" ? "there are two columns, or CR and DR" : "day first, or year first";
  return {
    name,
    label,
    type: "choice",
    options: [["none", none], ...Object.entries(words)],
    value: value ?? "none",
  };
}

/** @param {Row} reconciled */
function showReconciled(reconciled) {
  const { as_of, bank_paise, books_paise, difference_paise, unexplained_paise } = reconciled;
  return makeSection(
    "Reconciliation",
    makeFacts([
      ["As of", showDay(as_of)],
      ["Bank balance", showMoney(bank_paise)],
      ["Book balance", showMoney(books_paise)],
      ["Difference", showMoney(difference_paise)],
      [
        "Unexplained",
        [showMoney(unexplained_paise), " ", unexplained_paise ? showState("failed") : ""],
      ],
    ]),
    reconciled["differences"].length > 0
      ? makeTable(
          "Differences",
          [
            { head: "Differences", kind: "wide" },
            { head: "Amount", kind: "number" },
          ],
          reconciled["differences"].map((/** @type {Row} */ one) => [
            one["what"],
            showMoney(one["amount_paise"]),
          ]),
        )
      : null,
  );
}
