// Values as people read them: rupees, percent, days and times in IST, states, ids, names of firms.

import { formatPercent, formatRupees, saySize } from "../money.js";
import { longDay } from "../words.js";
import { make } from "./dom.js";
import { readOps } from "./ops.js";
import { linkTo, may } from "./state.js";

const minute = new Intl.DateTimeFormat("en-IN", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
  timeZone: "Asia/Kolkata",
});

/** From here on digits are hard to count, and the sum is said in lakh or crore beside them. */
const longFrom = 100_000_000n;

/**
 * A sum in rupees, and a long one in lakh or crore beside it.
 *
 * @param {number | bigint | null | undefined} paise
 */
export function showMoney(paise) {
  if (paise === null || paise === undefined) return "–";
  const isBelow = paise < 0;
  const size = isBelow ? -BigInt(paise) : BigInt(paise);
  const sum = `${isBelow ? "−" : ""}₹${formatRupees(/** @type {any} */ (size))}`;
  return size < longFrom ? sum : `${sum} (${saySize(size)})`;
}

/** @param {number | null | undefined} bps */
export function showPercent(bps) {
  return bps === null || bps === undefined ? "–" : `${formatPercent(bps)} %`;
}

/** @param {string | null | undefined} at */
export function showTime(at) {
  if (!at) return "–";
  return make("time", { datetime: at, title: at }, minute.format(Date.parse(at)));
}

/** @param {string | null | undefined} day */
export function showDay(day) {
  return day ? longDay(day) : "–";
}

/** @param {string} word */
export function sayWord(word) {
  return word.replaceAll("_", " ").replaceAll(".", ": ");
}

/**
 * The words of a field's name, without its unit.
 *
 * @param {string} name
 */
export function sayField(name) {
  return sayWord(name.replace(/_?(paise|bps|ids?|s)$/, "") || "amount")
    .replace(/\b(iec|pan|gstin|ifsc|utr)\b/, (code) => code.toUpperCase())
    .replace(/ no$/, " number");
}

const good = new Set(
  "pass applied settled paid authorized active approved listed open verified delivered done answered passed sound whole up matched filled enrolled sent confirmed final".split(
    " ",
  ),
);
const bad = new Set(
  "fail failed returned rejected dead suspended cancelled expired reversed voided void revoked disabled late outage halted declined action_required missing".split(
    " ",
  ),
);

/** @param {string} state */
function findTone(state) {
  if (good.has(state)) return "good";
  return bad.has(state) ? "bad" : "wait";
}

/** @param {string | null | undefined} state */
export function showState(state) {
  if (!state) return "–";
  return make("span", { class: "state", "data-tone": findTone(state) }, sayWord(state));
}

const places = /** @type {Readonly<Record<string, string>>} */ ({
  stl: "/settlements",
  pay: "/payouts",
  fil: "/files",
  frm: "/firms",
  ord: "/orders",
  crs: "/crosses",
  apr: "/approvals",
  enq: "/enquiries",
  bst: "/bank-statements",
  bln: "/bank-lines",
  crd: "/credits",
});

/** What not every role may see. @type {Readonly<Record<string, string>>} */
const permissions = { enq: "enquiries.read", bst: "bank.write", bln: "bank.write" };

/** @param {string} id */
function shorten(id) {
  return /^[a-z]{3}_[0-9a-z]{26}$/.test(id) ? `${id.slice(0, 4)}…${id.slice(-6)}` : id;
}

/**
 * An id by its kind and its end, and whole on a page of its own; a link where there is such a page and
 * the role may see it.
 *
 * @param {string | null | undefined} id
 */
export function showId(id) {
  if (!id) return "–";
  const short = shorten(id);
  const kind = id.slice(0, 3);
  const place = places[kind];
  const attributes = { class: "id", title: id };
  if (place === undefined || !may(permissions[kind])) return make("span", attributes, short);
  return make("a", { ...attributes, href: linkTo(`${place}/${id}`) }, short);
}

/**
 * A desk's key by its end; it leads to what it called, and for which firm.
 *
 * @param {string} keyId
 */
export function showKey(keyId) {
  const attributes = { class: "id", title: keyId, href: linkTo("/requests", { key_id: keyId }) };
  return make("a", attributes, `…${keyId.slice(-6)}`);
}

/** @type {Map<string, string>} */
const names = new Map();

/** @param {Readonly<Record<string, string>> | undefined} known by id */
export function noteNames(known) {
  for (const [id, name] of Object.entries(known ?? {})) names.set(id, name);
}

/**
 * Asks for the names of these firms that are not known yet.
 *
 * @param {readonly (string | null | undefined)[]} ids
 */
export async function loadNames(ids) {
  const missing = [...new Set(ids)].filter((id) => id && !names.has(id));
  if (missing.length === 0) return;
  const answer = await readOps("/ops/firm-names", { ids: missing.join(",") });
  noteNames(answer.names);
}

/** @param {string} firmId */
export function nameFirm(firmId) {
  return names.get(firmId) ?? shorten(firmId);
}

/** @param {string} text */
export function findFirmIds(text) {
  return text.match(/frm_[0-9a-z]{26}/g) ?? [];
}

/**
 * A sentence of the service with firms by their names, which have to be known.
 *
 * @param {string} text
 */
export function nameFirms(text) {
  return text.replaceAll(/ \(frm_[0-9a-z]{26}\)/g, "").replaceAll(/frm_[0-9a-z]{26}/g, nameFirm);
}

/** @param {string | null | undefined} firmId */
export function showFirm(firmId) {
  if (!firmId) return "–";
  return make("a", { href: linkTo(`/firms/${firmId}`), title: firmId }, nameFirm(firmId));
}
