// Today's figure of each scheme, its history as a chart and the last days as a table.

import { ask } from "./ask.js";
import { formatPercent } from "./money.js";
import { find, findElement, longDay, schemeName, shortDay } from "./words.js";

/** @typedef {{date: string, index_bps: number | null, basis: string, deals_on: string | null}} Figure */
/** @typedef {Figure & {scheme: string, change_bps: number | null, previous_date: string | null, market_state: string | null, mid_bps: number | null}} Rate */
/** @typedef {{scheme: string, days: {date: string, index_bps: number}[]}} Simulated */
/** @typedef {(days: number) => void} ShowSpan */

const rowsInTable = 10;

/**
 * The live figures; the sandbox's, labelled, while there is no live market.
 *
 * @returns {Promise<string>} the environment whose figures are shown
 */
export async function showRates() {
  const cards = find(document, "#cards");
  const problem = find(document, "#rates-problem");
  let environment = "live";
  try {
    /** @type {{rates: Rate[]}} */
    const { rates } = await ask("/public/rates");
    const isNew = rates.every(
      ({ index_bps, market_state }) => index_bps === null && market_state === null,
    );
    const preview = isNew ? await ask("/public/preview").catch(() => undefined) : undefined;
    if (preview?.schemes.length > 0) {
      environment = preview.environment;
      const note = find(document, "#preview");
      note.hidden = false;
      find(note, "span").textContent = preview.note;
      followSpan(
        await inTurn(preview.schemes, (/** @type {Simulated} */ one) => addSimulated(cards, one)),
      );
    } else {
      const histories = await Promise.all(
        rates.map(({ scheme }) => ask(`/public/rates/${scheme}/history`)),
      );
      followSpan(await inTurn(rates, (rate, at) => addCard(cards, rate, histories[at].days)));
    }
  } catch (error) {
    problem.textContent = `The rates cannot be shown. ${error instanceof Error ? error.message : ""}`;
    problem.hidden = false;
  }
  cards.setAttribute("aria-busy", "false");
  return environment;
}

/**
 * Makes one thing of each, each in a task of its own, so that the page answers a finger in between.
 *
 * @template Given, Made
 * @param {readonly Given[]} all
 * @param {(one: Given, at: number) => Made} make
 */
async function inTurn(all, make) {
  const made = [];
  for (const [at, one] of all.entries()) {
    if (at > 0) await nextTask();
    made.push(make(one, at));
  }
  return made;
}

function nextTask() {
  return new Promise((resolve) => setTimeout(resolve));
}

/**
 * A card of simulated figures.
 *
 * @param {HTMLElement} cards
 * @param {Simulated} simulated
 */
function addSimulated(cards, { scheme, days }) {
  const history = days.map(({ date, index_bps }) => ({
    date,
    index_bps,
    basis: "simulated",
    deals_on: null,
  }));
  const [today, before] = [history.at(-1), history.at(-2)];
  const rate = {
    scheme,
    date: today?.date ?? "",
    index_bps: today?.index_bps ?? null,
    basis: "simulated",
    deals_on: null,
    change_bps: today && before ? today.index_bps - before.index_bps : null,
    previous_date: before?.date ?? null,
    market_state: "preview",
    mid_bps: null,
  };
  return addCard(cards, rate, history.slice(0, -1));
}

/**
 * @param {HTMLElement} cards
 * @param {Rate} rate
 * @param {Figure[]} history
 * @returns {ShowSpan}
 */
function addCard(cards, rate, history) {
  const template = findElement(HTMLTemplateElement, document, "#card");
  const card = find(/** @type {DocumentFragment} */ (template.content.cloneNode(true)), ".card");
  card.dataset["scheme"] = rate.scheme;
  const name = schemeName(rate.scheme);
  find(card, ".scheme").textContent = name;
  tell(card, rate);
  cards.append(card);

  const figures = [...history, rate].filter((figure) => figure.index_bps !== null);
  if (figures.length === 0) return empty(card, rate);
  fillTable(card, figures);
  const place = find(card, ".chart");
  const chart = drawWhenSeen(place, find(card, ".reading"));
  return (days) => {
    const from = new Date(Date.parse(rate.date) - days * 86_400_000).toISOString().slice(0, 10);
    const shown = figures.filter(({ date }) => date >= from);
    place.setAttribute("aria-label", summary(name, shown));
    chart.show(
      shown.map(({ date, index_bps, basis }) => ({
        time: date,
        bps: index_bps ?? 0,
        carried: basis === "carried",
      })),
    );
  };
}

/**
 * A chart whose library is loaded when it comes into sight; loading, making and filling it are tasks of
 * their own, as each takes a phone long enough to be felt.
 *
 * @param {HTMLElement} place
 * @param {HTMLElement} reading
 */
