// Publishing a rate card: its terms, what they would change, and then the act. What is not touched stays
// as it is in the card in force.

import { onSubmit } from "../form.js";
import { formatPercent, formatRupees, parsePaise, saySize } from "../money.js";
import { schemeName } from "../words.js";
import { makeSteps } from "./bars.js";
import { makeAct, tellProblem } from "./acts.js";
import { make, makeSection } from "./dom.js";
import { followAmounts, makeField, readBps, readFields } from "./fields.js";
import { makeHead } from "./list.js";
import { callOps, readOps, SignedOut } from "./ops.js";
import { showMoney, showPercent, showTime } from "./show.js";
import { goTo, linkTo } from "./state.js";
import { showBands, showRows } from "./terms.js";
import { Refusal } from "../ask.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */
/** @typedef {import("./fields.js").Field} Field */

/** @type {readonly {name: string, label: string, type: "percent" | "money" | "count", hint?: string}[]} */
const terms = [
  { name: "mid_bps", label: "Mid", type: "percent", hint: "Percent of face" },
  {
    name: "half_spread_bps",
    label: "Half spread",
    type: "percent",
    hint: "From the mid to either side",
  },
  { name: "floor_bps", label: "Floor", type: "percent", hint: "Minimum bid" },
  { name: "ceiling_bps", label: "Ceiling", type: "percent", hint: "Maximum bid" },
  {
    name: "ask_ceiling_bps",
    label: "Ask ceiling",
    type: "percent",
    hint: "Maximum ask",
  },
  { name: "margin_bps", label: "Margin", type: "percent", hint: "Minimum between two clients" },
  { name: "fee_bps", label: "Fee", type: "percent", hint: "Within the all-in amount" },
  {
    name: "default_bps",
    label: "Default",
    type: "percent",
    hint: "Of face, paid by a side that is late",
  },
  {
    name: "house_limit_paise",
    label: "Daily limit",
    type: "money",
    hint: "Face the house buys",
  },
  {
    name: "desk_share_bps",
    label: "Desk share of the limit",
    type: "percent",
    hint: "By open quotes",
  },
  { name: "face_max_paise", label: "Maximum quote size", type: "money", hint: "Face" },
  {
    name: "rest_min_paise",
    label: "Minimum resting order",
    type: "money",
    hint: "Face of an order",
  },
  { name: "quote_window_s", label: "Quote validity", type: "count", hint: "Seconds" },
];

/** @param {View} view */
export async function showPublish(view) {
  const { environment, id: scheme } = view;
  const { cards } = await readOps("/ops/rates", { environment, scheme }, view.signal);
  /** @type {Row | undefined} */
  const card = cards[0];
  const starting = card ?? (await readStarting(environment, scheme));
  const fields = terms.map((term) => ({
    ...term,
    optional: true,
    plain: true,
    value: writeTerm(term, starting),
  }));
  /** @type {Field} */
  const note = { name: "note", label: "Reason", type: "long", optional: true };
  const sizes = card
    ? makeBands("Size bands", "Faces below", card["size_bands"], sizeBand)
    : undefined;
  const ages = card
    ? makeBands("Validity bands", "Days left, at least", card["validity_bands"], ageBand)
    : undefined;
  const problem = make("p", { class: "notice", role: "alert", hidden: true });
  const result = make("div", {
    role: "region",
    "aria-live": "polite",
    "aria-label": "What it would change",
  });
  const form = make(
    "form",
    { class: "panel card-form", novalidate: true },
    make("div", { class: "terms-grid" }, fields.map(makeField)),
    sizes?.element,
    ages?.element,
    makeField(note),
    problem,
    make("button", { class: "button", type: "submit" }, "Preview"),
  );
  followAmounts(form, fields);
  form.addEventListener("input", () => result.replaceChildren());
  onSubmit(form, async () => {
    problem.hidden = true;
    try {
      const { note: why, ...given } = await readFields(form, [...fields, note]);
      const changed = { ...given, ...sizes?.read(), ...ages?.read() };
      const body = {
        environment,
        scheme,
        terms: keepChanged(changed, card),
        ...(why && { note: why }),
      };
      const preview = await callOps("/ops/rates/preview", { body });
      result.replaceChildren(showPreview(view, preview, body));
      result.querySelector("button")?.focus();
    } catch (error) {
      if (error instanceof SignedOut) view.refresh();
      else tellProblem(form, problem, error);
    }
  });
  const lead = card
    ? [
        `Card ${card["version"]} is in force since `,
        showTime(card["published_at"]),
        `, by ${card["published_by"]}. What you leave as it is stays.`,
      ]
    : [
        "The first card of this scheme. The fields hold the values that a scheme starts with: look at each, the limits above all.",
      ];
  return make(
    "div",
    { class: "page" },
    makeHead(`Publish a card for ${schemeName(scheme)}`, [
      make("a", { href: linkTo("/board") }, "Back to the board"),
    ]),
    make("p", { class: "muted lead" }, lead),
    form,
    result,
  );
}

