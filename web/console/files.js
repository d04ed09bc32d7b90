import { makeAct } from "./acts.js";
import { makePast } from "./audit.js";
import { makeDownload, save } from "./download.js";
import { make, makeEmpty, makeFacts, makeSection, makeTable } from "./dom.js";
import { makeHead, showList } from "./list.js";
import { readOps } from "./ops.js";
import { loadNames, sayWord, showFirm, showId, showMoney, showState, showTime } from "./show.js";
import { linkTo } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const filePages = [
  {
    path: "/files",
    title: "Payout files",
    proposals: ["payout_file."],
    reach: "live",
    key: "f",
    show: showFiles,
  },
  { path: "/files/:id", title: "Payout file", reach: "live", show: showFile },
];

/** @param {View} view */
async function showFiles(view) {
  const environment = "live";
  const due = await readOps("/ops/payout-files/preview", { environment }, view.signal);
  /** @type {Row[]} */
  const planned = due.files;
  await loadNames(
    planned.flatMap((file) => file["remittances"].map((/** @type {Row} */ one) => one["firm_id"])),
  );
  const list = await showList(view, {
    title: "Payout files",
    lead: "One file per rail for the bank. A file is live until the bank's statement has answered every line of it.",
    acts: [
      makeAct(view, {
        label: "Create files…",
        permission: "payouts.write",
        main: true,
        says: sayPlanned(planned),
        call: () => ({ path: "/ops/payout-files", body: { environment } }),
        said: sayMade,
      }),
    ],
    path: "/ops/payout-files",
    rows: "payout_files",
    filters: [{ name: "status", label: "State" }],
    columns: [
      { head: "File", cell: (row) => showId(row["file_id"]) },
      { head: "Rail", cell: (row) => row["rail"].toUpperCase() },
      { head: "Payments", kind: "number", cell: (row) => row["line_count"] },
      { head: "Amount", kind: "number", cell: (row) => showMoney(row["amount_paise"]) },
      { head: "Created", cell: (row) => [showTime(row["made_at"]), ` by ${row["made_by"]}`] },
      { head: "State", cell: (row) => showState(row["status"]) },
    ],
    empty: "No file has been made.",
  });
  list
    .querySelector(".lead")
    ?.after(
      makeSection(sayDue(planned), showPlanned(planned), showKept(due.kept)),
      make("h2", {}, "Files"),
    );
  return list;
}

/** @param {readonly Row[]} planned */
function sayDue(planned) {
  if (planned.length === 0) return "Due now";
  const sum = planned.reduce((total, file) => total + BigInt(file["amount_paise"]), 0n);
  return `Due now, ${showMoney(sum)}`;
}

/** @param {readonly Row[]} planned */
function sayPlanned(planned) {
  if (planned.length === 0) return "Nothing is due now.";
  const each = planned.map(
    (file) =>
      `${file["rail"].toUpperCase()}: ${file["remittances"].length} payments, ${showMoney(file["amount_paise"])}`,
  );
  return `${each.join("; ")}. Once it is in a file, a payout cannot be held, reversed or filed again before the bank has answered.`;
}

/** @param {{payout_files: Row[]}} answer */
function sayMade({ payout_files }) {
  if (payout_files.length === 0) return "Nothing is due now.";
  return payout_files
    .flatMap(({ rail, amount_paise, file_id, approval_id }) => [
      `${rail.toUpperCase()}, ${showMoney(amount_paise)}: `,
      file_id
        ? make("a", { href: linkTo(`/files/${file_id}`) }, "the file is made")
        : ["waits under ", makeApprovalLink(approval_id), " for somebody else"],
      ". ",
    ])
    .flat();
}

/** @param {string} id */
function makeApprovalLink(id) {
  return make("a", { href: linkTo(`/approvals/${id}`) }, "Approvals");
}

