// The calculator: one question to the service per click. What it shows is the service's answer;
// nothing is computed here.

import { ask, Refusal } from "./ask.js";
import {
  amountLabels,
  amountProblem,
  clearProblems,
  followAmount,
  onSubmit,
  showProblems,
  textOf,
} from "./form.js";
import { paiseOf, percentOf, rupeesOf } from "./money.js";
import { find, findOf } from "./words.js";

/** @param {(asked: {side: string, scheme: string, amount: string}) => void} enquire */
export function followEstimate(enquire) {
  const form = findOf(HTMLFormElement, document, "#estimate-form");
  const amount = findOf(HTMLInputElement, form, "#estimate-amount");
  const result = find(document, "#estimate-result");
  followAmount(amount);
  form.addEventListener("change", () => {
    find(form, "#estimate-amount-label").textContent = amountLabels[textOf(form, "side")] ?? "";
  });

  onSubmit(form, async () => {
    const paise = paiseOf(amount.value);
    if (paise === undefined) {
      showProblems(form, [{ path: "amount", problem: amountProblem }]);
      return;
    }
    clearProblems(form);
    const [side, scheme] = [textOf(form, "side"), textOf(form, "scheme")];
    const query = new URLSearchParams({ side, scheme, amount_paise: String(paise) });
    try {
      const answer = await ask(`/public/enquiry/estimate?${query}`);
      const asking = button("Ask the desk for a price", () =>
        enquire({ side, scheme, amount: amount.value }),
      );
      result.replaceChildren(...(answer.no_estimate ? none(answer) : range(answer)), asking);
    } catch (error) {
      const words = error instanceof Refusal ? error.message : "The range cannot be shown.";
      result.replaceChildren(line("notice", words));
    }
  });
}

/** @param {any} answer */
function range({
  side,
  low_bps,
  high_bps,
  low_paise,
  high_paise,
  savings_low_paise,
  savings_high_paise,
  note,
}) {
  const shown = [
    line("result-title", side === "sell" ? "You would receive about" : "You would pay about"),
    line("result-range", `₹${rupeesOf(low_paise)} – ₹${rupeesOf(high_paise)}`),
    line("result-price", `${percentOf(low_bps)} % – ${percentOf(high_bps)} % of face`),
  ];
  if (side === "buy") {
    const saved = `₹${rupeesOf(savings_low_paise)} – ₹${rupeesOf(savings_high_paise)}`;
    shown.push(line("result-saving", `${saved} less than paying the duty in cash`));
  }
  return [...shown, line("muted", note)];
}

/** @param {{reason: string, note: string}} answer */
function none({ reason, note }) {
  const title =
    reason === "size_unavailable"
      ? "There is no range for an amount of this size."
      : "There is no range now: the market is not open.";
  return [line("result-title", title), line("muted", note)];
}

/**
 * @param {string} name
 * @param {string} text
 */
function line(name, text) {
  const made = document.createElement("p");
  made.className = name;
  made.textContent = text;
  return made;
}

/**
 * @param {string} text
 * @param {() => void} act
 */
function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "button quiet";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}
