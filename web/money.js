// Rupees as people write them, paise as the service counts them. No amount passes through a
// fraction on its way.

const paiseMax = BigInt(Number.MAX_SAFE_INTEGER);

/** Units of amounts as people write them, as powers of ten in paise. */
const powers = /** @type {Readonly<Record<string, number>>} */ ({
  "": 2,
  k: 5,
  thousand: 5,
  l: 7,
  lac: 7,
  lacs: 7,
  lakh: 7,
  lakhs: 7,
  cr: 9,
  crore: 9,
  crores: 9,
});
const wholeDigitsMax = 15;

/**
 * "12,34,567.5" is 123456750 paise, "1.2 crore" 1200000000; undefined for what is no amount.
 *
 * @param {string} text
 * @returns {number | undefined}
 */
export function parsePaise(text) {
  const bare = text
    .trim()
    .toLowerCase()
    .replace(/^(?:₹|rs\.?(?=[\s\d])|inr\b)\s*/, "")
    .replace(/\s*\/-$/, "");
  const parts = /^(\d[\d,\s]*)(?:\.(\d*))?\s*([a-z]*)\.?$/.exec(bare);
  const [, grouped = "", fraction = "", unit = ""] = parts ?? [];
  const power = powers[unit];
  const whole = grouped.replace(/[,\s]/g, "");
  if (!parts || power === undefined || whole.length > wholeDigitsMax) return undefined;
  if (fraction.length > power) return undefined;
  const paise = BigInt(whole + fraction.padEnd(power, "0"));
  return paise > 0n && paise <= paiseMax ? Number(paise) : undefined;
}

/**
 * 123456750 paise are "12,34,567.50"; whole rupees have no decimals.
 *
 * @param {number} paise
 */
export function formatRupees(paise) {
  const digits = String(paise).padStart(3, "0");
  const fraction = digits.slice(-2);
  const whole = grouped(digits.slice(0, -2));
  return fraction === "00" ? whole : `${whole}.${fraction}`;
}

/**
 * What is typed so far, with commas where they belong; what is no amount stays as it is.
 *
 * @param {string} text
 */
export function tidied(text) {
  const parts = /^(\d{1,15})(\.\d{0,2})?$/.exec(text.replace(/[₹,\s]/g, ""));
  if (!parts) return text;
  const whole = (parts[1] ?? "").replace(/^0+(?=\d)/, "");
  return grouped(whole) + (parts[2] ?? "");
}

/**
 * The size of an amount as it is said: "25 lakh", "1.5 crore". Cut, never rounded up.
 *
 * @param {number | bigint} paise
 */
export function saySize(paise) {
  const units = /** @type {const} */ ([
    [1_000_000_000n, "crore"],
    [10_000_000n, "lakh"],
    [100_000n, "thousand"],
  ]);
  for (const [size, name] of units) {
    if (paise < size) continue;
    const hundredths = (BigInt(paise) * 100n) / size;
    const part = String(hundredths % 100n)
      .padStart(2, "0")
      .replace(/0+$/, "");
    const whole = grouped(String(hundredths / 100n));
    return `${whole}${part === "" ? "" : `.${part}`} ${name}`;
  }
  return "";
}

/**
 * A price in percent of face: 9812 bps are "98.12".
 *
 * @param {number} bps
 */
export function formatPercent(bps) {
  const digits = String(Math.abs(bps)).padStart(3, "0");
  return `${bps < 0 ? "−" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** @param {string} digits */
function grouped(digits) {
  return digits.replace(/(\d)(?=(?:\d\d)+\d$)/g, "$1,");
}
