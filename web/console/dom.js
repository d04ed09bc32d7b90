// Elements from a description. Text is always text: nothing that the service says becomes markup.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Readonly<Record<string, string | number | boolean | null | undefined | ((event: any) => void)>>} Attributes */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes functions under `onclick` and the like listen; false and undefined are left out
 * @param {(Child | readonly Child[])[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...toNodes(children));
  return element;
}

/**
 * @param {readonly (Child | readonly Child[])[]} children
 * @returns {(Node | string)[]}
 */
function toNodes(children) {
  return children.flat().flatMap((child) => {
    if (child === null || child === undefined || child === false) return [];
    return [child instanceof Node ? child : String(child)];
  });
}

/**
 * A heading and what belongs under it.
 *
 * @param {string} title
 * @param {...(Child | readonly Child[])} children
 */
export function makeSection(title, ...children) {
  return make("section", { class: "block" }, make("h2", {}, title), ...children);
}

/**
 * Names and values, in two columns.
 *
 * @param {readonly (readonly [string, Child | readonly Child[]])[]} facts
 */
export function makeFacts(facts) {
  return make(
    "dl",
    { class: "facts" },
    facts.map(([name, value]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, ...[value].flat())),
    ),
  );
}

/**
 * A table whose cells repeat their heading, for screens on which rows are stacked.
 *
 * @param {string} caption for those who do not see the page
 * @param {readonly {head: string, kind?: string | undefined}[]} columns
 * @param {readonly (readonly (Child | readonly Child[])[])[]} rows
 */
export function makeTable(caption, columns, rows) {
  const heads = columns.map(({ head, kind }) => make("th", { scope: "col", class: kind }, head));
  const body = rows.map((cells) =>
    make(
      "tr",
      {},
      cells.map((cell, at) =>
        make("td", { "data-head": columns[at]?.head, class: columns[at]?.kind }, ...[cell].flat()),
      ),
    ),
  );
  return make(
    "div",
    { class: "table-wrap" },
    make(
      "table",
      { class: "table" },
      make("caption", { class: "hidden" }, caption),
      make("thead", {}, make("tr", {}, heads)),
      make("tbody", {}, body),
    ),
  );
}

/** @param {string} text */
export function makeEmpty(text) {
  return make("p", { class: "empty" }, text);
}