/** @param {readonly Row[]} planned */
function showPlanned(planned) {
  const rows = planned.flatMap((file) =>
    file["remittances"].map((/** @type {Row} */ one) => [
      file["rail"].toUpperCase(),
      showFirm(one["firm_id"]),
      `…${one["account_last4"]} at ${one["ifsc"]}`,
      one["payout_ids"].length,
      showMoney(one["amount_paise"]),
    ]),
  );
  if (rows.length === 0) return makeEmpty("Nothing is due now.");
  return [
    makeTable(
      "Payments that are due",
      [
        { head: "Rail" },
        { head: "To", kind: "wide" },
        { head: "Account" },
        { head: "Payouts", kind: "number" },
        { head: "Amount", kind: "number" },
      ],
      rows,
    ),
    makeDownload("payments-due", async () =>
      planned.flatMap(({ rail, remittances }) =>
        remittances.map((/** @type {Row} */ one) => ({ rail, ...one })),
      ),
    ),
  ];
}

/** @param {readonly Row[]} kept */
function showKept(kept) {
  if (kept.length === 0) return null;
  return make(
    "div",
    {},
    make("h3", {}, "On hold"),
    makeTable(
      "Payouts on hold",
      [{ head: "Payout" }, { head: "Amount", kind: "number" }, { head: "Reason", kind: "wide" }],
      kept.map((one) => [
        showId(one["payout_id"]),
        showMoney(one["amount_paise"]),
        sayWord(one["reason"]),
      ]),
    ),
  );
}

/** @param {View} view */
async function showFile(view) {
  /** @type {Row} */
  const file = await readOps(`/ops/payout-files/${view.id}`, {}, view.signal);
  await loadNames(file["lines"].map((/** @type {Row} */ line) => line["firm_id"]));
  const path = `/ops/payout-files/${view.id}`;
  const isLive = file["status"] === "live";
  return make(
    "div",
    { class: "page" },
    makeHead("Payout file", [
      isLive &&
        makeAct(view, {
          label: "Download for the bank…",
          permission: "payouts.write",
          main: true,
          says: "It has whole account numbers: that you read it goes on record.",
          call: () => ({ path: `${path}/bytes` }),
          said: () => "The file is downloaded.",
          after: (answer) => {
            save(answer.name, answer.text);
            view.refresh();
          },
        }),
      isLive &&
        makeAct(view, {
          label: "Void…",
          permission: "payouts.write",
          danger: true,
          says: "Only if the bank never got the file. A second person approves it.",
          fields: [{ name: "reason", label: "Reason", type: "long" }],
          call: (body) => ({ path: `${path}/void`, body }),
        }),
    ]),
    makeFacts([
      ["State", showState(file["status"])],
      ["Rail", file["rail"].toUpperCase()],
      ["Amount", showMoney(file["amount_paise"])],
      ["Payments", file["line_count"]],
      ["Created", [showTime(file["made_at"]), ` by ${file["made_by"]}`]],
      ["SHA-256", make("span", { class: "id" }, file["sha256"] ?? "not read yet")],
      ["Voided", file["voided_by"] ? `by ${file["voided_by"]}: ${file["void_reason"]}` : "–"],
      ["Id", make("span", { class: "id" }, file["file_id"])],
    ]),
    makeSection(
      "Payments",
      makeTable(
        "Payments of the file",
        [
          { head: "To", kind: "wide" },
          { head: "Reference" },
          { head: "Branch" },
          { head: "Payouts" },
          { head: "Amount", kind: "number" },
          { head: "State" },
        ],
        file["lines"].map((/** @type {Row} */ line) => [
          showFirm(line["firm_id"]),
          line["reference"],
          line["ifsc"],
          line["payout_ids"].map((/** @type {string} */ id, /** @type {number} */ at) =>
            make("span", {}, at > 0 ? ", " : "", showId(id)),
          ),
          showMoney(line["amount_paise"]),
          showState(line["status"]),
        ]),
      ),
      makeDownload(`payments-${view.id}`, async () => file["lines"]),
    ),
    make(
      "p",
      {},
      make("a", { href: linkTo("/bank") }, "Import the bank's statement"),
      " to answer its lines.",
    ),
    ...(await makePast(view, { entity_id: view.id })),
  );
}
