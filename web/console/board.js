import { drawChart } from "../chart.js";
import { formatPercent } from "../money.js";
import { longDay, schemeName } from "../words.js";
import { makeAct } from "./acts.js";
import { showPublish } from "./card-form.js";
import { make, makeFacts } from "./dom.js";
import { makeHead } from "./list.js";
import { followOps, readOps } from "./ops.js";
import { showMoney, showPercent, showTime } from "./show.js";
import { linkTo, may } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const boardPages = [
  { path: "/board", title: "Board", proposals: ["rate_card."], key: "m", show: showBoard },
  { path: "/publish/:id", title: "Publish a card", menu: "/board", show: showPublish },
];

/** @param {View} view */
async function showBoard(view) {
  const { environment, signal } = view;
  const live = make("span", { class: "live muted", role: "status" }, "connecting");
  const cards = make("div", { class: "board" });
  const page = make(
    "div",
    { class: "page" },
    makeHead("Board", [
      live,
      makeAct(view, {
        label: "Halt all…",
        permission: "market.halt",
        danger: true,
        says: "No more binding prices are made in any scheme. Prices that are out are honoured.",
        fields: [{ name: "note", label: "Reason", optional: true }],
        call: (values) => ({
          path: "/ops/market/halt",
          body: { environment, all: true, ...values },
        }),
        said: () => "All markets are halted.",
      }),
    ]),
    cards,
  );
  const { markets } = await readOps("/ops/board", { environment }, signal);
  const boards = markets.map((/** @type {Row} */ market) => makeMarket(view, market));
  cards.append(...boards.map((/** @type {{element: Node}} */ { element }) => element));
  void followOps("/ops/board/stream", {
    query: { environment },
    signal,
    onEvent: (board) => {
      for (const [at, market] of board.markets.entries()) boards[at]?.show(market);
    },
    onState: (isLive) => {
      live.textContent = isLive ? "live" : "reconnecting";
      live.dataset["live"] = String(isLive);
    },
  });
  for (const one of boards) void one.draw();
  return page;
}

/**
 * A market's card, which is shown anew in place: what has focus keeps it.
 *
 * @param {View} view
 * @param {Row} first
 */
function makeMarket(view, first) {
  const { environment } = view;
  const { scheme } = first;
  const name = schemeName(scheme);
  const tag = make("span", { class: "tag" });
  const figures = make("div", {});
  const acts = make("div", { class: "acts" });
  const chart = make("div", { class: "chart", role: "img" });
  const reading = make("p", { class: "reading muted", "aria-hidden": "true" });
  const element = make(
    "article",
    { class: "card panel", "data-scheme": scheme, "aria-label": name },
    make("div", { class: "card-head" }, make("h2", {}, name), tag),
    figures,
    chart,
    reading,
    acts,
  );
  let state = "";

  /** @param {Row} market */
  function show(market) {
    const words = market["status"] === "unavailable" ? "no market" : `market ${market["status"]}`;
    if (tag.textContent !== words) tag.textContent = words;
    tag.dataset["state"] = market["status"];
    figures.replaceChildren(...showFigures(market));
    if (state !== market["status"]) acts.replaceChildren(...makeMarketActs(market));
    state = market["status"];
  }

  /** @param {Row} market */
  function makeMarketActs({ status }) {
    const target = { environment, scheme };
    const note = { name: "note", label: "Reason", optional: true };
    const found = [
      may("rates.publish")
        ? make(
            "a",
            { class: "button small", href: linkTo(`/publish/${scheme}`) },
            status === "unavailable" ? "Publish the first card" : "Publish a card",
          )
        : null,
      status === "open"
        ? makeAct(view, {
            label: `Halt ${name}…`,
            permission: "market.halt",
            danger: true,
            says: "No more binding prices are made. Prices that are out are honoured.",
            fields: [note],
            call: (values) => ({ path: "/ops/market/halt", body: { ...target, ...values } }),
            said: () => `${name} is halted.`,
          })
        : null,
      status === "halted"
        ? makeAct(view, {
            label: `Open ${name}…`,
            permission: "market.open",
            says: "Binding prices are made again by the card in force.",
            fields: [note],
            call: (values) => ({ path: "/ops/market/open", body: { ...target, ...values } }),
            said: () => `${name} is open.`,
          })
        : null,
    ];
    return found.flatMap((one) => (one ? [one] : []));
  }

  /** @param {string} why there is no chart */
  function leaveOutChart(why) {
    chart.classList.add("empty");
    chart.removeAttribute("role");
    chart.textContent = why;
  }

  /** Called without waiting: it fails when the page is left meanwhile, and says so in its place. */
  async function draw() {
    try {
      const query = { environment, scheme, history: true };
      const { cards } = await readOps("/ops/rates", query, view.signal);
      drawMids(listMids(cards));
    } catch (error) {
      leaveOutChart(error instanceof Error ? error.message : "");
    }
  }

  /** @param {ReturnType<typeof listMids>} points */
  function drawMids(points) {
    if (points.length === 0) {
      leaveOutChart("No price yet.");
      return;
    }
    const last = points.at(-1);
    chart.setAttribute(
      "aria-label",
      `Mid of ${name} by day, on ${last ? longDay(last.time) : ""} ${formatPercent(last?.bps ?? 0)} percent`,
    );
    drawChart(chart, reading).show(points);
  }

  show(first);
  return { element, show, draw };
}

