// Terms of proposals: any JSON, with money and prices as people read them.

import { make, makeFacts } from "./dom.js";
import { sayWord, showId, showMoney, showPercent } from "./show.js";

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
