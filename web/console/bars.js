// Figures to look at: bars for amounts, and steps for prices by size. Each says in words what it shows.

import { make } from "./dom.js";
import { showMoney } from "./show.js";

const svgSpace = "http://www.w3.org/2000/svg";

/**
 * @param {string} tag
 * @param {Readonly<Record<string, string | number>>} attributes
 * @param {...(Node | string)} children
 */
function draw(tag, attributes, ...children) {
  const element = document.createElementNS(svgSpace, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** Nothing is seen as a line. */
const percentLeast = 0.4;

/**
 * A bar for each label, to the right of nought or to its left.
 *
 * @param {string} title
 * @param {readonly {label: string, value: number, words: string}[]} bars
 */
export function makeBars(title, bars) {
  const most = Math.max(1, ...bars.map(({ value }) => Math.abs(value)));
  const hasBelow = bars.some(({ value }) => value < 0);
  const nought = hasBelow ? 50 : 0;
  const rows = bars.map(({ label, value, words }) => {
    const size = Math.max((Math.abs(value) / most) * (100 - nought), percentLeast);
    const bar = draw("rect", {
      x: `${value < 0 ? nought - size : nought}%`,
      width: `${size}%`,
      height: "100%",
      rx: 2,
      class: value < 0 ? "bar-mark below" : "bar-mark",
    });
    return make(
      "div",
      { class: "bar-row" },
      make("span", {}, label),
      draw("svg", { "aria-hidden": "true" }, bar),
      make("span", {}, words),
    );
  });
  const said = bars.map(({ label, words }) => `${label} ${words}`).join(", ");
  return make(
    "figure",
    { class: "bars" },
    make("figcaption", {}, title),
    make("div", { role: "img", "aria-label": `${title}: ${said}` }, rows),
  );
}

/**
 * A bar for each band of days.
 *
 * @param {string} title
 * @param {readonly import("./ops.js").Row[]} bands
 * @param {"count" | "face_paise"} by what their lengths show
 */
export function makeDayBars(title, bands, by) {
  return makeBars(
    title,
    bands.map((band) => ({
      label: sayDays(band),
      value: Number(band[by]),
      words: `${band["count"].toLocaleString("en-IN")}, face ${showMoney(band["face_paise"])}`,
    })),
  );
}

/** @param {import("./ops.js").Row} band */
function sayDays({ from_days: from, before_days: before }) {
  if (before === null) return `${from} days or more`;
  if (from === 0) return before === 1 ? "Within a day" : `Below ${before} days`;
  return `${from} to ${before - 1} days`;
}

const stepsHeight = 160;
const nameWidth = 142;

function isNarrow() {
  return matchMedia("(max-width: 40rem)").matches;
}

/**
 * Prices by size as steps, one line for each name; a size without a price leaves a gap.
 *
 * @param {string} title
 * @param {readonly string[]} sizes
 * @param {readonly {name: string, prices: readonly (number | null)[]}[]} lines
 */
export function makeSteps(title, sizes, lines) {
  const known = lines.flatMap(({ prices }) => prices.flatMap((price) => price ?? []));
  if (known.length === 0) return null;
  const low = Math.min(...known);
  const high = Math.max(...known);
  const place = (/** @type {number} */ price) =>
    20 + ((high - price) / Math.max(high - low, 1)) * (stepsHeight - 60);
  const stepWidth = isNarrow() ? 36 : 85;
  const width = sizes.length * stepWidth + nameWidth;
  const drawn = lines.flatMap(({ name, prices }, line) => {
    const steps = prices.flatMap((price, at) =>
      price === null ? [] : [`M${at * stepWidth},${place(price)}h${stepWidth}`],
    );
    const last = prices.findLast((price) => price !== null) ?? low;
    return [
      draw("path", { d: steps.join(""), class: `step-line line-${line}` }),
      draw(
        "text",
        { x: sizes.length * stepWidth + 6, y: place(last) + 4, class: "bar-label" },
        `${name} ${(last / 100).toFixed(2)}`,
      ),
    ];
  });
  const said = lines
    .map(({ name, prices }) => {
      const told = prices.map((price, at) =>
        price === null ? `${sizes[at]} none` : `${sizes[at]} ${(price / 100).toFixed(2)}`,
      );
      return `${name}: ${told.join(", ")}`;
    })
    .join("; ");
  return make(
    "figure",
    { class: "bars" },
    make("figcaption", {}, title),
    draw(
      "svg",
      { viewBox: `0 0 ${width} ${stepsHeight}`, role: "img", "aria-label": `${title}. ${said}` },
      ...drawn,
      ...sizes.map((size, at) =>
        draw(
          "text",
          {
            x: at * stepWidth + 4,
            // Where steps are narrow, their sizes stand on two lines in turn.
            y: stepsHeight - (isNarrow() && at % 2 === 0 ? 24 : 10),
            class: "bar-label small",
          },
          size,
        ),
      ),
    ),
  );
}
