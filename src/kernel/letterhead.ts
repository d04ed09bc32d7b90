/** The house's name and address on documents. */
export type Letterhead = {
  readonly name: string;
  /** Lines. */
  readonly address: readonly string[];
  readonly gstin: string | null;
};

/** The letterhead as name and lines. */
export function toPaperHead({ name, address, gstin }: Letterhead): {
  readonly name: string;
  readonly lines: readonly string[];
} {
  return { name, lines: [...address, ...(gstin === null ? [] : [`GSTIN ${gstin}`])] };
}

/** Who runs the desk, as the public page says it. */
export type Imprint = Letterhead & {
  readonly email: string | null;
  readonly phone: string | null;
};

/** What the house publishes about dealing with it, as Markdown; null until the operator wrote it. */
export type HousePapers = { readonly terms: string | null; readonly privacy: string | null };

/** What is missing of who the house is, in words for the public and for `doctor`. */
export function listMissing(
  { address, gstin, email, phone }: Imprint,
  { terms, privacy }: HousePapers,
): string[] {
  const missing: string[] = [];
  if (address.length === 0) missing.push("address");
  if (gstin === null) missing.push("GSTIN");
  if (email === null && phone === null) missing.push("contact");
  if (terms === null) missing.push("terms");
  if (privacy === null) missing.push("privacy");
  return missing;
}