/**
 * The numbers of a card that leaves everything out.
 *
 * @param {string} environment
 * @param {string} scheme
 * @returns {Promise<Row>}
 */
async function readStarting(environment, scheme) {
  const body = { environment, scheme, terms: {} };
  const { terms: all } = await callOps("/ops/rates/preview", { body });
  return Object.fromEntries(all.map((/** @type {Row} */ one) => [one["term"], one["after"]]));
}

/**
 * @param {{name: string, type: string}} term
 * @param {Row | undefined} card
 */
function writeTerm({ name, type }, card) {
  const value = card?.[name];
  if (value === undefined) return "";
  if (type === "percent") return formatPercent(value).replace("−", "-");
  return type === "money" ? formatRupees(value) : String(value);
}

/**
 * @param {Readonly<Record<string, unknown>>} given
 * @param {Row | undefined} card
 */
function keepChanged(given, card) {
  return Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => value !== undefined && canonical(value) !== canonical(card?.[name]),
    ),
  );
}

/**
 * The JSON of a value with the names of its bands in order.
 *
 * @param {unknown} value
 */
function canonical(value) {
  return JSON.stringify(value, (_, part) =>
    part && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(
          Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)),
        )
      : part,
  );
}

/** @typedef {{key: string, bound: string, write: (band: Row) => string, read: (text: string) => number | null | undefined}} BandKind */

/** @type {BandKind} */
const sizeBand = {
  key: "size_bands",
  bound: "below_paise",
  write: (band) => (band["below_paise"] === null ? "" : formatRupees(band["below_paise"])),
  read: (text) => (text === "" ? null : parsePaise(text)),
};
/** @type {BandKind} */
const ageBand = {
  key: "validity_bands",
  bound: "from_days",
  write: (band) => String(band["from_days"]),
  read: (text) => (/^\d{1,5}$/.test(text) ? Number(text) : undefined),
};

/**
 * @param {string} title
 * @param {string} head
 * @param {readonly Row[]} bands
 * @param {BandKind} kind
 */
