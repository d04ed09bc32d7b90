// Terms of proposals: any JSON, with money and prices as people read them.

import { formatPercent } from "../money.js";
import { schemeName } from "../words.js";
import { make, makeFacts, makeTable } from "./dom.js";
import { sayQuestion } from "./questions.js";
import { sayField, sayWord, showDay, showFirm, showId, showMoney, showPercent } from "./show.js";

/** @typedef {import("./dom.js").Child} Child */

/** Longer texts, such as a whole statement, are kept folded. */
const shortTextMax = 200;

/**
 * @param {unknown} value
 * @param {string} [name]
 * @returns {Child}
 */
export function showTerms(value, name = "") {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") {
    if (name.toLowerCase().endsWith("paise")) return showMoney(value);
    if (name.toLowerCase().endsWith("bps")) return showPercent(value);
    return String(value);
  }
  if (typeof value === "string") return showText(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) {
    if (value.length === 0) return "none";
    return make(
      "ol",
      { class: "terms" },
      value.map((member) => make("li", {}, showTerms(member, name))),
    );
  }
  return makeFacts(
    Object.entries(value).map(([key, member]) => [
      sayWord(key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)).replace(
        / (paise|bps)$/,
        "",
      ),
      showTerms(member, key),
    ]),
  );
}

/** @param {string} text */
function showText(text) {
  if (/^[a-z]{3}_[0-9a-z]{26}$/.test(text)) return showId(text);
  if (text.length <= shortTextMax) return text;
  return make(
    "details",
    {},
    make("summary", {}, `${text.length.toLocaleString("en-IN")} characters`),
    make("pre", {}, text),
  );
}

/** Headings of what their name alone does not say. @type {Readonly<Record<string, string>>} */
const heads = {
  held: "The firm holds it",
  arrived: "The money arrived",
  account_last4: "Account",
  firm_id: "Firm",
  from_paise: "Face from",
  below_paise: "Face below",
  from_days: "Days left from",
  bid_before_bps: "Bid before",
  bid_after_bps: "Bid after",
  ask_before_bps: "Ask before",
  ask_after_bps: "Ask after",
  house_limit_paise: "Daily limit",
  face_max_paise: "Maximum quote size",
  rest_min_paise: "Minimum resting order",
  desk_share_bps: "Desk share of the limit",
  quote_window_s: "Quote validity, seconds",
};

/** @param {string} name */
export function sayName(name) {
  const words = sayField(name);
  return heads[name] ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** A row of more than this is wider than the page. */
const columnsMax = 6;

/**
 * A table of rows whose columns are their names, or one long row as facts, so that nothing of it is out of
 * sight; firms have to be known by their names.
 *
 * @param {{title: string, rows: readonly Record<string, unknown>[]}} part
 */
export function showRows({ title, rows }) {
  const isTold = (/** @type {string} */ name) =>
    name !== "scenario" && rows.some((row) => (row[name] ?? null) !== null);
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter(isTold);
  const isLong = names.length > columnsMax;
  const [row] = rows;
  if (isLong && row && rows.length === 1) {
    return makeFacts(names.map((name) => [sayName(name), showCell(row, name)]));
  }
  const wide = isLong ? "wide" : undefined;
  return makeTable(
    title,
    names.map((name) => ({ head: sayName(name), kind: isNumber(name) ? "number" : wide })),
    rows.map((row) => names.map((name) => showCell(row, name))),
  );
}

/** @param {string} name */
function isNumber(name) {
  return /_(paise|bps|days)$/.test(name) || name === "before" || name === "after";
}

/**
 * @param {Record<string, any>} row
 * @param {string} name
 * @returns {Child | readonly Child[]}
 */
function showCell(row, name) {
  const value = row[name];
  if (value === null || value === undefined) return "–";
  if (name === "term") return sayName(value);
  if ((name === "before" || name === "after") && row["term"]) return showTerms(value, row["term"]);
  if (/(^|_)(firm|desk)_id$/.test(name)) return showFirm(value);
  if (name === "account_last4") return `…${value}`;
  if (Array.isArray(value)) {
    return value.map((one, at) =>
      make("span", {}, at > 0 ? ", " : "", typeof one === "string" ? showId(one) : showTerms(one)),
    );
  }
  if (name.endsWith("_id")) return showId(value.split(":")[0]);
  if (name === "question") return sayQuestion({ kind: value });
  if (/_on$|^day$/.test(name)) return showDay(value);
  if (name === "scheme") return schemeName(value);
  if (["status", "direction", "reason", "outcome"].includes(name)) return sayWord(value);
  return showTerms(value, name);
}

/**
 * Prices of a card before and after: a row for each size, with its ask and a bid for each validity.
 *
 * @param {readonly Record<string, any>[]} bands
 */
export function showBands(bands) {
  const days = [...new Set(bands.map((band) => band["from_days"]))];
  const sizes = Map.groupBy(bands, (band) => band["from_paise"]);
  return makeTable(
    "Prices before and after",
    [
      { head: "Face, percent" },
      { head: "Ask", kind: "number tight" },
      ...days.map((day) => ({ head: `Bid, ${day} days`, kind: "number tight" })),
    ],
    [...sizes.values()].map((row) => [
      saySize(row[0] ?? {}),
      showMove(row[0]?.["ask_before_bps"], row[0]?.["ask_after_bps"]),
      ...days.map((day) => {
        const band = row.find((one) => one["from_days"] === day);
        return showMove(band?.["bid_before_bps"], band?.["bid_after_bps"]);
      }),
    ]),
  );
}

/** @param {Record<string, any>} band */
function saySize({ from_paise, below_paise }) {
  return below_paise === null ? `from ${showMoney(from_paise)}` : `below ${showMoney(below_paise)}`;
}

/**
 * @param {number | null} before
 * @param {number | null} after
 */
function showMove(before, after) {
  if (before === null || before === after) return sayPercent(after);
  const direction = (after ?? 0) > (before ?? 0) ? "up" : "down";
  return make(
    "span",
    { class: "change inline", "data-direction": direction },
    `${sayPercent(before)} → ${sayPercent(after)}`,
  );
}

/** @param {number | null} bps */
function sayPercent(bps) {
  return bps === null ? "–" : formatPercent(bps);
}
