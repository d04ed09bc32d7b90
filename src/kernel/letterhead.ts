/** Who the house is on paper. */
export type Letterhead = {
  readonly name: string;
  /** One line for each part of it. */
  readonly address: readonly string[];
  readonly gstin: string | null;
};

/** The same as the lines at the head of a paper. */
export function toPaperHead({ name, address, gstin }: Letterhead): {
  readonly name: string;
  readonly lines: readonly string[];
} {
  return { name, lines: [...address, ...(gstin === null ? [] : [`GSTIN ${gstin}`])] };
}