function makeBands(title, head, bands, kind) {
  const body = make("tbody", {});
  const add = (/** @type {string} */ bound, /** @type {string} */ price) => {
    const row = make("tr", {});
    const remove = make(
      "button",
      { class: "button quiet small", type: "button", "aria-label": "Remove this band" },
      "Remove",
    );
    remove.addEventListener("click", () => {
      row.remove();
      body.dispatchEvent(new Event("input", { bubbles: true }));
    });
    row.append(
      make(
        "td",
        { "data-head": head },
        make("input", {
          "aria-label": head,
          inputmode: "decimal",
          value: bound,
          placeholder: "no bound",
        }),
      ),
      make(
        "td",
        { "data-head": "Percent" },
        make("input", { "aria-label": "Percent", inputmode: "decimal", value: price }),
      ),
      make("td", {}, remove),
    );
    body.append(row);
    return row;
  };
  for (const band of bands) add(kind.write(band), formatPercent(band["bps"]).replace("−", "-"));
  const more = make("button", { class: "button quiet small", type: "button" }, "Add a band");
  more.addEventListener("click", () => add("", "").querySelector("input")?.focus());
  const element = make(
    "details",
    { class: "bands" },
    make("summary", {}, title),
    make(
      "table",
      { class: "table" },
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("th", { scope: "col" }, head),
          make("th", { scope: "col" }, "Percent"),
          make("th", {}, make("span", { class: "hidden" }, "Remove")),
        ),
      ),
      body,
    ),
    more,
  );

  function read() {
    const rows = [...body.rows].map((row) => {
      const [bound, price] = [...row.querySelectorAll("input")].map((input) => input.value.trim());
      const at = kind.read(bound ?? "");
      const bps = readBps(price ?? "");
      if (at === undefined || bps === undefined)
        throw new Refusal(`${title} need a bound and percent in every row.`);
      return { [kind.bound]: at, bps };
    });
    return { [kind.key]: rows };
  }
  return { element, read };
}

/**
 * @param {View} view
 * @param {Row} preview
 * @param {object} body
 */
function showPreview(view, preview, body) {
  const { people, bands, open_quotes } = preview;
  const changed = preview["terms"].filter(
    (/** @type {Row} */ one) => one["before"] !== one["after"],
  );
  const publish = makeAct(view, {
    label: people === 2 ? "Propose the card…" : "Publish the card…",
    permission: "rates.publish",
    main: true,
    says:
      people === 2
        ? `${sayMoves(preview)} It takes two people: nothing changes until somebody else has approved it.`
        : `${sayMoves(preview)} It is in force at once.`,
    call: () => ({ path: "/ops/rates", body }),
    said: () => "The card is in force.",
    after: () => goTo(linkTo("/board")),
  });
  return makeSection(
    "What it would change",
    make(
      "p",
      { class: people === 2 ? "notice" : "" },
      `${sayMoves(preview)} It takes ${people === 2 ? "two people" : "one person"}. `,
      open_quotes.count > 0
        ? [
            `${open_quotes.count} binding prices for ${showMoney(open_quotes.face_paise)} are out and are honoured until `,
            showTime(open_quotes.last_valid_until),
            ".",
          ]
        : "No binding price is out.",
    ),
    make("div", { class: "acts" }, publish),
    changed.length > 0 ? showRows({ title: "Terms before and after", rows: changed }) : null,
    makeCurves(bands),
    showBands(bands),
  );
}

/**
 * The ask and the best bid of each size, before and after.
 *
 * @param {readonly Row[]} bands
 */
function makeCurves(bands) {
  const sizes = [...Map.groupBy(bands, (band) => band["from_paise"]).values()].map(([one]) => one);
  const line = (/** @type {string} */ name, /** @type {string} */ field) => ({
    name,
    prices: sizes.map((band) => band?.[field] ?? null),
  });
  return makeSteps(
    "Prices in percent, from each face on",
    sizes.map((band) => saySize(band?.["from_paise"] ?? 0) || "0"),
    [
      line("Ask", "ask_after_bps"),
      line("Bid", "bid_after_bps"),
      line("Ask before", "ask_before_bps"),
      line("Bid before", "bid_before_bps"),
    ],
  );
}

/** @param {Row} preview */
function sayMoves({ move_bps, limit_move_bps }) {
  if (move_bps === null) return "The first card: no price was in force before it.";
  const raise = limit_move_bps > 0 ? ` A limit is raised by ${showPercent(limit_move_bps)}.` : "";
  return `The largest move of a price is ${showPercent(move_bps)}.${raise}`;
}
