// The enquiry form: what it asks for depends on what it is about, and it ends in a reference.

import { ask, Refusal } from "./ask.js";
import {
  amountLabels,
  clearProblems,
  describeAmountProblem,
  followAmount,
  onSubmit,
  readText,
  showProblems,
} from "./form.js";
import { parsePaise } from "./money.js";
import { find, findElement, longDay } from "./words.js";

/** The service's names for fields that have another one in the form. */
const formNames = /** @type {Readonly<Record<string, string>>} */ ({
  face_paise: "amount",
  requirement_paise: "amount",
});

export function followEnquiry() {
  const form = findElement(HTMLFormElement, document, "#enquiry-form");
  const amount = findElement(HTMLInputElement, form, "#enquiry-amount");
  const problem = find(form, "#enquiry-problem");
  const success = find(document, "#enquiry-success");
  const tellAmount = followAmount(amount);

  function arrange() {
    const kind = readText(form, "kind");
    for (const part of form.querySelectorAll("[data-for]")) {
      const shown = part.getAttribute("data-for")?.split(" ").includes(kind);
      /** @type {HTMLElement} */ (part).hidden = !shown;
    }
    find(form, "#enquiry-amount-label").textContent = amountLabels[kind] ?? "";
  }

  form.addEventListener("change", arrange);
  find(document, "#enquiry-again").addEventListener("click", () => {
    form.reset();
    arrange();
    tellAmount();
    success.hidden = true;
    form.hidden = false;
    find(form, "input:checked").focus();
  });
  onSubmit(form, async () => {
    problem.hidden = true;
    const { body, problems } = readForm(form);
    if (problems.length > 0) {
      showProblems(form, problems);
      return;
    }
    clearProblems(form);
    try {
      const { enquiry_ref, kept_until } = await ask(
        `/public/enquiry/${readText(form, "kind")}`,
        body,
      );
      find(success, "#enquiry-ref").textContent = enquiry_ref;
      find(success, "#enquiry-kept").textContent =
        `The desk answers by email. Your details are deleted on ${longDay(kept_until.slice(0, 10))} at the latest.`;
      form.hidden = true;
      success.hidden = false;
      success.focus();
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal("It could not be sent.");
      problem.textContent = refusal.message;
      problem.hidden = false;
      showProblems(
        form,
        refusal.fields.map(({ path, problem: why }) => ({
          path: formNames[path] ?? path,
          problem: `This ${why}.`,
        })),
      );
    }
  });

  /** @param {{side: string, scheme: string, amount: string}} asked */
  return function prefill({ side, scheme, amount: text }) {
    form.hidden = false;
    success.hidden = true;
    const kind = findElement(HTMLInputElement, form, `input[value=${side}]`);
    const schemes = findElement(HTMLSelectElement, form, "#enquiry-scheme");
    kind.checked = true;
    schemes.value = scheme;
    amount.value = text;
    arrange();
    tellAmount();
    find(form, "#enquiry-name").focus();
  };
}

/**
 * What the form says, as the service takes it, and what is plainly missing.
 *
 * @param {HTMLFormElement} form
 */
function readForm(form) {
  const text = (/** @type {string} */ name) => readText(form, name);
  const kind = text("kind");
  const paise = parsePaise(text("amount"));
  /** @type {import("./ask.js").FieldProblem[]} */
  const problems = [];
  const require = (
    /** @type {string} */ path,
    /** @type {unknown} */ value,
    problem = "Please fill this in.",
  ) => {
    if (!value) problems.push({ path, problem });
  };
  if (kind !== "contact") require("amount", paise, describeAmountProblem(text("amount")));
  require("name", text("name"));
  require("email", text("email"));
  if (kind === "contact") require("message", text("message"));
  require("consent", text("consent"), "The desk may only answer you with your consent.");

  const person = { name: text("name"), email: text("email"), consent: true };
  if (kind === "contact") return { problems, body: { ...person, message: text("message") } };
  const body = {
    ...person,
    scheme: text("scheme"),
    [kind === "sell" ? "face_paise" : "requirement_paise"]: paise,
    ...(text("phone") && { phone: text("phone") }),
    ...(text("iec") && { iec: text("iec") }),
  };
  return { problems, body };
}
