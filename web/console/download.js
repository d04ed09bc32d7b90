// Rows as a CSV file that a spreadsheet opens: every field under its name on the wire, money in rupees.

import { make } from "./dom.js";

/** @typedef {import("./ops.js").Row} Row */

/**
 * A button that reads rows and saves them.
 *
 * @param {string} name of the file
 * @param {() => Promise<readonly Row[]>} read
 */
export function makeDownload(name, read) {
  const button = make("button", { class: "button quiet small", type: "button" }, "Download CSV");
  button.addEventListener("click", () => {
    button.setAttribute("aria-disabled", "true");
    read()
      .then((rows) => save(`${name}.csv`, writeCsv(rows)))
      .catch((error) => (button.textContent = error instanceof Error ? error.message : "Failed"))
      .finally(() => button.removeAttribute("aria-disabled"));
  });
  return button;
}

/**
 * A button that has the service make a file and saves it.
 *
 * @param {string} words
 * @param {() => Promise<{name: string, content: string}>} read the file in base64
 */
export function makeFileButton(words, read) {
  const button = make("button", { class: "button quiet small", type: "button" }, words);
  button.addEventListener("click", () => {
    button.setAttribute("aria-disabled", "true");
    read()
      .then(({ name, content }) => saveBase64(name, content))
      .catch((error) => (button.textContent = error instanceof Error ? error.message : "Failed"))
      .finally(() => button.removeAttribute("aria-disabled"));
  });
  return button;
}

/**
 * @param {string} name
 * @param {string} content in base64
 */
export function saveBase64(name, content) {
  const bytes = Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0));
  save(name, bytes, "application/octet-stream");
}

/**
 * @param {string} name
 * @param {string | Uint8Array<ArrayBuffer>} content
 * @param {string} [type]
 */
export function save(name, content, type = "text/csv") {
  const url = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * What is null in a row has the columns that it has in others.
 *
 * @param {readonly Row[]} rows
 */
export function writeCsv(rows) {
  const flat = rows.map((row) => Object.fromEntries(flatten(row, "")));
  const every = [...new Set(flat.flatMap((row) => Object.keys(row)))];
  const whole = new Set(every.flatMap(listWholes));
  const names = every.filter((name) => !whole.has(name));
  const lines = [names, ...flat.map((row) => names.map((name) => row[name] ?? ""))];
  return `${lines.map((cells) => cells.map(quote).join(",")).join("\r\n")}\r\n`;
}

/** What a part is of: "bank.name" of "bank". @param {string} name */
function listWholes(name) {
  const parts = name.split(".");
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("."));
}

/**
 * @param {Row} row
 * @param {string} before
 * @returns {[string, string][]}
 */
function flatten(row, before) {
  return Object.entries(row).flatMap(([name, value]) => {
    const whole = `${before}${name}`;
    const isNone = value === null || value === undefined;
    if (name.endsWith("_paise") && (isNone || typeof value !== "object")) {
      return [[whole.replace(/_paise$/, "_rupees"), isNone ? "" : writeRupees(value)]];
    }
    if (isNone) return [[whole, ""]];
    if (Array.isArray(value)) {
      const isPlain = value.every((one) => typeof one !== "object");
      return [[whole, isPlain ? value.join(" ") : JSON.stringify(value)]];
    }
    return typeof value === "object" ? flatten(value, `${whole}.`) : [[whole, String(value)]];
  });
}

/** @param {number | bigint} paise */
function writeRupees(paise) {
  const size = BigInt(paise);
  const plain = String(size < 0n ? -size : size).padStart(3, "0");
  return `${size < 0n ? "-" : ""}${plain.slice(0, -2)}.${plain.slice(-2)}`;
}

/** A cell that a spreadsheet would run as a formula begins with an apostrophe. @param {string} cell */
function quote(cell) {
  const isFormula = /^[=+@\t\r]|^-(?![\d.]+$)/.test(cell);
  const text = isFormula ? `'${cell}` : cell;
  return /[",\r\n;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
