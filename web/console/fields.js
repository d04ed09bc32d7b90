// Fields of forms: what is typed, and what it is in the service's terms.

import { Refusal } from "../ask.js";
import { followAmount } from "../form.js";
import { parsePaise } from "../money.js";
import { make } from "./dom.js";

/**
 * @typedef {object} Field
 * @property {string} name as the service calls it
 * @property {string} label
 * @property {"text" | "long" | "money" | "percent" | "count" | "day" | "month" | "choice" | "yes" | "file" | "report" | "bytes" | "thing" | "several" | "moment" | "password" | "code"} [type]
 * @property {readonly (readonly [string, string])[]} [options] value and words of each choice
 * @property {boolean} [optional]
 * @property {boolean} [plain] optional, and not marked as such
 * @property {(text: string) => Promise<readonly (readonly [string, string])[]>} [find] the things that a text may mean; of none, those that are likely
 * @property {string} [value]
 * @property {string} [hint]
 * @property {string} [autocomplete]
 */

/** @param {Field} field */
export function makeField(field) {
  const { name, label, type = "text", optional, hint } = field;
  const id = `field-${name}`;
  const described = `${id}-hint ${id}-problem`;
  const problem = make("p", { class: "problem", id: `${id}-problem`, hidden: true });
  const hintText = make("p", { class: "hint", id: `${id}-hint` }, hint ?? "");
  if (type === "yes") {
    const box = make("input", { id, name, type: "checkbox", checked: field.value === "yes" });
    const words = make("label", { class: "check", for: id }, box, make("span", {}, label));
    return make("div", { class: "field" }, words, hintText, problem);
  }
  if (type === "several") return make("div", { class: "field" }, makeSeveral(field), problem);
  return make(
    "div",
    { class: "field" },
    make(
      "div",
      { class: "label-row" },
      make(
        "label",
        { for: id },
        label,
        optional && !field.plain ? make("span", { class: "optional" }, " optional") : null,
      ),
      hintText,
    ),
    makeInput(field, { id, name, required: !optional, "aria-describedby": described }),
    problem,
  );
}

/**
 * @param {Field} field
 * @param {import("./dom.js").Attributes} shared
 */
function makeInput(field, shared) {
  const { type = "text", options = [], value, autocomplete = "off" } = field;
  switch (type) {
    case "long":
      return make("textarea", { ...shared, rows: 3, maxlength: 500 }, value ?? "");
    case "choice":
      return make(
        "select",
        shared,
        options.map(([option, words]) =>
          make("option", { value: option, selected: option === value }, words),
        ),
      );
    case "money":
      return make(
        "div",
        { class: "money" },
        make("span", { "aria-hidden": "true" }, "₹"),
        make("input", { ...shared, inputmode: "decimal", autocomplete, value }),
      );
    case "day":
      return make("input", { ...shared, type: "date", value });
    case "month":
      return make("input", { ...shared, type: "month", value });
    case "file":
      return make("input", { ...shared, type: "file", accept: ".csv,text/csv,text/plain" });
    case "thing":
      return makePicker(field, shared);
    case "bytes":
    case "report":
      return make("input", { ...shared, type: "file", accept: ".csv,.xlsx,text/csv" });
    case "moment":
      return make("input", { ...shared, type: "datetime-local", value });
    case "password":
      return make("input", { ...shared, type: "password", autocomplete });
    case "code":
      return make("input", {
        ...shared,
        inputmode: "numeric",
        pattern: "[0-9]{6}",
        maxlength: 6,
        autocomplete: "one-time-code",
      });
    default: {
      const inputmode = type === "text" ? undefined : "decimal";
      return make("input", { ...shared, inputmode, autocomplete, value });
    }
  }
}

/**
 * Boxes to tick, and one that ticks all of them.
 *
 * @param {Field} field
 */
function makeSeveral({ name, label, options = [] }) {
  const boxes = options.map(([value], at) =>
    make("input", { type: "checkbox", id: at === 0 ? `field-${name}` : null, name, value }),
  );
  const all = make("input", { type: "checkbox" });
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
  });
  for (const box of boxes) {
    box.addEventListener("change", () => (all.checked = boxes.every(({ checked }) => checked)));
  }
  const makeLine = (/** @type {HTMLInputElement} */ box, /** @type {string} */ words) =>
    make("label", { class: "check" }, box, make("span", {}, words));
  return make(
    "fieldset",
    { class: "several" },
    make("legend", {}, label),
    makeLine(all, `All ${options.length}`),
    make(
      "div",
      { class: "choices", tabindex: 0, role: "group", "aria-label": label },
      boxes.map((box, at) => makeLine(box, options[at]?.[1] ?? "")),
    ),
  );
}

