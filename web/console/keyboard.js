// The keyboard: one key finds, g and a letter goes to a page, j and k walk through a list.

import { make } from "./dom.js";
import { pages } from "./pages.js";
import { goTo, linkTo, may } from "./state.js";

/** How long after g the letter may come. */
const chordMs = 1_500;

/** @param {() => void} refresh */
export function followKeys(refresh) {
  let chordUntil = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]") || !document.querySelector("#page")) return;
    if (event.timeStamp < chordUntil) {
      chordUntil = 0;
      const page = pages.find(({ key, permission }) => key === event.key && may(permission));
      if (page) goTo(linkTo(page.path));
      return;
    }
    const act = acts[event.key];
    if (event.key === "g") chordUntil = event.timeStamp + chordMs;
    else if (event.key === "r") refresh();
    else if (act) {
      event.preventDefault();
      act();
    }
  });
  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("[data-help]")) showHelp();
  });
}

/** @type {Readonly<Record<string, () => void>>} */
const acts = {
  "?": showHelp,
  "/": () => focusOn(".search input"),
  j: () => walk(1),
  k: () => walk(-1),
  n: () => follow("[data-page=next]"),
  f: () => follow("[data-page=first]"),
};

/** @param {EventTarget | null} target */
function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["radio", "checkbox"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

/** @param {string} selector */
function focusOn(selector) {
  const element = document.querySelector(selector);
  if (element instanceof HTMLElement) element.focus();
}

/** @param {string} selector */
function follow(selector) {
  const link = document.querySelector(selector);
  if (link instanceof HTMLElement) link.click();
}

/** @param {1 | -1} step */
function walk(step) {
  const links = [...document.querySelectorAll("#page tbody tr")].flatMap((row) => {
    const link = row.querySelector("a, button");
    return link instanceof HTMLElement ? [link] : [];
  });
  const own = document.activeElement?.closest("tr");
  const at = links.findIndex((link) => own?.contains(link));
  const from = step === 1 || at !== -1 ? at : links.length;
  const next = from + step;
  links[Math.min(Math.max(next, 0), links.length - 1)]?.focus();
}

function showHelp() {
  const row = (/** @type {readonly string[]} */ keys, /** @type {string} */ words) =>
    make(
      "div",
      {},
      make(
        "dt",
        {},
        keys.flatMap((key, at) => [at > 0 ? " " : "", make("kbd", {}, key)]),
      ),
      make("dd", {}, words),
    );
  const close = make("button", { class: "button", type: "button", autofocus: true }, "Close");
  const dialog = make(
    "dialog",
    { class: "dialog", "aria-labelledby": "help-title" },
    make("h2", { id: "help-title" }, "Keyboard shortcuts"),
    make(
      "dl",
      { class: "shortcuts" },
      row(["/"], "Find anything"),
      row(["j"], "Next row"),
      row(["k"], "Row before"),
      row(["Enter"], "Open the row"),
      row(["n"], "Next page of a list"),
      row(["f"], "First page of a list"),
      row(["r"], "Read the page anew"),
      row(["Esc"], "Close a dialog"),
      row(["?"], "This list"),
      pages.flatMap(({ key, title, permission }) =>
        key !== undefined && may(permission) ? [row(["g", key], title)] : [],
      ),
    ),
    make("div", { class: "dialog-acts" }, close),
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
