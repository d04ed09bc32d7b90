// Who the house is in law: what is in force, what is missing, every version, and the act that adds one.

import { makeAct } from "./acts.js";
import { make, makeEmpty, makeFacts, makeSection, makeTable } from "./dom.js";
import { makeHead } from "./list.js";
import { readOps } from "./ops.js";
import { showDay, showFirm, showState, showTime } from "./show.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const inLawPages = [
  { path: "/house-in-law", title: "House in law", proposals: ["house."], show: showInLaw },
];

const words = /** @type {Readonly<Record<string, string>>} */ ({
  legal_name: "legal name",
  iec: "IEC",
  pan: "PAN",
  address: "address",
  state_code: "state",
  signatory: "signatory",
  bank: "bank account",
});

/** @param {readonly string[]} missing */
function sayMissing(missing) {
  return missing.map((name) => words[name] ?? name).join(", ");
}

/** @param {View} view */
async function showInLaw(view) {
  const { environment, signal } = view;
  /** @type {Row} */
  const shown = await readOps("/ops/house", { environment }, signal);
  const { house, missing, versions, firms } = shown;
  const { forms } = await readOps("/ops/house/virtual-accounts", { environment }, signal);
  return make(
    "div",
    { class: "page" },
    makeHead("House in law", [makeSetting(view, versions[0])]),
    missing.length === 0
      ? null
      : make(
          "p",
          { class: "notice" },
          `The house is not complete: it lacks its ${sayMissing(missing)}.`,
        ),
    house === null
      ? makeEmpty("The house is not set.")
      : makeFacts([
          ["Legal name", house.legal_name],
          ["IEC", house.iec ?? "–"],
          ["PAN", house.pan ?? "–"],
          ["TAN", house.tan ?? "–"],
          ["GSTIN", house.gstin ?? "–"],
          ["CIN", house.cin ?? "–"],
          ["Address", house.address.join(", ") || "–"],
          ["State", house.state_code ? `${house.state_code} ${house.state_name ?? ""}` : "–"],
          ["Signatory", house.signatory ?? "–"],
          ["Beneficiary", house.bank?.beneficiary ?? "–"],
          ["Account", house.bank?.account_no ?? "–"],
          ["IFSC", house.bank?.ifsc ?? "–"],
          ["Bank", house.bank?.bank ?? "–"],
        ]),
    firms.length === 0
      ? null
      : makeSection(
          "Client firms of its PAN",
          make(
            "p",
            { class: "muted lead" },
            "They are the house: they trade no more, and should leave.",
          ),
          makeTable(
            "Client firms of the house's PAN",
            [{ head: "Firm", kind: "wide" }, { head: "Desk" }, { head: "State" }],
            firms.map((/** @type {Row} */ one) => [
              one["legal_name"],
              showFirm(one["desk_id"]),
              showState(one["status"]),
            ]),
          ),
        ),
    makeNumbers(view, forms),
    makeSection(
      "Versions, the latest first",
      versions.length === 0
        ? makeEmpty("There is none.")
        : makeTable(
            "Versions",
            [
              { head: "Version", kind: "number" },
              { head: "From" },
              { head: "Legal name", kind: "wide" },
              { head: "PAN" },
              { head: "Account" },
              { head: "Set" },
              { head: "By" },
            ],
            versions.map((/** @type {Row} */ one) => [
              one["version"],
              showDay(one["effective_from"]),
              one["legal_name"],
              one["pan"] ?? "–",
              one["bank"]?.account_no ?? "–",
              showTime(one["set_at"]),
              one["approved_by"] ? `${one["set_by"]}, ${one["approved_by"]}` : one["set_by"],
            ]),
          ),
    ),
  );
}

/**
 * The account numbers of firms' own, in the form that the bank gave.
 *
 * @param {View} view
 * @param {readonly Row[]} forms the latest first
 */