function drawWhenSeen(place, reading) {
  /** @type {ReturnType<typeof import("./chart.js").drawChart> | undefined} */
  let chart;
  /** @type {readonly import("./chart.js").Point[]} */
  let points = [];
  const draw = async () => {
    const { drawChart } = await import("./chart.js");
    await nextTask();
    const made = drawChart(place, reading);
    await nextTask();
    made.show(points);
    chart = made;
  };
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      void draw();
    },
    { rootMargin: "25%" },
  );
  observer.observe(place);
  return {
    /** @param {readonly import("./chart.js").Point[]} shown */
    show(shown) {
      points = shown;
      chart?.show(points);
    },
  };
}

/**
 * @param {HTMLElement} card
 * @param {Rate} rate
 */
function tell(card, { index_bps, basis, deals_on, change_bps, previous_date, market_state }) {
  const tag = find(card, ".tag");
  tag.textContent =
    { open: "market open", halted: "market halted", preview: "sandbox preview" }[
      market_state ?? ""
    ] ?? "no market";
  tag.dataset["state"] = market_state ?? "none";
  if (index_bps !== null) find(card, ".value").textContent = formatPercent(index_bps);
  const change = find(card, ".change");
  if (change_bps !== null && previous_date !== null) {
    const direction = { 1: "up", "-1": "down" }[String(Math.sign(change_bps))] ?? "same";
    change.dataset["direction"] = direction;
    const moved =
      direction === "same" ? "unchanged" : `${direction} ${formatPercent(Math.abs(change_bps))}`;
    change.textContent = `${moved} since ${shortDay(previous_date)}`;
  }
  find(card, ".basis").textContent =
    {
      deals: "From today's deals so far",
      simulated: "Simulated by the sandbox",
      carried: `Carried from ${deals_on ? longDay(deals_on) : "before"}: too few sellers since`,
    }[basis] ?? "No index yet";
}

/**
 * @param {HTMLElement} card
 * @param {Rate} rate
 * @returns {ShowSpan}
 */
function empty(card, { mid_bps }) {
  const value = find(card, ".value");
  if (mid_bps === null) {
    value.classList.add("none");
    value.textContent = "No index yet";
    find(card, ".unit").remove();
    find(card, ".basis").remove();
  } else {
    value.textContent = formatPercent(mid_bps);
    find(card, ".basis").textContent = "The middle of the desk's own prices; there is no index yet";
  }
  find(card, ".change").remove();
  const place = find(card, ".chart");
  place.classList.add("empty");
  place.removeAttribute("role");
  place.textContent = "The first day on which three firms have sold makes the first figure.";
  find(card, ".reading").remove();
  find(card, "details").remove();
  return () => {};
}

/**
 * @param {HTMLElement} card
 * @param {readonly Figure[]} figures
 */
function fillTable(card, figures) {
  const rows = figures
    .slice(-rowsInTable)
    .toReversed()
    .map(({ date, index_bps, basis, deals_on }) => {
      const row = document.createElement("tr");
      const carried = `deals of ${deals_on ? shortDay(deals_on) : "before"}`;
      const source = { deals: "its own deals", simulated: "simulated figures" }[basis] ?? carried;
      for (const text of [longDay(date), `${formatPercent(index_bps ?? 0)} %`, source]) {
        row.insertCell().textContent = text;
      }
      return row;
    });
  find(card, "tbody").append(...rows);
}

/**
 * What the chart shows, for who does not see it.
 *
 * @param {string} name
 * @param {readonly Figure[]} figures
 */
function summary(name, figures) {
  const values = figures.map(({ index_bps }) => index_bps ?? 0);
  const [first, last] = [figures[0], figures.at(-1)];
  if (!first || !last) return `${name}: no figures in this span`;
  const low = formatPercent(Math.min(...values));
  const high = formatPercent(Math.max(...values));
  return `${name} index from ${longDay(first.date)} to ${longDay(last.date)}: between ${low} and ${high} percent of face, at last ${formatPercent(last.index_bps ?? 0)}`;
}

/** @param {readonly ShowSpan[]} spans */
function followSpan(spans) {
  const choice = find(document, "#span");
  const show = () => {
    const chosen = findElement(HTMLInputElement, choice, "input:checked");
    for (const span of spans) span(Number(chosen.value));
  };
  choice.addEventListener("change", show);
  show();
}

/** The steps come from the service, so that they are those the figures are made by. */
export function showMethod() {
  const details = find(document, ".method");
  const list = find(document, "#method");
  details.addEventListener("toggle", () => void fill(), { once: true });

  async function fill() {
    try {
      const { steps } = await ask("/public/rates/methodology");
      list.append(
        ...steps.map((/** @type {string} */ text) => {
          const step = document.createElement("li");
          step.textContent = text;
          return step;
        }),
      );
    } catch (error) {
      list.textContent = error instanceof Error ? error.message : "";
    }
  }
}
