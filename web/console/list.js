// A page with a list: what it is narrowed to and which page of it is shown are in its address.

import { make, makeEmpty, makeTable } from "./dom.js";
import { makeDownload } from "./download.js";
import { readOps, readWords } from "./ops.js";
import { loadNames, nameFirm, noteNames, sayWord } from "./show.js";
import { goTo, linkTo } from "./state.js";

/** @typedef {import("./dom.js").Child} Child */
/** @typedef {import("./ops.js").Row} Row */
/** @typedef {import("./state.js").View} View */
/** @typedef {{head: string, kind?: string, cell: (row: Row) => Child | readonly Child[]}} Column */
/** @typedef {{name: string, label: string, type?: string, initial?: string}} Filter */

const rowsOnPage = 50;

/** What lists over all desks can be narrowed to besides. @type {readonly Filter[]} */
export const listFilters = [
  { name: "firm_id", label: "Firm", type: "firm" },
  { name: "from", label: "From", type: "date" },
  { name: "to", label: "Up to", type: "date" },
];

/**
 * @param {View} view
 * @param {object} list
 * @param {string} list.title
 * @param {Child | readonly Child[]} [list.lead]
 * @param {readonly Child[] | ((rows: readonly Row[]) => readonly Child[])} [list.acts]
 * @param {string} list.path
 * @param {string} list.rows the name under which the rows come
 * @param {Readonly<Record<string, string | null | undefined>>} [list.query]
 * @param {readonly Filter[]} [list.filters]
 * @param {readonly Column[]} list.columns
 * @param {(row: Row) => readonly (string | null | undefined)[]} [list.firms] those to name
 * @param {string} list.empty
 * @param {(rows: readonly Row[]) => Child | Promise<Child>} [list.figure] something to look at above the rows
 */
export async function showList(view, list) {
  const { params, signal } = view;
  const filters = list.filters ?? [];
  const chosen = Object.fromEntries(
    filters.map(({ name, initial }) => [name, params.get(name) ?? initial ?? ""]),
  );
  const asked = Object.fromEntries(
    Object.entries(chosen).filter(([, value]) => value !== "all" && value !== ""),
  );
  const cursor = params.get("cursor");
  const query = { ...list.query, ...asked, limit: rowsOnPage, cursor };
  const [answer, words] = await Promise.all([
    readOps(list.path, query, signal),
    filters.length > 0 ? readWords(list.path) : {},
    loadNames(filters.flatMap(({ name, type }) => (type === "firm" ? [asked[name]] : []))),
  ]);
  /** @type {Row[]} */
  const rows = answer[list.rows];
  noteNames(answer.names);
  if (list.firms) await loadNames(rows.flatMap(list.firms));
  const table = makeTable(
    list.title,
    list.columns,
    rows.map((row) => list.columns.map(({ cell }) => cell(row))),
  );
  return make(
    "div",
    { class: "page" },
    makeHead(list.title, typeof list.acts === "function" ? list.acts(rows) : list.acts),
    list.lead ? make("p", { class: "muted lead" }, ...[list.lead].flat()) : null,
    filters.length > 0 ? makeFilters(view, filters, { chosen, words }) : null,
    rows.length > 0 && list.figure ? await list.figure(rows) : null,
    rows.length > 0 ? table : makeEmpty(list.empty),
    makePaging({ cursor, next: answer.next_cursor, chosen }),
    rows.length > 0
      ? makeDownload(list.title.toLowerCase().replaceAll(" ", "-"), () =>
          readAll(list, { ...list.query, ...asked }, signal),
        )
      : null,
  );
}

const rowsOfFileMax = 20_000;

/**
 * Every row of a list as it is narrowed.
 *
 * @param {{path: string, rows: string}} list
 * @param {import("./ops.js").Query} query
 * @param {AbortSignal} signal
 */
async function readAll({ path, rows: name }, query, signal) {
  /** @type {Row[]} */
  const rows = [];
  for (let cursor; rows.length < rowsOfFileMax;) {
    const answer = await readOps(path, { ...query, limit: 500, cursor }, signal);
    rows.push(...answer[name]);
    cursor = answer.next_cursor;
    if (!cursor) return rows;
  }
  throw new Error(`More than ${rowsOfFileMax.toLocaleString("en-IN")} rows: narrow the list.`);
}

/**
 * @param {Child | readonly Child[]} title
 * @param {readonly Child[]} acts
 */