/**
 * The last mid of each day on which a card was published, oldest first.
 *
 * @param {readonly Row[]} cards the newest first
 */
function listMids(cards) {
  /** @type {Map<string, number>} */
  const mids = new Map();
  for (const card of cards.toReversed())
    mids.set(card["published_at"].slice(0, 10), card["mid_bps"]);
  const today = new Date(Date.now() + 5.5 * 3_600_000).toISOString().slice(0, 10);
  const points = [...mids].map(([time, bps]) => ({ time, bps, carried: false }));
  const last = points.at(-1);
  return last && last.time < today
    ? [...points, { time: today, bps: last.bps, carried: true }]
    : points;
}

/** @param {Row} market */
function showFigures(market) {
  const { card, bid_bps, ask_bps, index_bps, inventory, day_limit, last_deal } = market;
  const used = day_limit.taken_paise + day_limit.quoted_paise;
  const share =
    day_limit.limit_paise > 0 ? Math.min(100, Math.floor((used * 100) / day_limit.limit_paise)) : 0;
  return [
    make(
      "p",
      { class: "figure" },
      make(
        "span",
        { class: card ? "value" : "value none" },
        card ? formatPercent(card.mid_bps) : "No card yet",
      ),
      card ? make("span", { class: "unit" }, " % of face, mid") : null,
    ),
    make(
      "dl",
      { class: "quotes" },
      makeQuote("Bid", showPercent(bid_bps)),
      makeQuote("Ask", showPercent(ask_bps)),
      makeQuote(
        "Spread",
        bid_bps === null || ask_bps === null ? "–" : showPercent(ask_bps - bid_bps),
      ),
      makeQuote("Index", showPercent(index_bps)),
    ),
    make(
      "div",
      { class: "limit" },
      make(
        "div",
        { class: "label-row" },
        make("span", {}, "Daily limit used"),
        make("span", {}, `${share} %`),
      ),
      make("meter", {
        min: 0,
        max: 100,
        low: 70,
        high: 90,
        optimum: 0,
        value: share,
        "aria-label": "Day's limit used, in percent",
      }),
      make(
        "p",
        { class: "muted small-text" },
        `${showMoney(day_limit.taken_paise)} bought and ${showMoney(day_limit.quoted_paise)} quoted of ${showMoney(day_limit.limit_paise)}`,
      ),
    ),
    makeFacts([
      ["Stock", `${sayCredits(inventory.count)}, ${showMoney(inventory.face_paise)}`],
      ["24 hours", `${sayCredits(market["deals_24h"])}, ${showMoney(market["volume_24h_paise"])}`],
      [
        "Last deal",
        last_deal
          ? [
              `${showPercent(last_deal.price_bps)}, ${showMoney(last_deal.face_paise)}, `,
              showTime(last_deal.at),
            ]
          : "–",
      ],
      [
        "Card",
        card
          ? [`version ${card.version} by ${card.published_by}, `, showTime(card.published_at)]
          : "–",
      ],
    ]),
  ];
}

/**
 * @param {string} name
 * @param {string} value
 */
function makeQuote(name, value) {
  return make("div", {}, make("dt", {}, name), make("dd", {}, value));
}

/** @param {number} count */
function sayCredits(count) {
  return count === 1 ? "1 credit" : `${count.toLocaleString("en-IN")} credits`;
}
