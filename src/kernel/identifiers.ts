// The forms of Indian identifiers, of accounts and of contacts. They are checked by form only; the
// registry and the bank are asked whether they are true.

import { createHash } from "node:crypto";

import { isCleanText } from "./json.ts";

export const legalNameLengthMax = 200;

const panForm = /^[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]$/;
const legacyIecForm = /^[0-9]{10}$/;
const gstinForm = /^[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][1-9A-Z]Z[0-9A-Z]$/;
const cinForm = /^[LU][0-9]{5}[A-Z]{2}[0-9]{4}[A-Z]{3}[0-9]{6}$/;
const ifscForm = /^[A-Z]{4}0[A-Z0-9]{6}$/;
const accountNoForm = /^[0-9]{9,18}$/;
const emailForm = /^[^\s@<>()[\]\\,;:"]+@[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\.[a-z]{2,63}$/;
const internationalPhoneForm = /^\+[1-9][0-9]{7,14}$/;
const indianMobileForm = /^[6-9][0-9]{9}$/;
const indianTrunkForm = /^0[1-9][0-9]{9}$/;
const base36 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

export function isLegalName(text: string): boolean {
  const length = Array.from(text).length; // Characters, as the database counts them.
  return text.trim() !== "" && length <= legalNameLengthMax && isCleanText(text);
}

export function isPan(text: string): boolean {
  return panForm.test(text);
}

/** An importer-exporter code is the firm's PAN, or ten digits for one from before 2017. */
export function isIec(text: string): boolean {
  return isPan(text) || legacyIecForm.test(text);
}

/** The rule that a value breaks, as the end of a sentence that begins with the field's name. */
export type Problem = string | undefined;

export function findPanProblem(pan: string): Problem {
  if (isPan(pan)) return undefined;
  return "must be five letters (the fourth one of ABCFGHJLPT), four digits and a letter";
}

export function findIecProblem(iec: string, pan: string | null): Problem {
  if (!isIec(iec)) return "must be the firm's PAN, or ten digits";
  if (pan !== null && isPan(iec) && iec !== pan)
    return "must equal the PAN when it is not ten digits";
  return undefined;
}

export function findGstinProblem(gstin: string, pan: string | null): Problem {
  if (!gstinForm.test(gstin)) {
    return "must be two digits, the PAN, an entity number, the letter Z and a check character";
  }
  if (gstin.at(-1) !== computeGstinCheckCharacter(gstin.slice(0, 14))) {
    return "has a wrong check character: it was mistyped";
  }
  if (pan !== null && gstin.slice(2, 12) !== pan) return "must hold the PAN in characters 3 to 12";
  return undefined;
}

export function findCinProblem(cin: string, pan: string | null): Problem {
  if (!cinForm.test(cin)) {
    return "must be L or U, five digits, two letters, four digits, three letters and six digits";
  }
  if (pan !== null && pan[3] !== "C") {
    return "is for companies only: the fourth letter of the PAN would be C";
  }
  return undefined;
}

export function findIfscProblem(ifsc: string): Problem {
  if (ifscForm.test(ifsc)) return undefined;
  return "must be four letters, a zero and six letters or digits";
}

export function findAccountNoProblem(accountNo: string): Problem {
  return accountNoForm.test(accountNo) ? undefined : "must be 9 to 18 digits";
}

export function findEmailProblem(email: string): Problem {
  return emailForm.test(email) && !email.includes("..") ? undefined : "must be an email address";
}

/** The number with its country code; undefined when it cannot be a telephone number. */
export function toInternationalPhone(text: string): string | undefined {
  const digits = text.replace(/[\s().-]+/g, "");
  if (internationalPhoneForm.test(digits)) return digits;
  if (indianMobileForm.test(digits)) return `+91${digits}`;
  if (indianTrunkForm.test(digits)) return `+91${digits.slice(1)}`;
  return undefined;
}

export function findPhoneProblem(text: string): Problem {
  if (toInternationalPhone(text) !== undefined) return undefined;
  return "must be ten Indian digits, or + and a country code and a number";
}

/** Luhn's check modulo 36, with factors 1 and 2 in turn. */
export function computeGstinCheckCharacter(first14: string): string {
  const sum = Array.from(first14).reduce((total, character, index) => {
    const product = base36.indexOf(character) * (index % 2 === 0 ? 1 : 2);
    return total + Math.floor(product / 36) + (product % 36);
  }, 0);
  return base36.charAt((36 - (sum % 36)) % 36);
}

/** Upper case without spaces. */
export function normalizeIdentifier(text: string): string {
  return text.replace(/\s+/g, "").toUpperCase();
}

export function maskAccountNo(last4: string): string {
  return `XXXXXX${last4}`;
}

/**
 * A well-formed PAN of a company, the same for the same seed. Its digits stay below 9000: the
 * simulated registry gives 9998 and 9999 a meaning.
 */
export function makeSyntheticPan(seed: string): string {
  const bytes = createHash("sha256").update(seed).digest();
  const letter = (index: number) => String.fromCharCode(65 + ((bytes[index] ?? 0) % 26));
  const digits = String(bytes.readUInt32BE(8) % 9_000).padStart(4, "0");
  return `${letter(0)}${letter(1)}${letter(2)}C${letter(3)}${digits}${letter(4)}`;
}
