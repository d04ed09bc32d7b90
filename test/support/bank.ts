// Statements as a bank writes them.

import { rupeesPlain } from "../../src/kernel/money.ts";

export type BankLine = {
  readonly utr: string;
  readonly text?: string;
  /** Above zero what came in, below what left. */
  readonly paise: number;
  readonly name?: string;
  readonly account?: string;
};

/** A statement with the balance after each line. */
export function statement(
  openingPaise: number,
  lines: readonly BankLine[],
  day = "15/11/2026",
): string {
  let balance = openingPaise;
  const rows = lines.map(({ utr, text = "", paise, name = "", account = "" }) => {
    balance += paise;
    const [debit, credit] = paise < 0 ? [rupeesPlain(-paise), ""] : ["", rupeesPlain(paise)];
    return [day, utr, text, debit, credit, rupeesPlain(balance), name, account].join(",");
  });
  const heading = "date,reference,description,debit,credit,balance,remitter_name,remitter_account";
  return `${[heading, ...rows].join("\r\n")}\r\n`;
}

/** An id as banks write it. */
export const squeezed = (id: string) => id.replace("_", "").toUpperCase();
