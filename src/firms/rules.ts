// Names and Indian identifiers, and the synthetic ones that a sandbox desk is given.

import { createHash } from "node:crypto";

import { isCleanText } from "../kernel/json.ts";

export const legalNameLengthMax = 200;

const panForm = /^[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]$/;
const legacyIecForm = /^[0-9]{10}$/;

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

/**
 * A well-formed PAN of a company, the same for the same seed. Its digits stay below 9000, out of
 * the range that the simulated registry gives a meaning.
 */
export function syntheticPan(seed: string): string {
  const bytes = createHash("sha256").update(seed).digest();
  const letter = (index: number) => String.fromCharCode(65 + ((bytes[index] ?? 0) % 26));
  const digits = String(bytes.readUInt32BE(8) % 9_000).padStart(4, "0");
  return `${letter(0)}${letter(1)}${letter(2)}C${letter(3)}${digits}${letter(4)}`;
}