export function makeHead(title, acts = []) {
  return make(
    "div",
    { class: "page-head" },
    make("h1", { tabindex: "-1" }, ...[title].flat()),
    make("div", { class: "acts" }, acts),
  );
}

/**
 * @param {string} name
 * @param {readonly string[]} options
 * @param {string} chosen
 */
function makeChoice(name, options, chosen) {
  return make(
    "select",
    { name },
    ["all", ...options].map((value) =>
      make("option", { value, selected: chosen === value }, sayWord(value)),
    ),
  );
}

const typingMs = 250;

/**
 * A firm by its name or IEC, of those that are found; its id is what the list is narrowed by.
 *
 * @param {View} view
 * @param {Filter} filter
 * @param {string} chosen
 */
function makeFirmFilter({ environment }, { name }, chosen) {
  /** @type {Map<string, string>} */
  const ids = new Map(chosen === "" ? [] : [[nameFirm(chosen), chosen]]);
  const options = make("datalist", { id: `found-${name}` });
  const hidden = make("input", { type: "hidden", name, value: chosen });
  const input = make("input", {
    type: "search",
    list: options.id,
    value: chosen === "" ? "" : nameFirm(chosen),
    placeholder: "Name, IEC or id",
    autocomplete: "off",
  });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const look = async () => {
    const { found } = await readOps("/ops/find", { q: input.value.trim() });
    const firms = found.filter(
      (/** @type {Row} */ one) => one["kind"] === "firm" && one["environment"] === environment,
    );
    for (const { id, firm_name, note } of firms) ids.set(`${firm_name} · ${note ?? id}`, id);
    const shown = firms.map((/** @type {Row} */ { id, firm_name, note }) =>
      make("option", { value: `${firm_name} · ${note ?? id}` }),
    );
    options.replaceChildren(...shown);
  };
  input.addEventListener("input", () => {
    const text = input.value.trim();
    const isId = /^frm_[0-9a-z]{26}$/.test(text);
    hidden.value = isId ? text : (ids.get(text) ?? "");
    const isNone = text !== "" && hidden.value === "";
    input.setCustomValidity(isNone ? "Choose one of the firms that are found." : "");
    clearTimeout(timer);
    if (isNone) timer = setTimeout(() => void look().catch(() => {}), typingMs);
    if (hidden.value !== "") hidden.dispatchEvent(new Event("change", { bubbles: true }));
  });
  return [input, options, hidden];
}

/**
 * @param {View} view
 * @param {readonly Filter[]} filters
 * @param {object} narrowing
 * @param {Readonly<Record<string, string>>} narrowing.chosen
 * @param {Readonly<Record<string, readonly string[] | undefined>>} narrowing.words
 */
function makeFilters(view, filters, { chosen, words }) {
  const makeInput = (/** @type {Filter} */ filter) => {
    const { name, type = "text" } = filter;
    const options = words[name];
    if (options) return makeChoice(name, options, chosen[name] || "all");
    if (type === "firm") return makeFirmFilter(view, filter, chosen[name] ?? "");
    return make("input", { name, type, value: chosen[name] });
  };
  const form = make(
    "form",
    { class: "filters", role: "search", "aria-label": "Narrow the list" },
    filters.map((filter) => make("label", {}, make("span", {}, filter.label), makeInput(filter))),
    make("button", { class: "button quiet small", type: "submit" }, "Show"),
  );
  const narrow = () => {
    const given = /** @type {[string, string][]} */ ([...new FormData(form)]);
    goTo(linkTo(location.pathname.replace(/^\/console/, ""), Object.fromEntries(given)));
  };
  form.addEventListener("change", () => {
    if (form.checkValidity()) narrow();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    narrow();
  });
  return form;
}

/**
 * @param {{cursor: string | null, next: string | null | undefined, chosen: Readonly<Record<string, string>>}} place
 */
function makePaging({ cursor, next, chosen }) {
  if (!cursor && !next) return null;
  const here = location.pathname.replace(/^\/console/, "");
  return make(
    "nav",
    { class: "paging", "aria-label": "Pages" },
    cursor ? make("a", { href: linkTo(here, chosen), "data-page": "first" }, "First page") : null,
    next
      ? make(
          "a",
          { href: linkTo(here, { ...chosen, cursor: next }), "data-page": "next" },
          "Next page",
        )
      : make("span", { class: "muted" }, "The last page"),
  );
}
