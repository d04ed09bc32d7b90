import { makeAct } from "./acts.js";
import { make, makeEmpty, makeSection, makeTable } from "./dom.js";
import { makeDownload } from "./download.js";
import { showList } from "./list.js";
import { readOps } from "./ops.js";
import { loadNames, sayWord, showFirm, showState, showTime } from "./show.js";
import { linkTo } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const letterPages = [
  { path: "/letters", title: "Failed deliveries", key: "l", show: showLetters },
];

/** @param {View} view */
async function showLetters(view) {
  const { environment, params, signal } = view;
  const webhook = params.get("webhook_id");
  const { webhooks } = await readOps("/ops/webhooks", { environment }, signal);
  const known = new Set(webhooks.map((/** @type {Row} */ { webhook: one }) => one.webhook_id));
  const list = await showList(view, {
    title: "Failed deliveries",
    lead: [
      "Webhook deliveries that were given up, the newest first. They are sent again webhook by webhook, with the same ids and bytes.",
      webhook ? make("a", { href: linkTo("/letters") }, " Show those of every webhook.") : null,
    ],
    acts: [known.has(webhook ?? "") && makeReplay(view, webhook ?? "")],
    path: "/ops/webhooks/failures",
    rows: "failures",
    filters: [{ name: "webhook_id", label: "Webhook" }],
    firms: (row) => [row["desk_id"]],
    columns: [
      { head: "Event", cell: (row) => row["event"] },
      { head: "Number", kind: "number", cell: (row) => row["sequence"] },
      { head: "Desk", kind: "wide", cell: (row) => showFirm(row["desk_id"]) },
      { head: "Environment", cell: (row) => row["environment"] },
      { head: "Attempts", kind: "number", cell: (row) => row["attempts"] },
      { head: "Last answer", cell: (row) => row["last_status"] ?? "none" },
      { head: "Reason", cell: (row) => sayWord(row["reason"] ?? "–") },
      { head: "Failed at", cell: (row) => showTime(row["updated_at"]) },
      {
        head: "Actions",
        kind: "last",
        cell: (row) =>
          makeReplay(view, row["webhook_id"], row["environment"]) ?? showElsewhere(view, row),
      },
    ],
    empty: "No failed deliveries.",
  });
  await loadNames(webhooks.map((/** @type {Row} */ { webhook: one }) => one.firm_id));
  list.append(
    makeSection(
      "Webhooks",
      webhooks.length === 0
        ? makeEmpty(`No desk has a webhook in ${environment}.`)
        : makeTable(
            "Webhooks of every desk",
            [
              { head: "Desk", kind: "wide" },
              { head: "Address", kind: "wide" },
              { head: "Events" },
              { head: "State" },
            ],
            webhooks.map((/** @type {Row} */ { legal_name, webhook: one }) => [
              legal_name,
              one.url,
              one.event,
              showState(one.status),
            ]),
          ),
      webhooks.length === 0 ? null : makeDownload("webhooks", async () => webhooks),
    ),
  );
  return list;
}

/**
 * @param {View} view
 * @param {Row} row
 */
function showElsewhere(view, { environment, webhook_id }) {
  if (environment === view.environment) return null;
  const env = environment === "sandbox" ? "sandbox" : null;
  return make("a", { href: linkTo("/letters", { webhook_id, env }) }, `Under ${environment}`);
}

/**
 * @param {View} view
 * @param {string} webhookId
 * @param {"live" | "sandbox"} [environment]
 */
function makeReplay(view, webhookId, environment = view.environment) {
  return makeAct(view, {
    environment,
    label: "Resend…",
    permission: "webhooks.write",
    says: `All failed deliveries of the webhook ${webhookId}, up to a thousand at a time.`,
    call: () => ({ path: "/ops/webhooks/replay", body: { webhook_id: webhookId } }),
    said: ({ queued, skipped, remaining }) =>
      `${queued} are sent again, ${skipped} skipped, ${remaining} left.`,
  });
}
