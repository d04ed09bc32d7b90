import { schemeName, schemeNames } from "../words.js";
import { makeBars, makeDayBars } from "./bars.js";
import { makeAct } from "./acts.js";
import { make, makeFacts, makeSection, makeTable } from "./dom.js";
import { makeHead, showList } from "./list.js";
import { readOps } from "./ops.js";
import { showDay, showId, showMoney, showPercent, showState } from "./show.js";
import { goTo, linkTo } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const housePages = [
  { path: "/house", title: "House", proposals: ["inventory.add"], key: "h", show: showHouse },
];

/** @param {View} view */
async function showHouse(view) {
  const { environment, signal, params } = view;
  const [board, today] = await Promise.all([
    readOps("/ops/board", { environment }, signal),
    readOps("/ops/today", { environment }, signal),
  ]);
  const list = await showList(view, {
    title: "Credits, the newest first",
    path: "/ops/inventory",
    rows: "credits",
    query: { environment },
    columns: [
      { head: "Credit", cell: (row) => row["scrip_no"] },
      { head: "Scheme", cell: (row) => schemeName(row["scheme"]) },
      { head: "Face", kind: "number", cell: (row) => showMoney(row["face_paise"]) },
      { head: "Expires", cell: (row) => showDay(row["expires_on"]) },
      { head: "For", cell: (row) => showId(row["reserved_for"]) },
      { head: "State", cell: (row) => showState(row["status"]) },
    ],
    figure: async () => {
      const { bands } = await readOps("/ops/inventory/by-expiry", { environment }, signal);
      return makeDayBars("Stock by days until it expires", bands, "face_paise");
    },
    empty: "The house holds no credits.",
  });
  list.querySelector("h1")?.replaceWith(make("h2", {}, "Credits, the newest first"));
  const day = params.get("day") ?? today.day;
  const chosen = make("input", { type: "date", name: "day", value: day, max: today.day });
  chosen.addEventListener("change", () => goTo(linkTo("/house", { day: chosen.value })));
  // It is made of every deal of the day, so it comes after the rest of the page.
  const result = make("div", { class: "block", role: "status" }, "Adding up the deals of the day…");
  const week = make("div", {});
  readOps("/ops/house/day", { environment, day }, signal)
    .then(async (house) => {
      result.replaceChildren(...showResult(house));
      week.replaceChildren(...(await readWeek(house)));
    })
    .catch((error) => (result.textContent = error instanceof Error ? error.message : ""));
  return make(
    "div",
    { class: "page" },
    makeHead("House", [makeAddition(view)]),
    makeSection(
      "Position",
      makeTable(
        "Stock of the house",
        [
          { head: "Scheme" },
          { head: "Credits", kind: "number" },
          { head: "Face", kind: "number" },
          { head: "Mid", kind: "number" },
          { head: "Bought today", kind: "number" },
          { head: "Daily limit", kind: "number" },
        ],
        board.markets.map((/** @type {Row} */ market) => [
          schemeName(market["scheme"]),
          market["inventory"].count,
          showMoney(market["inventory"].face_paise),
          showPercent(market["card"]?.mid_bps),
          showMoney(market["day_limit"].taken_paise),
          showMoney(market["day_limit"].limit_paise),
        ]),
      ),
      makeFacts([
        ["Cash", showMoney(today.house_cash_paise)],
        ["Fees earned", showMoney(today.house_fees_paise)],
      ]),
    ),
    makeSection(
      `Result of ${showDay(day)}`,
      make("form", { class: "filters" }, make("label", {}, make("span", {}, "Day"), chosen)),
      result,
      week,
    ),
    list,
  );

  /**
   * The day and those before it, read one after another: each adds up its deals.
   *
   * @param {Row} last
   */
  async function readWeek(last) {
    const days = [last];
    for (let back = 1; back < 7; back++) {
      const at = new Date(Date.parse(day) - back * 86_400_000).toISOString().slice(0, 10);
      days.unshift(await readOps("/ops/house/day", { environment, day: at }, signal));
    }
    return [
      makeBars(
        "Result by day",
        days.map(({ day: at, result_paise: value }) => ({
          label: showDay(at),
          value,
          words: showMoney(value),
        })),
      ),
      makeBars(
        "Deals by day",
        days.map(({ day: at, schemes }) => {
          const value = schemes.reduce(
            (/** @type {number} */ sum, /** @type {Row} */ one) =>
              sum + one["bought"] + one["sold"] + one["matched"],
            0,
          );
          return { label: showDay(at), value, words: String(value) };
        }),
      ),
    ];
  }
}

/** @param {Row} house */
function showResult(house) {
  return [
    make("p", { class: "result-figure" }, showMoney(house["result_paise"])),
    make(
      "p",
      { class: "muted" },
      "Its money without taxes, and its credits at the mid that was in force when each was dealt. Block deals between clients are left out.",
    ),
    makeTable(
      "Deals of the house",
      [
        { head: "Scheme" },
        { head: "Bought", kind: "number" },
        { head: "Cost", kind: "number" },
        { head: "Sold", kind: "number" },
        { head: "Proceeds", kind: "number" },
        { head: "Matched", kind: "number" },
        { head: "Margin", kind: "number" },
        { head: "Of it fees", kind: "number" },
        { head: "Result", kind: "number" },
      ],
      house["schemes"].map((/** @type {Row} */ one) => [
        schemeName(one["scheme"]),
        showCount(one["bought"], one["bought_face_paise"]),
        showMoney(one["bought_paise"]),
        showCount(one["sold"], one["sold_face_paise"]),
        showMoney(one["sold_paise"]),
        showCount(one["matched"], one["matched_face_paise"]),
        showMoney(one["kept_paise"]),
        showMoney(one["fees_paise"]),
        showMoney(one["result_paise"]),
      ]),
    ),
  ];
}

/**
 * @param {number} count
 * @param {number} facePaise
 */
function showCount(count, facePaise) {
  return count === 0 ? "–" : `${count}, face ${showMoney(facePaise)}`;
}

/** @param {View} view */
function makeAddition(view) {
  const { environment } = view;
  return makeAct(view, {
    label: "Add credits…",
    permission: "inventory.write",
    says: "Credits that the house owns and sells. A large face takes two people.",
    fields: [
      { name: "scheme", label: "Scheme", type: "choice", options: Object.entries(schemeNames) },
      { name: "scrip_no", label: "Scrip number" },
      { name: "face_paise", label: "Face", type: "money" },
      { name: "expires_on", label: "Expires on", type: "day" },
    ],
    call: (credit) => ({ path: "/ops/inventory", body: { environment, credits: [credit] } }),
  });
}
