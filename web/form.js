// What the two forms share: amounts that group themselves, and problems shown at their fields.

import { formatRupees, parsePaise, saySize, tidied } from "./money.js";
import { find, findElement } from "./words.js";

/** @typedef {import("./ask.js").FieldProblem} FieldProblem */

export const amountLabels = /** @type {Readonly<Record<string, string>>} */ ({
  sell: "Face value to sell",
  buy: "Basic customs duty to cover",
});

/**
 * What is wrong with an amount that could not be read.
 *
 * @param {string} text
 */
export function describeAmountProblem(text) {
  const examples = "such as 25,00,000, 50 lakh or 1.2 crore";
  const given = text.trim();
  if (given === "") return `Enter an amount in rupees, ${examples}.`;
  return `“${given.slice(0, 40)}” is no amount of rupees. Write one ${examples}.`;
}

/**
 * Says a sum in lakh or crore beside its field, after the hint that is there.
 *
 * @param {HTMLInputElement} input
 */
export function followAmount(input) {
  const hint = find(input.form ?? document, `#${input.id}-hint`);
  const own = hint.textContent ?? "";
  input.addEventListener("input", () => {
    // Only at the end of the text: commas that jump in under a cursor in the middle confuse.
    if (input.selectionStart === input.value.length) input.value = tidied(input.value);
    tell();
  });
  input.addEventListener("blur", () => {
    const paise = parsePaise(input.value);
    input.value = paise === undefined ? tidied(input.value) : formatRupees(paise);
    tell();
  });

  function tell() {
    const said = saySize(parsePaise(input.value) ?? 0);
    hint.textContent = [own, said && `₹ ${said}`].filter(Boolean).join(", ");
  }
  return tell;
}

/**
 * Shows each problem at its field and takes the reader to the first.
 *
 * @param {HTMLFormElement} form
 * @param {readonly FieldProblem[]} problems by the names of the form's fields
 */
export function showProblems(form, problems) {
  clearProblems(form);
  /** @type {HTMLElement | undefined} */
  let first;
  for (const { path, problem } of problems) {
    const named = form.elements.namedItem(path);
    const field = named instanceof RadioNodeList ? named[0] : named;
    if (!(field instanceof HTMLElement) || field.closest("[hidden]")) continue;
    field.setAttribute("aria-invalid", "true");
    const place = find(form, `#${field.id}-problem`);
    place.textContent = problem;
    place.hidden = false;
    first ??= field;
  }
  first?.focus();
}

/** @param {HTMLFormElement} form */
export function clearProblems(form) {
  for (const field of form.querySelectorAll("[aria-invalid]"))
    field.removeAttribute("aria-invalid");
  for (const place of form.querySelectorAll(".problem")) {
    place.textContent = "";
    /** @type {HTMLElement} */ (place).hidden = true;
  }
}

/**
 * Runs the work of a form with its button turned off, so that one click is one request.
 *
 * @param {HTMLFormElement} form
 * @param {() => Promise<void>} work
 */
export function onSubmit(form, work) {
  const button = findElement(HTMLButtonElement, form, "button[type=submit]");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    void work().finally(() => button.removeAttribute("aria-disabled"));
  });
}

/**
 * What a field says; nothing for a field that is not there or not chosen.
 *
 * @param {HTMLFormElement} form
 * @param {string} name
 */
export function readText(form, name) {
  const value = new FormData(form).get(name);
  return typeof value === "string" ? value.trim() : "";
}
