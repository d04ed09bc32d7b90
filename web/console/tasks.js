// What the parties of deals do outside, and the house for them: who, by when, and what they enter there.

import { make, makeTable } from "./dom.js";
import { showFirm, showId, showMoney, showState, showTime } from "./show.js";

/** @typedef {import("./ops.js").Row} Row */

/** @param {readonly Row[]} tasks of one settlement, or of one firm with their settlements */
export function makeTasks(tasks) {
  const columns = [
    { head: "Task", kind: "wide" },
    { head: "Who", kind: "wide" },
    { head: "By when" },
    { head: "State" },
    { head: "What to enter", kind: "wide" },
    { head: "Reference" },
  ];
  const isOfMany = tasks.some((task) => task["settlement_id"] !== undefined);
  return makeTable(
    "Tasks",
    [...(isOfMany ? [{ head: "Settlement" }] : []), ...columns],
    tasks.map((task) => [
      ...(isOfMany ? [showId(task["settlement_id"])] : []),
      task["scrip_no"] === null ? "Pay" : [`${actWords[task["kind"]]} `, task["scrip_no"]],
      isOfMany ? `the ${task["by"]}` : showDoer(task),
      showTime(task["due_at"]),
      showState(task["status"]),
      showInstructions(task["instructions"]),
      task["reference"] ?? "–",
    ]),
  );
}

const actWords = /** @type {Readonly<Record<string, string>>} */ ({
  initiate: "Initiate",
  accept: "Accept",
});

/** @param {Row} task */
function showDoer({ by, firm_id, firm_iec }) {
  const iec = firm_iec ? [" ", make("span", { class: "id" }, firm_iec)] : [];
  return [showFirm(firm_id), ...iec, by === "house" ? ", by the house" : ""];
}

/** @param {Row | null} instructions null once it is done */
function showInstructions(instructions) {
  if (!instructions) return "–";
  const { amount_paise, reference, to_iec, to_name, from_iec, from_name } = instructions;
  if (amount_paise !== undefined) {
    return [showMoney(amount_paise), ", with ", make("span", { class: "id" }, reference)];
  }
  const isTo = to_iec !== undefined;
  return [
    isTo ? "to " : "from ",
    make("span", { class: "id" }, (isTo ? to_iec : from_iec) ?? "–"),
    ` ${(isTo ? to_name : from_name) ?? ""}`,
  ];
}