function makeNumbers(view, forms) {
  const path = "/ops/house/virtual-accounts";
  const { environment } = view;
  const form = forms[0]?.["form"];
  return makeSection(
    "Account numbers of firms' own",
    form
      ? makeFacts([
          ["Prefix", form.prefix],
          ["Length", form.length],
          ["Characters", alphabetWords[form.alphabet] ?? form.alphabet],
          ["IFSC", form.ifsc],
        ])
      : makeEmpty("Firms pay to the house's account."),
    make(
      "div",
      { class: "acts" },
      makeAct(view, {
        label: "Set the numbers…",
        permission: "house.write",
        says: "Each firm is told a number of its own, in the form that the bank gave. Numbers of former forms are still read. In live somebody else approves it once there are two of you.",
        fields: [
          { name: "prefix", label: "Prefix", hint: "what the bank gave", value: form?.prefix },
          { name: "length", label: "Length", type: "count", value: form && String(form.length) },
          {
            name: "alphabet",
            label: "Characters",
            type: "choice",
            options: Object.entries(alphabetWords),
            value: form?.alphabet,
          },
          { name: "ifsc", label: "IFSC", hint: "the branch they are at", value: form?.ifsc },
        ],
        call: (body) => ({ path, body: { environment, ...body } }),
      }),
      form &&
        makeAct(view, {
          label: "End the numbers…",
          permission: "house.write",
          danger: true,
          says: "Firms are told the house's account again. What comes to a number that was told is still read.",
          call: () => ({ path, body: { environment, off: true } }),
        }),
    ),
  );
}

const alphabetWords = /** @type {Readonly<Record<string, string>>} */ ({
  digits: "digits",
  letters: "digits and capital letters",
});

/**
 * @param {View} view
 * @param {Row | undefined} last
 */
function makeSetting(view, last) {
  const bank = last?.["bank"];
  /**
   * @param {string} name
   * @param {string} label
   * @param {string} [hint]
   */
  const field = (name, label, hint) => ({
    name,
    label,
    optional: true,
    plain: true,
    value: last?.[name] ?? "",
    ...(hint !== undefined && { hint }),
  });
  return makeAct(view, {
    label: "Set the house…",
    permission: "house.write",
    says: "It holds from its first day on, for every paper and every payment from then. In live somebody else approves it once there are two of you.",
    fields: [
      {
        name: "from",
        label: "First day",
        type: "day",
        optional: true,
        plain: true,
        hint: "today unless given",
      },
      field("legal_name", "Legal name"),
      field("iec", "IEC", "its PAN, or ten digits"),
      field("pan", "PAN"),
      field("tan", "TAN", "needed before tax is withheld"),
      field("gstin", "GSTIN", "where there is one"),
      field("cin", "CIN", "where there is one"),
      {
        ...field("address", "Address", "lines separated by |"),
        value: last?.["address"].join(" | ") ?? "",
      },
      field("state_code", "State", "the two digits a GSTIN begins with"),
      field("signatory", "Signatory", "name and office"),
      { ...field("beneficiary", "Beneficiary"), value: bank?.beneficiary ?? "" },
      { ...field("account_no", "Account number"), value: bank?.account_no ?? "" },
      { ...field("ifsc", "IFSC"), value: bank?.ifsc ?? "" },
      { ...field("bank", "Bank"), value: bank?.bank ?? "" },
    ],
    call: ({ from, address = "", beneficiary, account_no, ifsc, bank: name, ...codes }) => ({
      path: "/ops/house",
      body: {
        environment: view.environment,
        ...(from !== undefined && { from }),
        ...Object.fromEntries(
          ["legal_name", "iec", "pan", "tan", "gstin", "cin", "state_code", "signatory"].map(
            (code) => [code, codes[code] ?? ""],
          ),
        ),
        address: address.split("|"),
        ...([beneficiary, account_no, ifsc, name].some((part) => part !== undefined) && {
          bank: {
            beneficiary: beneficiary ?? "",
            account_no: account_no ?? "",
            ifsc: ifsc ?? "",
            bank: name ?? "",
          },
        }),
      },
    }),
  });
}
