// Acts: a button, a dialog that says what will happen and asks for what is needed, one request, and what
// came of it. What the person's role does not permit has no button.

import { Refusal } from "../ask.js";
import { onSubmit, showProblems } from "../form.js";
import { make } from "./dom.js";
import { followAmounts, makeField, readFields } from "./fields.js";
import { callOps, SignedOut, SignInAgain } from "./ops.js";
import { sayWord } from "./show.js";
import { linkTo, may } from "./state.js";

/** @typedef {import("./dom.js").Child} Child */
/** @typedef {import("./fields.js").Field} Field */
/** @typedef {import("./state.js").View} View */
/** @typedef {Record<string, any>} Values */
/** @typedef {{path: string, method?: string, body?: object}} Call */

/**
 * @typedef {object} Act
 * @property {string} label
 * @property {string} [permission]
 * @property {boolean} [danger]
 * @property {"live" | "sandbox"} [environment] of what it changes, where a page lists both
 * @property {boolean} [main] the one that is most likely meant
 * @property {Child | readonly Child[]} [says] what will happen
 * @property {readonly Field[]} [fields]
 * @property {(values: Values) => Call} call
 * @property {(answer: any) => Child | readonly Child[]} [said] what came of it
 * @property {(answer: any, values: Values) => Child} [reveal] what is shown once, before the dialog closes
 * @property {(answer: any) => void} [after] in place of showing the page anew
 */

/**
 * Under the sandbox there is no act that reaches live.
 *
 * @param {View} view
 * @param {Act} act
 */
export function makeAct(view, act) {
  const { environment = view.environment } = act;
  const isOther = environment !== view.environment;
  if (isOther || (environment === "sandbox" && view.reach !== "chosen")) return null;
  if (!may(act.permission)) return null;
  const button = make("button", { class: chooseLook(act), type: "button" }, act.label);
  button.addEventListener("click", () => openDialog(view, act, button));
  return button;
}

/**
 * Opens the dialog of an act that follows another.
 *
 * @param {View} view
 * @param {Act} act
 */
export function openAct(view, act) {
  openDialog(view, act, document.body);
}

/** @param {Act} act */
function chooseLook({ main, danger }) {
  if (main) return "button small";
  return danger ? "button quiet small danger" : "button quiet small";
}

/**
 * @param {View} view
 * @param {Act} act
 * @param {HTMLElement} opener
 */
function openDialog(view, act, opener) {
  document.querySelector("#said")?.replaceChildren(); // What was said is of the act before.
  const fields = act.fields ?? [];
  const problem = make("p", { class: "notice", role: "alert", hidden: true });
  const form = make(
    "form",
    { novalidate: true },
    makeEnvironmentMark(view),
    make("h2", { id: "dialog-title" }, act.label.replace(/…$/, "")),
    act.says ? make("div", { class: "muted says" }, ...[act.says].flat()) : null,
    fields.map(makeField),
    problem,
    make(
      "div",
      { class: "dialog-acts" },
      make(
        "button",
        { class: act.danger ? "button danger" : "button", type: "submit" },
        act.label.replace(/…$/, ""),
      ),
      make(
        "button",
        { class: "button quiet", type: "button", onclick: () => dialog.close() },
        "Cancel",
      ),
    ),
  );
  const dialog = make("dialog", { class: "dialog", "aria-labelledby": "dialog-title" }, form);
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (opener.isConnected) opener.focus();
  });
  onSubmit(form, async () => {
    problem.hidden = true;
    try {
      const values = await readFields(form, fields);
      const { path, method, body } = act.call(values);
      const answer = await callOps(path, {
        method: method ?? "POST",
        body: method === "GET" ? undefined : (body ?? {}),
      });
      finish(answer, values);
    } catch (error) {
      if (error instanceof SignedOut) {
        dialog.close();
        view.refresh();
        return;
      }
      tellProblem(form, problem, error);
    }
  });
  document.body.append(dialog);
  dialog.showModal();
  followAmounts(form, fields);

  /**
   * @param {any} answer
   * @param {Values} values
   */
  function finish(answer, values) {
    if (!act.reveal) {
      dialog.close();
      (act.after ?? view.refresh)(answer);
      const said = sayOutcome(act, answer);
      if (said.some((part) => part !== "")) say(said); // Last, because another page takes away what was said.
      return;
    }
    say(sayOutcome(act, answer));
    const done = make(
      "button",
      { class: "button", type: "button", onclick: () => dialog.close() },
      "Done",
    );
    dialog.replaceChildren(
      make("h2", { id: "dialog-title" }, act.label.replace(/…$/, "")),
      make("div", { class: "reveal" }, act.reveal(answer, values)),
      make("div", { class: "dialog-acts" }, done),
    );
    dialog.addEventListener("close", () => view.refresh());
    done.focus();
  }
}

/** @param {View} view */
function makeEnvironmentMark({ environment, reach }) {
  const words = reach === "both" ? "Live and sandbox" : sayEnvironment(environment);
  return make("p", { class: "environment-mark", "data-environment": environment }, words);
}

/** @param {"live" | "sandbox"} environment */
function sayEnvironment(environment) {
  return environment === "live" ? "LIVE" : "Sandbox";
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement} place
 * @param {unknown} error
 */
export function tellProblem(form, place, error) {
  const problems = error instanceof Refusal ? error.fields : [];
  showProblems(form, problems);
  const elsewhere = problems.filter(({ path }) => !form.elements.namedItem(path));
  const said = error instanceof Error ? error.message : "It did not work.";
  place.textContent = [said, ...elsewhere.map(({ path, problem }) => `${path} ${problem}.`)].join(
    " ",
  );
  if (error instanceof SignInAgain) {
    const again = make("button", { class: "button quiet small", type: "button" }, "Sign in again");
    again.addEventListener("click", () => {
      const query = new URLSearchParams({ fresh: "1", to: location.pathname });
      location.assign(`/console/directory?${query.toString()}`);
    });
    place.append(" ", again);
  }
  place.hidden = false;
}

/**
 * @param {Act} act
 * @param {any} answer
 * @returns {Child[]}
 */
function sayOutcome({ label, said }, answer) {
  if (answer.outcome === "proposed") {
    const approval = answer.approval_id;
    const place = approval ? `/approvals/${approval}` : "/approvals";
    return [
      "It takes two people: it waits under ",
      make("a", { href: linkTo(place) }, "Approvals"),
      " for somebody else.",
    ];
  }
  const name = label.replace(/…$/, "");
  if (said) return [said(answer)].flat();
  return [
    typeof answer.outcome === "string" ? `${name}: ${sayWord(answer.outcome)}.` : `${name}: done.`,
  ];
}

/** @param {readonly Child[]} what */
export function say(what) {
  const place = document.querySelector("#said");
  if (!(place instanceof HTMLElement)) return;
  const close = make("button", { class: "close", type: "button", "aria-label": "Dismiss" }, "×");
  close.addEventListener("click", () => place.replaceChildren());
  place.replaceChildren(make("p", {}, [...what]), close);
}
