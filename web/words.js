// Days and names as people read them.

const long = new Intl.DateTimeFormat("en-IN", { dateStyle: "medium", timeZone: "UTC" });
const short = new Intl.DateTimeFormat("en-IN", { day: "numeric", month: "short", timeZone: "UTC" });

/** @param {string} day such as 2026-11-15 */
export function longDay(day) {
  return long.format(Date.parse(`${day}T00:00:00Z`));
}

/** @param {string} day */
export function shortDay(day) {
  return short.format(Date.parse(`${day}T00:00:00Z`));
}

/** @type {Readonly<Record<string, string>>} */
export const schemeNames = { RODTEP: "RoDTEP", ROSCTL: "RoSCTL" };

/** @param {string} scheme */
export function schemeName(scheme) {
  return schemeNames[scheme] ?? scheme;
}

/**
 * An element that must be there: the page's own markup.
 *
 * @param {ParentNode} place
 * @param {string} selector
 */
export function find(place, selector) {
  return findElement(HTMLElement, place, selector);
}

/**
 * The same, of one kind.
 *
 * @template {HTMLElement} Kind
 * @param {new () => Kind} kind
 * @param {ParentNode} place
 * @param {string} selector
 * @returns {Kind}
 */
export function findElement(kind, place, selector) {
  const found = place.querySelector(selector);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${selector}`);
}
