import { makeAct } from "./acts.js";
import { make, makeEmpty, makeTable } from "./dom.js";
import { makeDownload } from "./download.js";
import { makeHead } from "./list.js";
import { readOps } from "./ops.js";
import { showDay, showState } from "./show.js";
import { linkTo } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

const permission = "calendar.write";
const offices = /** @type {const} */ ([
  ["bank", "banks"],
  ["customs", "customs"],
]);

/** @type {readonly import("./state.js").Page[]} */
export const calendarPages = [
  { path: "/calendar", title: "Calendar", reach: "both", key: "y", show: showCalendar },
];

/** @param {View} view */
async function showCalendar(view) {
  const year = Number(view.params.get("year") ?? readYear());
  const { days } = await readOps("/ops/calendar", { year }, view.signal);
  const unconfirmed = days.filter((/** @type {Row} */ one) => one["status"] === "check");
  return make(
    "div",
    { class: "page" },
    makeHead(`Holidays of ${year}`, [
      unconfirmed.length > 1 &&
        makeAct(view, {
          label: `Confirm all ${unconfirmed.length}…`,
          permission,
          says: `Every holiday of ${year} that nobody has confirmed is as the list says. Compare the list with the offices' own first.`,
          call: () => ({ path: "/ops/calendar", body: { days: days.map(pickDay) } }),
          said: () => `The holidays of ${year} are confirmed.`,
        }),
      makeAct(view, {
        label: "Import a list…",
        permission,
        says: "A CSV with the headings office, day, name and works, such as a year downloaded here: bank or customs, YYYY-MM-DD, a name, yes or no. Starting rows of its years that it lacks go.",
        fields: [{ name: "csv", label: "The list (CSV)", type: "file" }],
        call: ({ csv }) => ({ path: "/ops/calendar", body: { days: readDays(csv) } }),
        said: ({ rows, changed, removed }) =>
          `${rows} days: ${changed} changed, ${removed} removed.`,
      }),
      makeAct(view, {
        label: "Add a holiday…",
        permission,
        main: true,
        says: "A holiday, or a day on which an office works although the week says otherwise.",
        fields: [
          { name: "day", label: "Day", type: "day" },
          { name: "office", label: "Office", type: "choice", options: offices },
          { name: "name", label: "Name" },
          { name: "works", label: "Open, not closed", type: "yes" },
        ],
        call: (body) => ({ path: "/ops/calendar/add", body }),
        said: () => "The holiday is added.",
      }),
    ]),
    make(
      "p",
      { class: "muted lead" },
      "Days on which banks or customs differ from the week; deadlines count working days. A day in the state check is a starting row that nobody has confirmed. ",
      ...[year - 1, year + 1].flatMap((other) => [
        make("a", { href: linkTo("/calendar", { year: String(other) }) }, String(other)),
        " ",
      ]),
    ),
    days.length === 0
      ? makeEmpty("No holidays in this year.")
      : makeTable(
          "Holidays",
          [
            { head: "Day" },
            { head: "Office" },
            { head: "Name", kind: "wide" },
            { head: "Works" },
            { head: "State" },
            { head: "Actions", kind: "last pairs" },
          ],
          days.map((/** @type {Row} */ one) => [
            showDay(one["day"]),
            one["office"] === "bank" ? "banks" : one["office"],
            one["name"],
            one["works"] ? "yes" : "no",
            showState(one["status"]),
            make("div", { class: "acts" }, makeDayActs(view, one)),
          ]),
        ),
    days.length === 0 ? null : makeDownload(`holidays-${year}`, async () => days),
  );
}

/**
 * @param {View} view
 * @param {Row} one
 */
function makeDayActs(view, { day, office, name, works, status }) {
  return [
    status === "check" &&
      makeAct(view, {
        label: "Confirm…",
        permission,
        says: `${name}, ${day}: it is as the list says.`,
        call: () => ({ path: "/ops/calendar/add", body: { day, office, name, works } }),
        said: () => "Confirmed.",
      }),
    makeAct(view, {
      label: "Remove…",
      permission,
      danger: true,
      says: `${name}, ${day}: it is what the week says from then on.`,
      call: () => ({ path: "/ops/calendar/remove", body: { day, office } }),
      said: () => "Removed.",
    }),
  ];
}

/** @param {Row} day */
function pickDay({ office, day, name, works }) {
  return { office, day, name, works };
}

/**
 * By their headings, in any order.
 *
 * @param {string} csv
 */
function readDays(csv) {
  const lines = csv.split(/\r?\n/).filter((line) => line.trim() !== "");
  const [heads = [], ...rows] = lines.map((line) => readCells(line));
  return rows.map((cells) => {
    const read = (/** @type {string} */ name) => cells[heads.indexOf(name)] ?? "";
    const works = ["yes", "true"].includes(read("works"));
    return { office: read("office"), day: read("day"), name: read("name"), works };
  });
}

/** @param {string} line */
function readCells(line) {
  const cells = line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return [...cells].map(([, quoted, plain = ""]) =>
    (quoted?.replaceAll('""', '"') ?? plain).trim(),
  );
}

/** This year in IST. */
function readYear() {
  return new Date(Date.now() + 19_800_000).getUTCFullYear();
}
