// The console: who is signed in, which page the address names, and the frame around it.

import { readText } from "../form.js";
import { find } from "../words.js";
import { make } from "./dom.js";
import { followKeys } from "./keyboard.js";
import { callOps, readOps, SignedOut } from "./ops.js";
import { groups, pages } from "./pages.js";
import { countWaiting, showPending } from "./pending.js";
import { makeEnrolment, makeSignIn, readRefusal } from "./sign-in.js";
import { Elsewhere, goTo, linkTo, may, person, readEnvironment, setPerson } from "./state.js";

/** @typedef {import("./state.js").Page} Page */

const place = find(document, "#console");
let leaving = new AbortController();
/** A page that answers at once is not announced as busy. */
const busyAfterMs = 200;

async function start() {
  if (location.pathname === "/console/enrol") {
    place.replaceChildren(makeEnrolment());
    return;
  }
  try {
    setPerson(await readOps("/ops/whoami"));
  } catch (error) {
    if (!(error instanceof SignedOut)) throw error;
    showDoor(readRefusal() ?? "For the people who run the service.");
    return;
  }
  drawFrame();
  await showPage({ isNew: true });
}

/** @param {string} why */
function showDoor(why) {
  leaving.abort();
  document.title = "Sign in · Scripdesk console";
  place.replaceChildren(
    makeBrand("door-brand"),
    makeSignIn(why, () => void start()),
  );
  const first = place.querySelector("input");
  first?.focus();
}

/** @param {string} look */
function makeBrand(look) {
  return make(
    "a",
    { class: `brand ${look}`, href: "/console" },
    make("img", { src: "/web/icon.svg", alt: "", width: 28, height: 28 }),
    make("span", {}, "Scripdesk"),
  );
}

function drawFrame() {
  const environment = readEnvironment();
  const search = make(
    "form",
    { class: "search", role: "search" },
    make("input", {
      type: "search",
      name: "q",
      "aria-label": "Find anything",
      placeholder: "Find an id, IEC, name, UTR or ticket",
      autocomplete: "off",
      "aria-keyshortcuts": "/",
    }),
  );
  search.addEventListener("submit", (event) => {
    event.preventDefault();
    const asked = readText(search, "q");
    if (asked !== "") goTo(linkTo("/find", { q: asked }));
  });
  const menu = make(
    "details",
    { class: "menu" },
    make("summary", {}, "Menu"),
    groups.map(({ name, paths }) =>
      make(
        "div",
        { class: "group" },
        make("h2", {}, name),
        make(
          "ul",
          {},
          paths.flatMap((path) => {
            const page = pages.find((candidate) => candidate.path === path);
            if (!page || !may(page.permission)) return [];
            const link = make(
              "a",
              { href: linkTo(path), "data-path": path },
              page.nav ?? page.title,
            );
            return [make("li", {}, link)];
          }),
        ),
      ),
    ),
  );
  const wide = matchMedia("(min-width: 60rem)");
  menu.open = wide.matches;
  wide.addEventListener("change", ({ matches }) => (menu.open = matches));
  countedAt = -Infinity;
  place.replaceChildren(
    make("a", { class: "skip", href: "#main" }, "Skip to the page"),
    make(
      "header",
      { class: "bar", "data-environment": environment },
      makeBrand("bar-brand"),
      search,
      makeSwitch(environment),
      make(
        "div",
        { class: "who" },
        make(
          "a",
          { href: linkTo("/my-sign-in"), title: "My sign-in" },
          person.name,
          make("span", { class: "muted" }, ` ${person.role}`),
        ),
        make(
          "button",
          { class: "button quiet small", type: "button", onclick: () => void leave() },
          "Sign out",
        ),
        make(
          "button",
          {
            class: "button quiet small",
            type: "button",
            "data-help": true,
            "aria-label": "Keyboard shortcuts",
          },
          "?",
        ),
      ),
    ),
    make(
      "div",
      { class: "frame" },
      make("nav", { class: "side", "aria-label": "Pages of the console" }, menu),
      make(
        "main",
        { id: "main", tabindex: "-1" },
        make("div", { id: "said", role: "status" }),
        make("div", { id: "page" }),
      ),
    ),
  );
}

/** @param {"live" | "sandbox"} environment */
function makeSwitch(environment) {
  const choice = (/** @type {"live" | "sandbox"} */ value, /** @type {string} */ words) =>
    make(
      "label",
      {},
      make("input", { type: "radio", name: "env", value, checked: environment === value }),
      make("span", {}, words),
    );
  const choices = make(
    "fieldset",
    { class: "segments environment" },
    make("legend", { class: "hidden" }, "Environment"),
    choice("live", "Live"),
    choice("sandbox", "Sandbox"),
  );
  choices.addEventListener("change", (event) => {
    const { value } = /** @type {HTMLInputElement} */ (event.target);
    const here = location.pathname;
    goTo(value === "sandbox" ? `${here}?env=sandbox` : here);
  });
  return choices;
}

async function leave() {
  await callOps("/ops/sign-out", { body: {} }).catch(() => {}); // The session may have ended already.
  await callOps("/console/sign-out", { body: {} });
  if (person.isOfDirectory) {
    location.assign("/console/directory/sign-out");
    return;
  }
  history.replaceState(null, "", "/console");
  showDoor("You are signed out.");
}

