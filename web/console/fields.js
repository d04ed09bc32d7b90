// Fields of forms: what is typed, and what it is in the service's terms.

import { Refusal } from "../ask.js";
import { parsePaise } from "../money.js";
import { make } from "./dom.js";

/**
 * @typedef {object} Field
 * @property {string} name as the service calls it
 * @property {string} label
 * @property {"text" | "long" | "money" | "percent" | "count" | "day" | "month" | "choice" | "yes" | "file" | "report" | "moment" | "password" | "code"} [type]
 * @property {readonly (readonly [string, string])[]} [options] value and words of each choice
 * @property {boolean} [optional]
 * @property {boolean} [plain] optional, and not marked as such
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
function makeInput({ type = "text", options = [], value, autocomplete = "off" }, shared) {
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
    const raw = given.get(name);
    if (type === "yes") {
      values[name] = raw !== null;
      continue;
    }
    if (raw instanceof File) {
      if (raw.size > 0) values[name] = type === "report" ? await readReport(raw) : await raw.text();
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
 * A report as the operations take it: text, or a workbook in base64.
 *
 * @param {File} file
 */
async function readReport(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const isWorkbook = bytes[0] === 0x50 && bytes[1] === 0x4b;
  if (!isWorkbook) return { csv: new TextDecoder().decode(bytes) };
  return { xlsx: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")) };
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
