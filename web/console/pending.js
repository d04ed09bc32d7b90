// What is seen beside every page: proposals about what it shows, and counts in the menu.

import { make } from "./dom.js";
import { readOps } from "./ops.js";
import { findFirmIds, loadNames, nameFirms, showTime } from "./show.js";
import { linkTo } from "./state.js";

/** @typedef {import("./ops.js").Row} Row */

/** The newest are enough to be told of. */
const proposalsMax = 100;

/** What of the day's work a page of the menu is about. @type {Readonly<Record<string, readonly string[]>>} */
const badges = {
  "/approvals": ["approvals"],
  "/queue": ["settlements_late", "settlements_due_today"],
  "/payouts": ["payouts_returned"],
  "/files": ["payouts_scheduled"],
  "/bank": ["bank_lines"],
  "/questions": ["questions"],
  "/enquiries": ["enquiries"],
  "/crosses": ["crosses_late"],
  "/letters": ["dead_letters"],
};

/**
 * Proposals that are about a thing, or of the kinds that a list is of.
 *
 * @param {{id: string, proposals: readonly string[] | undefined}} about
 * @param {AbortSignal} signal
 */
export async function showPending({ id, proposals = [] }, signal) {
  if (id === "" && proposals.length === 0) return null;
  const query = { environment: "live", status: "proposed", limit: proposalsMax };
  const { approvals } = await readOps("/ops/approvals", query, signal);
  const own = approvals.filter((/** @type {Row} */ { kind, subject_id, terms }) =>
    id === ""
      ? proposals.some((start) => kind.startsWith(start))
      : JSON.stringify([subject_id, terms]).includes(id),
  );
  if (own.length === 0) return null;
  await loadNames(own.flatMap((/** @type {Row} */ { summary }) => findFirmIds(summary)));
  return make(
    "ul",
    { class: "notice pending", "aria-label": "Waits for approval" },
    own.map((/** @type {Row} */ { approval_id, summary, proposed_by, proposed_at }) =>
      make(
        "li",
        {},
        "Waits for approval: ",
        make("a", { href: linkTo(`/approvals/${approval_id}`) }, nameFirms(summary)),
        `, proposed by ${proposed_by}, `,
        showTime(proposed_at),
      ),
    ),
  );
}

/** @param {"live" | "sandbox"} environment */
export async function countWaiting(environment) {
  const { waiting } = await readOps("/ops/today", { environment });
  for (const link of document.querySelectorAll(".side a")) {
    const names = badges[link.getAttribute("data-path") ?? ""] ?? [];
    const count = names.reduce((sum, name) => sum + waiting[name], 0);
    link.querySelector(".badge")?.remove();
    if (count === 0) continue;
    const words = count >= 100 ? "100+" : String(count);
    link.append(
      make("span", { class: "badge" }, words, make("span", { class: "hidden" }, " waiting")),
    );
  }
}