/** @returns {{page: Page, id: string} | undefined} */
function findPage() {
  const path = location.pathname.replace(/^\/console/, "").replace(/\/$/, "");
  const home = person.role === "dealer" ? "board" : "today";
  const [, first = home, id = ""] = path.split("/");
  const wanted = id === "" ? `/${first}` : `/${first}/:id`;
  const page = pages.find((candidate) => candidate.path === wanted);
  return page && { page, id: decodeURIComponent(id) };
}

/** @param {{isNew: boolean}} how whether another page is shown, so that its heading is read out */
async function showPage({ isNew }) {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const target = find(document, "#page");
  const found = findPage();
  if (!found) {
    target.replaceChildren(make("h1", { tabindex: "-1" }, "There is no such page"));
    return;
  }
  const { page, id } = found;
  const search = document.querySelector(".search input");
  if (search instanceof HTMLInputElement && page.path !== "/find") search.value = "";
  markCurrent(page);
  const busy = setTimeout(() => target.setAttribute("aria-busy", "true"), busyAfterMs);
  try {
    if (!may(page.permission)) throw new Error(`The role ${person.role} may not see this.`);
    const { reach = "chosen" } = page;
    const isAway = readEnvironment() === "sandbox" && reach !== "chosen";
    const content =
      isAway && reach === "live"
        ? make("h1", { tabindex: "-1" }, page.title)
        : await page.show({
            params: new URLSearchParams(location.search),
            id,
            environment: readEnvironment(),
            reach,
            signal,
            refresh: () => void showPage({ isNew: false }),
          });
    const pending =
      readEnvironment() === "live" && !page.path.startsWith("/approvals")
        ? await showPending({ id, proposals: page.proposals }, signal)
        : null;
    if (signal.aborted) return;
    const first = isAway ? sayReach(reach) : pending;
    target.replaceChildren(...(first ? [first] : []), content);
    if (page.refreshes) refreshLater(signal);
    void countSometimes();
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof Elsewhere) {
      drawFrame();
      await showPage({ isNew });
      return;
    }
    if (error instanceof SignedOut) {
      showDoor("Your session has ended. Sign in to go on where you were.");
      return;
    }
    const text = error instanceof Error ? error.message : "It cannot be shown.";
    target.replaceChildren(
      make("h1", { tabindex: "-1" }, page.title),
      make("p", { class: "notice", role: "alert" }, text),
    );
  } finally {
    clearTimeout(busy);
    target.removeAttribute("aria-busy");
  }
  const heading = target.querySelector("h1");
  document.title = `${heading?.textContent ?? page.title} · Scripdesk console`;
  if (isNew) {
    scrollTo(0, 0);
    heading?.focus({ preventScroll: true });
  }
}

const refreshMs = 30_000;
let countedAt = -Infinity;

/**
 * Shows the page anew after a while, but not under somebody's hands.
 *
 * @param {AbortSignal} signal
 */
function refreshLater(signal) {
  const timer = setTimeout(() => {
    const isBusy =
      document.hidden ||
      document.querySelector("dialog[open]") !== null ||
      document.activeElement?.closest("#page :is(a, button, input, select, textarea)");
    if (isBusy) refreshLater(signal);
    else void showPage({ isNew: false });
  }, refreshMs);
  signal.addEventListener("abort", () => clearTimeout(timer));
}

/** The counts of the menu, at most every half minute; without them the menu is as it was. */
async function countSometimes() {
  if (performance.now() - countedAt < refreshMs) return;
  countedAt = performance.now();
  await countWaiting(readEnvironment()).catch(() => {});
}

/**
 * Why a page has no acts while the sandbox is chosen.
 *
 * @param {import("./state.js").Reach} reach
 */
function sayReach(reach) {
  const here = location.pathname.replace(/^\/console/, "");
  return make(
    "p",
    { class: "notice" },
    reach === "live"
      ? "This is of live only: the sandbox has no bank, and asks no second person. "
      : "Live and the sandbox share this, so it is changed under Live. ",
    make("a", { href: linkTo(here, { env: null }) }, "Switch to Live"),
  );
}

/** @param {Page} page */
function markCurrent({ path, menu }) {
  const own = menu ?? path.replace("/:id", "");
  for (const link of document.querySelectorAll(".side a")) {
    const isCurrent = link.getAttribute("data-path") === own;
    if (isCurrent) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    // Links keep the environment that is shown.
    link.setAttribute("href", linkTo(link.getAttribute("data-path") ?? ""));
  }
}

addEventListener("popstate", () => {
  if (!document.querySelector("#page")) return;
  document.querySelector("#said")?.replaceChildren();
  const shown = document.querySelector(".bar")?.getAttribute("data-environment");
  if (shown !== readEnvironment()) drawFrame();
  const menu = document.querySelector(".menu");
  if (menu instanceof HTMLDetailsElement) menu.open = matchMedia("(min-width: 60rem)").matches;
  void showPage({ isNew: true });
});

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[href^='/console']") : null;
  if (
    !(link instanceof HTMLAnchorElement) ||
    event.defaultPrevented ||
    !document.querySelector("#page")
  )
    return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  goTo(link.getAttribute("href") ?? "/console");
});

followKeys(() => void showPage({ isNew: false }));
await start();
