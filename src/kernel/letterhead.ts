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
