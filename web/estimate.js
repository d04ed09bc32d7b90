// The calculator: one question to the service per click. What it shows is the service's answer;
// nothing is computed here. An answer is for what the form said: it goes when that changes.

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
import { formatPercent, formatRupees, parsePaise } from "./money.js";
import { find, findElement } from "./words.js";

/**
 * @param {(asked: {side: string, scheme: string, amount: string}) => void} enquire
 * @param {() => string} findEnvironment whose prices: the sandbox's while the page is a preview
 */
export function followEstimate(enquire, findEnvironment) {
  const form = findElement(HTMLFormElement, document, "#estimate-form");
  const amount = findElement(HTMLInputElement, form, "#estimate-amount");
  const expiry = find(form, "#estimate-expiry-field");
  const result = find(document, "#estimate-result");
  const empty = find(result, ".result-empty");
  followAmount(amount);
  /** Which answer is waited for: one to a question that was changed meanwhile is not shown. */
  let asked = 0;

  function forget() {
    asked += 1;
    if (!result.contains(empty)) result.replaceChildren(empty);
  }

  form.addEventListener("input", forget);
  form.addEventListener("change", () => {
    const side = readText(form, "side");
    find(form, "#estimate-amount-label").textContent = amountLabels[side] ?? "";
    expiry.hidden = side !== "sell";
  });

  onSubmit(form, async () => {
    const paise = parsePaise(amount.value);
    if (paise === undefined) {
      showProblems(form, [{ path: "amount", problem: describeAmountProblem(amount.value) }]);
      return;
    }
    clearProblems(form);
    const [side, scheme] = [readText(form, "side"), readText(form, "scheme")];
    const expiresOn = side === "sell" ? readText(form, "expiry") : "";
    const environment = findEnvironment();
    const query = new URLSearchParams({
      side,
      scheme,
      amount_paise: String(paise),
      ...(expiresOn && { expires_on: expiresOn }),
      ...(environment !== "live" && { environment }),
    });
    asked += 1;
    const question = asked;
    try {
      const answer = await ask(`/public/enquiry/estimate?${query}`);
      if (question !== asked) return;
      const asking = button("Ask the desk for a price", () =>
        enquire({ side, scheme, amount: amount.value }),
      );
      result.replaceChildren(...(answer.no_estimate ? none(answer) : range(answer)), asking);
    } catch (error) {
      if (question !== asked) return;
      const words = error instanceof Refusal ? error.message : "The range cannot be shown.";
      result.replaceChildren(line("notice", words));
    }
  });
}

/** @param {any} answer */
function range({
  side,
  environment,
  days_left,
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
    line("result-range", `₹${formatRupees(low_paise)} – ₹${formatRupees(high_paise)}`),
    line("result-price", `${formatPercent(low_bps)} % – ${formatPercent(high_bps)} % of face`),
  ];
  if (environment !== "live") {
    shown.unshift(line("notice", "Sandbox preview: by a simulated rate card, not a market."));
  }
  if (side === "sell") {
    const life =
      days_left === undefined
        ? "For any time that is left; the day on which the credit expires narrows the range."
        : `For a credit that is valid for ${days_left} more days.`;
    shown.push(line("result-life", life));
  }
  if (side === "buy") {
    const saved = `₹${formatRupees(savings_low_paise)} – ₹${formatRupees(savings_high_paise)}`;
    shown.push(line("result-saving", `${saved} less than paying the duty in cash`));
  }
  return [...shown, line("muted", note)];
}

const titles = /** @type {Readonly<Record<string, string>>} */ ({
  size_unavailable: "There is no range for an amount of this size.",
  validity_unavailable: "There is no range for a credit that lapses so soon.",
});

/** @param {{reason: string, note: string}} answer */
function none({ reason, note }) {
  const title = titles[reason] ?? "There is no range now: the market is not open.";
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