const typingMs = 250;

/**
 * A thing is looked for by what people call it, and chosen from what is found.
 *
 * @param {Field} field
 * @param {import("./dom.js").Attributes} shared
 */
function makePicker({ options = [], find = async () => [] }, shared) {
  const chosen = make("select", { ...shared, size: 6 });
  const search = make("input", {
    type: "search",
    "aria-label": "Search for it",
    placeholder: "A name, IEC or id",
    autocomplete: "off",
  });
  let asked = 0;
  const look = async () => {
    const mine = ++asked;
    const found = await find(search.value.trim()).catch(() => []);
    if (mine !== asked) return;
    const before = chosen.value;
    chosen.replaceChildren(
      ...[...found, ...options].map(([value, words]) =>
        make("option", { value, selected: value === before }, words),
      ),
    );
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(), typingMs);
  });
  void look();
  return make("div", { class: "picker" }, search, chosen);
}

/**
 * Says in lakh or crore what the fields of a form hold and are given.
 *
 * @param {HTMLFormElement} form
 * @param {readonly Field[]} fields
 */
export function followAmounts(form, fields) {
  for (const { name, type } of fields) {
    const input = form.elements.namedItem(name);
    if (type === "money" && input instanceof HTMLInputElement) followAmount(input)();
  }
}

/**
 * What a form says, by the names of its fields; refuses what is missing or no such value.
 *
 * @param {HTMLFormElement} form
 * @param {readonly Field[]} fields
 * @returns {Promise<Record<string, any>>}
 */
export async function readFields(form, fields) {
  const given = new FormData(form);
  /** @type {Record<string, any>} */
  const values = {};
  /** @type {import("../ask.js").FieldProblem[]} */
  const problems = [];
  for (const { name, type = "text", optional } of fields) {
    if (type === "several") {
      values[name] = given.getAll(name);
      if (values[name].length === 0) problems.push({ path: name, problem: "Choose at least one." });
      continue;
    }
    const raw = given.get(name);
    if (type === "yes") {
      values[name] = raw !== null;
      continue;
    }
    if (raw instanceof File) {
      if (raw.size > 0) values[name] = await readFile(raw, type);
      if (raw.size === 0 && !optional) problems.push({ path: name, problem: "Choose a file." });
      continue;
    }
    const text = (raw ?? "").trim();
    if (text === "") {
      if (!optional) problems.push({ path: name, problem: "This is needed." });
      continue;
    }
    const value = readValue(type, text);
    if (value === undefined) problems.push({ path: name, problem: expected[type] ?? "" });
    else values[name] = value;
  }
  if (problems.length > 0) throw new Refusal("Some of this needs to be corrected.", problems);
  return values;
}

/**
 * Text; bytes in base64; or a report as the operations take it, which is either.
 *
 * @param {File} file
 * @param {NonNullable<Field["type"]>} type
 */
async function readFile(file, type) {
  if (type === "file") return await file.text();
  const bytes = new Uint8Array(await file.arrayBuffer());
  const base64 = () => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  if (type === "bytes") return base64();
  const isWorkbook = bytes[0] === 0x50 && bytes[1] === 0x4b;
  return isWorkbook ? { xlsx: base64() } : { csv: new TextDecoder().decode(bytes) };
}

const expected = /** @type {Readonly<Record<string, string>>} */ ({
  money: "Enter an amount in rupees, such as 25,00,000.",
  percent: "Enter percent with at most two decimals, such as 98.50.",
  count: "Enter a whole number.",
});

/**
 * @param {NonNullable<Field["type"]>} type
 * @param {string} text
 */
function readValue(type, text) {
  if (type === "money") return parsePaise(text);
  if (type === "percent") return readBps(text);
  // Times of people are Indian, wherever the browser is.
  if (type === "moment") return `${text.padEnd(19, ":00")}+05:30`;
  if (type === "count") return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  return text;
}

/**
 * "98.5" percent are 9850 basis points; undefined for what is none.
 *
 * @param {string} text
 */
export function readBps(text) {
  const parts = /^([-−+]?)(\d{1,4})(?:\.(\d{0,2}))?\s*%?$/.exec(text.trim());
  if (!parts) return undefined;
  const size = Number(`${parts[2]}${(parts[3] ?? "").padEnd(2, "0")}`);
  return parts[1] === "" || parts[1] === "+" ? size : -size;
}
