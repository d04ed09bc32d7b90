import { bpsOfPar } from "../kernel/money.ts";
import { schemes } from "../kernel/scheme.ts";
import type { Cacheable } from "../platform/caching.ts";
import { released } from "./freshness.ts";
import { fixDelayMs, sellersMin, trimDivisor } from "./rules.ts";
import type { Methodology } from "./schema.ts";

const trimBps = bpsOfPar / trimDivisor;
const fixedAfterS = fixDelayMs / 1_000;

/** The parameters are those the figures are made with. */
export function readMethodology(): Cacheable<Methodology> {
  return { answer: methodology, cacheControl: released };
}

const methodology: Methodology = {
  version: 1,
  summary:
    "The face-weighted trimmed mean of the prices that sellers received for whole credits on one IST day.",
  environment: "live",
  schemes: [...schemes],
  unit: "basis points of face value; 10000 is par",
  sellers_min: sellersMin,
  trim_bps: trimBps,
  fixed_after_s: fixedAfterS,
  steps: [
    "Take the live deals of the scheme that were agreed on the day, from midnight to midnight IST. Each credit counts with its face and the price its seller received.",
    "Leave out what is not at arm's length: what the desk itself sold, and deals inside one company or one group. Leave out deals that have failed.",
    `Count the sellers; one company is one seller. With fewer than ${sellersMin} the day has no figure of its own.`,
    `Order the deals by price and cut ${trimBps / 100} % of the day's face off each end, rounded down to the paisa. A deal on the edge counts with the part of its face that is left.`,
    "The index is the mean of what is left, weighted by face, rounded to the nearest basis point, halves up.",
    "A day without a figure of its own carries the last one and says so: basis is carried, stale is true, and deals_on names the day whose deals it is made of. Before the first figure basis is none.",
    `While the day runs the figure moves with its deals. From ${fixedAfterS / 60} minutes after the day's end it is fixed, once and for good.`,
  ],
};
