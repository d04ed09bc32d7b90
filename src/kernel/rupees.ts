// Amounts as people in India read them: rupees with two decimals, grouped by thousand, lakh, crore.

import type { Bps } from "./money.ts";
import type { PaiseSum } from "./sums.ts";

/** `-1,23,45,678.90`; exact for every whole number of paise. */
export function rupeesText(paise: PaiseSum): string {
  const digits = String(paise).replace("-", "").padStart(3, "0");
  const rupees = digits.slice(0, -2);
  const head = rupees.slice(0, -3).replace(/\B(?=(\d{2})+$)/g, ",");
  const grouped = head === "" ? rupees : `${head},${rupees.slice(-3)}`;
  return `${paise < 0 ? "-" : ""}${grouped}.${digits.slice(-2)}`;
}

/** `-12345678.90`, for programs. */
export function rupeesPlain(paise: PaiseSum): string {
  return rupeesText(paise).replaceAll(",", "");
}

/** `97.65 %` of face. */
export function percentText(priceBps: Bps): string {
  return `${rupeesPlain(priceBps)} %`;
}
