// What dealing costs and when money comes. Every figure is the service's.

import { ask } from "./ask.js";
import { formatPercent, formatRupees } from "./money.js";
import { find, longDay, schemeName } from "./words.js";

/** @typedef {{scheme: string, fee_bps: number | null, default_bps: number | null, quote_window_s: number | null, face_max_paise: number | null, days_left_min: number | null}} SchemeTerms */
/** @typedef {{term: string, text: string}} Fact */

export async function showHouse() {
  const house = await ask("/public/house").catch(() => undefined);
  if (!house) return;
  const [first] = house.schemes.filter((/** @type {SchemeTerms} */ terms) => terms.quote_window_s);
  if (first) find(document, "#quote-window").textContent = sayDuration(first.quote_window_s);
  fill(find(document, "#when"), listTimes(house));
  fill(find(document, "#fees"), listFees(house));
}

/** @param {any} house */
function listTimes({ timetable, rtgs_from_paise }) {
  const { transfer_working_days, transferred_by, payment_working_days, paid_by } = timetable;
  const closed = listClosedDays(timetable.holidays);
  return [
    {
      term: "You sell now",
      text: `Customs moves the credit by ${sayInstant(transferred_by)} at the latest, which is ${sayDays(transfer_working_days)} of customs. Until then the house's money for it is set aside.`,
    },
    {
      term: "Your money",
      text: `It leaves for your verified bank account once customs has confirmed: by RTGS from ₹${formatRupees(rtgs_from_paise)}, below that by NEFT or IMPS, with its UTR.`,
    },
    {
      term: "Customs does not confirm",
      text: "The deal ends, the credit is yours and free again, and nobody owes anything.",
    },
    {
      term: "You buy now",
      text: `Pay by ${sayInstant(paid_by)}, which is ${sayDays(payment_working_days)} of banks. Your money stays in escrow until the credits are yours.`,
    },
    {
      term: "The desk's day",
      text: `What comes after ${timetable.cut_off} IST counts as of the next working day; days end at ${timetable.closes} IST.${closed.length === 0 ? "" : ` Closed in the next weeks: ${closed.join(", ")}.`}`,
    },
  ];
}

/**
 * One entry per day, with who is closed.
 *
 * @param {readonly {date: string, name: string, office: string}[]} holidays
 */
function listClosedDays(holidays) {
  const days = Map.groupBy(holidays, ({ date }) => date);
  return [...days].map(([date, closed]) => {
    const offices = closed.map(({ office }) => (office === "bank" ? "banks" : "customs"));
    return `${longDay(date)} (${closed[0]?.name ?? ""}: ${offices.join(" and ")})`;
  });
}

/** @param {any} house */
function listFees({ schemes, gst_bps, scrip_hsn, block_fee_bps, withholding }) {
  /** @type {SchemeTerms[]} */
  const open = schemes.filter((/** @type {SchemeTerms} */ { fee_bps }) => fee_bps !== null);
  /** @type {Fact[]} */
  const facts = [
    {
      term: "The price is all-in",
      text: "What a quote says is what is paid. The house earns the difference between the price at which it buys and the one at which it sells.",
    },
  ];
  if (open.length > 0) {
    const isFree = open.every(({ fee_bps }) => fee_bps === 0);
    const fees = open.map(
      ({ scheme, fee_bps }) => `${formatPercent(fee_bps ?? 0)} % for ${schemeName(scheme)}`,
    );
    facts.push({
      term: "Fee",
      text: isFree
        ? "None."
        : `${fees.join(", ")} of face, with GST of ${sayPercent(gst_bps)} on it. Both are inside the price.`,
    });
  }
  facts.push(
    {
      term: "GST on the credit",
      text: `None: credits are exempt under heading ${scrip_hsn}.`,
    },
    {
      term: "Tax withheld",
      text: withholding
        ? `Section ${withholding.section}: ${sayPercent(withholding.rate_bps)} of what a seller sells in a financial year beyond ₹${formatRupees(withholding.threshold_paise)}.`
        : "None at present.",
    },
    {
      term: "Blocks between two firms",
      text: `${formatPercent(block_fee_bps)} % of face from each side, GST included.`,
    },
  );
  const late = open
    .filter(({ default_bps }) => default_bps)
    .map(
      ({ scheme, default_bps }) => `${formatPercent(default_bps ?? 0)} % for ${schemeName(scheme)}`,
    );
  if (late.length > 0) {
    facts.push({
      term: "Late on the customs portal",
      text: `${late.join(", ")} of face, from the side that is proved late to the other.`,
    });
  }
  const limits = open.map(
    ({ scheme, face_max_paise, days_left_min }) =>
      `${schemeName(scheme)} up to ₹${formatRupees(face_max_paise ?? 0)} at a time and with ${days_left_min} days left or more`,
  );
  if (limits.length > 0) facts.push({ term: "What is priced", text: `${limits.join("; ")}.` });
  return facts;
}

/**
 * @param {HTMLElement} list
 * @param {readonly Fact[]} facts
 */
function fill(list, facts) {
  list.replaceChildren(
    ...facts.map(({ term, text }) => {
      const row = document.createElement("div");
      const name = document.createElement("dt");
      const said = document.createElement("dd");
      name.textContent = term;
      said.textContent = text;
      row.append(name, said);
      return row;
    }),
  );
}

const weekday = new Intl.DateTimeFormat("en-IN", { weekday: "short", timeZone: "UTC" });

/** @param {string} instant such as 2026-11-18T17:30:00.000+05:30 */
function sayInstant(instant) {
  const day = instant.slice(0, 10);
  const name = weekday.format(Date.parse(`${day}T00:00:00Z`));
  return `${name} ${longDay(day)}, ${instant.slice(11, 16)} IST`;
}

/** @param {number} days */
function sayDays(days) {
  return days === 1 ? "one working day" : `${days} working days`;
}

/** @param {number} seconds */
function sayDuration(seconds) {
  if (seconds % 60 !== 0) return `${seconds} seconds`;
  return seconds === 60 ? "one minute" : `${seconds / 60} minutes`;
}

/** @param {number} bps */
function sayPercent(bps) {
  return `${bps / 100} %`;
}
