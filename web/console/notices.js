import { makeAct } from "./acts.js";
import { make, makeEmpty, makeSection, makeTable } from "./dom.js";
import { listFilters, showList } from "./list.js";
import { readOps } from "./ops.js";
import { loadNames, sayWord, showFirm, showState, showTime } from "./show.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

const permission = "notices.write";

const occasionWords = /** @type {Readonly<Record<string, string>>} */ ({
  "enquiry.received": "an enquiry arrives",
  "approval.proposed": "an approval waits",
  "operator.sign_in_failing": "attempts to sign in fail",
  "operator.recovered": "an admin is given access on the server",
  "machine.refused": "a call with a machine's token is refused",
  "schedule.failed": "what runs by itself fails",
  "webhook.disabled": "a webhook is disabled",
  "payout.paid": "a payout is paid",
  "payout.returned": "a payout comes back",
  "credit.expiring": "a credit expires soon",
  "firm.mandate_expiring": "a mandate ends soon",
  "firm.bank_changed": "a firm's bank account is changed",
  "statement.ready": "a statement is ready",
  "task.waiting": "a task waits",
  "task.late": "a task is late",
});

/** @type {readonly import("./state.js").Page[]} */
export const noticePages = [{ path: "/notices", title: "Notices", key: "n", show: showNotices }];

/** @param {View} view */
async function showNotices(view) {
  const { environment, signal } = view;
  const { sending } = await readOps("/ops/notices", { limit: 1 }, signal);
  return await showList(view, {
    title: "Notices",
    lead: [
      "What was told by mail, the newest first. Addresses are set under Firms and People.",
      sending ? null : " No mail server is set (SMTP_URL), so nothing is queued or sent.",
    ],
    path: "/ops/notices",
    rows: "notices",
    query: { environment },
    filters: [
      { name: "status", label: "State" },
      { name: "occasion", label: "Occasion" },
      ...listFilters.filter(({ name }) => name !== "firm_id"),
    ],
    firms: (row) => [row["desk_id"]],
    columns: [
      { head: "Subject", kind: "wide", cell: (row) => row["subject"] },
      { head: "To", kind: "wide", cell: (row) => row["email"] },
      { head: "Of", cell: (row) => showFirm(row["desk_id"]) },
      { head: "Created", cell: (row) => showTime(row["created_at"]) },
      { head: "Attempts", kind: "number", cell: (row) => row["attempts"] },
      {
        head: "What the server said",
        kind: "wide",
        cell: (row) => row["answer"] || sayWord(row["reason"] ?? "–"),
      },
      { head: "State", cell: (row) => showState(row["status"]) },
      { head: "Actions", kind: "last", cell: (row) => makeSendAgain(view, row) },
    ],
    empty: "No notices found.",
  });
}

/**
 * @param {View} view
 * @param {Row} notice
 */
function makeSendAgain(view, { notice_id, status, email }) {
  if (status !== "dead") return null;
  return makeAct(view, {
    label: "Resend…",
    permission,
    says: `The same mail, to ${email}.`,
    call: () => ({ path: `/ops/notices/${notice_id}/send-again` }),
    said: () => "Resent.",
  });
}

/**
 * The addresses of a firm's desk; they are set on the page of the desk's own firm.
 *
 * @param {View} view
 */
export async function makeDeskAddresses(view) {
  const { addresses, desk_id } = await readOps(
    "/ops/notice-addresses",
    { firm_id: view.id, of: "desks" },
    view.signal,
  );
  if (desk_id === view.id) return makeAddresses(view, addresses, { desk_id });
  await loadNames([desk_id]);
  const also =
    view.environment === "live" ? ", and of its tasks and its bank account to its email too." : ".";
  const lead = make("p", { class: "muted" }, "They go to its desk, ", showFirm(desk_id), also);
  return makeSection("Notices by mail", lead);
}

/** @param {View} view */
export async function makePeopleAddresses(view) {
  const { addresses } = await readOps("/ops/notice-addresses", { of: "people" }, view.signal);
  return makeAddresses(view, addresses);
}

/**
 * @param {View} view
 * @param {readonly Row[]} addresses
 * @param {{readonly desk_id: string}} [desk] left out for people
 */
function makeAddresses(view, addresses, desk) {
  const owner = desk ? [] : [{ head: "Person" }];
  return makeSection(
    "Notices by mail",
    addresses.length === 0
      ? makeEmpty("No addresses.")
      : makeTable(
          "Addresses that get notices",
          [
            { head: "Address", kind: "wide" },
            ...owner,
            { head: "Notified of", kind: "wide" },
            { head: "Actions", kind: "last" },
          ],
          addresses.map((one) => [
            one["email"],
            ...(desk ? [] : [one["person"]]),
            one["occasions"].map(sayOccasion).join(", ") || "nothing",
            make("div", { class: "acts" }, makeAddressActs(view, one)),
          ]),
        ),
    make("div", { class: "acts" }, desk ? makeAdd(view, desk) : null),
  );
}

/** @param {string} occasion */
function sayOccasion(occasion) {
  return occasionWords[occasion] ?? occasion;
}

/**
 * Adds an address of a desk or of a person.
 *
 * @param {View} view
 * @param {{readonly desk_id: string} | {readonly person: string}} owner
 */
export function makeAdd(view, owner) {
  return makeAct(view, {
    label: "Add an address…",
    permission,
    says: "Notices of what happens from now on go to this address.",
    fields: [{ name: "email", label: "Address" }],
    call: (values) => ({ path: "/ops/notice-addresses", body: { ...owner, ...values } }),
    said: ({ email }) => `${email} is added.`,
  });
}

/**
 * @param {View} view
 * @param {Row} one
 */
function makeAddressActs(view, { address_id, email, occasions, opted_out }) {
  const path = `/ops/notice-addresses/${address_id}`;
  const known = Object.keys(occasionWords).filter((name) =>
    [...occasions, ...opted_out].includes(name),
  );
  return [
    makeAct(view, {
      label: "Subscribe…",
      permission,
      says: `${email} is told when`,
      fields: known.map((name) => ({
        name: name.replace(".", "-"),
        label: sayOccasion(name),
        type: "yes",
        value: occasions.includes(name) ? "yes" : "",
      })),
      call: (values) => ({
        path,
        method: "PUT",
        body: { opted_out: known.filter((name) => !values[name.replace(".", "-")]) },
      }),
      said: () => "Saved.",
    }),
    makeAct(view, {
      label: "Remove…",
      permission,
      danger: true,
      says: `${email} gets no more notices.`,
      call: () => ({ path: `${path}/remove` }),
      said: () => `${email} is removed.`,
    }),
  ];
}
