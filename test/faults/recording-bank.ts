// The bank of a test. It keeps its own record of who owns each rupee: accounts by number with their
// holders, and every line of the house's account with the holder whose money it was. Nothing here is
// read from the service.

import { rupeesPlain } from "../../src/kernel/money.ts";
import { istDay, istTimestamp } from "../../src/kernel/time.ts";
import type { StatementFormat } from "../../src/bankbook/read-statement.ts";
import type { Random } from "../support/random.ts";

export type Holder = { readonly name: string; readonly isGang: boolean };

export type HeldAccount = {
  readonly number: string;
  readonly ifsc: string;
  readonly holder: Holder;
};

/** What a payout file asks for. */
export type PaymentOrder = {
  readonly reference: string;
  readonly firmId: string;
  readonly account: string;
  readonly ifsc: string;
  readonly name: string;
  readonly paise: number;
};

/** One line of the house's account. */
export type BankEntry = {
  readonly place: number;
  readonly at: Date;
  /** Empty where the bank gives none. */
  readonly utr: string;
  readonly text: string;
  /** Above zero what came in, below what left. */
  readonly paise: number;
  readonly balancePaise: number;
  /** Whose money it was before it came, or is after it left; nobody's for the bank's own charges. */
  readonly holder: Holder | undefined;
  /** Left out where the bank does not tell from where a line came. */
  readonly account: HeldAccount | undefined;
  readonly order: PaymentOrder | undefined;
};

export type ExportStyle = "plain" | "other letters" | "without balances" | "without accounts";

const openedPaise = 900_000_000_000;
const ifsc = "HDFC0000001";

export class RecordingBank {
  readonly entries: BankEntry[] = [];
  readonly accounts = new Map<string, HeldAccount>();
  /** The accounts for which the bank said yes, by firm. */
  readonly #confirmed = new Map<string, Set<string>>();
  readonly #now: () => Date;
  #balance = openedPaise;
  #numbers = 0;

  constructor(now: () => Date) {
    this.#now = now;
  }

  openAccount(holder: Holder): HeldAccount {
    const number = `5020009${String(this.accounts.size + 1).padStart(7, "0")}`;
    const account = { number, ifsc, holder };
    this.accounts.set(number, account);
    return account;
  }

  nextUtr(): string {
    return `HDFCR52026${String(++this.#numbers).padStart(12, "0")}`;
  }

  /** Whether the account is its holder's under both names; who holds it must have asked for that. */
  confirm(
    firmId: string,
    asked: { readonly number: string; readonly ifsc: string; readonly names: readonly string[] },
    isAsker: (holder: Holder) => boolean,
  ): boolean {
    const account = this.accounts.get(asked.number);
    const isTrue =
      account !== undefined &&
      account.ifsc === asked.ifsc &&
      asked.names.every((name) => squeeze(name) === squeeze(account.holder.name)) &&
      isAsker(account.holder);
    if (isTrue) {
      const own = this.#confirmed.get(firmId) ?? new Set();
      this.#confirmed.set(firmId, own.add(describeAccount(asked.number, asked.ifsc)));
    }
    return isTrue;
  }

  hasConfirmed({ firmId, account, ifsc: code }: PaymentOrder): boolean {
    return this.#confirmed.get(firmId)?.has(describeAccount(account, code)) ?? false;
  }

  receive(
    account: HeldAccount,
    { paise, text, utr = this.nextUtr() }: { paise: number; text: string; utr?: string },
  ): BankEntry {
    return this.#book({ paise, text, utr, account, holder: account.holder });
  }

  /** Pays what a file says to the account number in it. */
  pay(order: PaymentOrder): BankEntry {
    const account = this.accounts.get(order.account);
    const words = { utr: this.nextUtr(), text: `NEFT DR ${order.reference}`, account };
    return this.#book({ ...words, paise: -order.paise, holder: account?.holder, order });
  }

  /** A payment that could not be credited comes back. */
  bounce({ paise, utr, holder, order }: BankEntry): BankEntry {
    const words = { utr: this.nextUtr(), text: `RTN ${utr}`, account: undefined };
    return this.#book({ ...words, paise: -paise, holder, order });
  }

  sendBack(account: HeldAccount, paise: number, utr: string): BankEntry {
    return this.#book({ paise: -paise, utr, text: "SENT BACK", account, holder: account.holder });
  }

  charge(paise: number): BankEntry {
    const words = { utr: "", text: `CHARGES ${++this.#numbers}`, account: undefined };
    return this.#book({ ...words, paise: -paise, holder: undefined });
  }

  #book(
    fields: Omit<BankEntry, "place" | "at" | "balancePaise" | "order"> & {
      readonly order?: PaymentOrder | undefined;
    },
  ): BankEntry {
    this.#balance += fields.paise;
    const entry: BankEntry = {
      order: undefined,
      ...fields,
      place: this.entries.length,
      at: this.#now(),
      balancePaise: this.#balance,
    };
    this.entries.push(entry);
    return entry;
  }
}

/** As banks compare names. */
export function squeeze(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
}

function describeAccount(number: string, code: string): string {
  return `${number} ${code}`;
}

/** Lines that nothing but the balance after them tells apart. */
export function describeAlike({ at, paise, utr, text }: BankEntry): string {
  return `${istDay(at)} ${paise} ${utr === "" ? text : utr}`;
}

const wholeFormat = {
  name: "whole",
  day: "date",
  time: "time",
  reference: "reference",
  narration: "description",
  debit: "debit",
  credit: "credit",
  balance: "balance",
  remitter_name: "remitter_name",
  remitter_account: "remitter_account",
} as const satisfies StatementFormat;

const { balance: _balance, ...withoutBalances } = wholeFormat;
const { remitter_account: _account, ...withoutAccounts } = wholeFormat;

export const exportFormats: Readonly<Record<ExportStyle, StatementFormat>> = {
  plain: wholeFormat,
  "other letters": wholeFormat,
  "without balances": { ...withoutBalances, name: "without balances" },
  "without accounts": { ...withoutAccounts, name: "without accounts" },
};

/** A file with these lines, as the bank writes it. */
export function writeStatement(
  entries: readonly BankEntry[],
  style: ExportStyle,
  random: Random,
): string {
  const rewrite = (text: string) =>
    style === "other letters" ? changeLetters(text, random) : text;
  const rows = entries.map(({ at, utr, text, paise, balancePaise, holder, account }) => {
    const [year, month, day] = istDay(at).split("-");
    const [debit, credit] = paise < 0 ? [rupeesPlain(-paise), ""] : ["", rupeesPlain(paise)];
    const isIncoming = paise > 0 && account !== undefined;
    return [
      `${day}/${month}/${year}`,
      istTimestamp(at).slice(11, 19),
      utr,
      rewrite(text),
      debit,
      credit,
      rupeesPlain(balancePaise),
      isIncoming ? rewrite(holder?.name ?? "") : "",
      isIncoming ? account.number : "",
    ].join(",");
  });
  return `${[Object.values(wholeFormat).slice(1).join(","), ...rows].join("\r\n")}\r\n`;
}

/** The same words in other letter case and with other spaces and marks between them. */
function changeLetters(text: string, random: Random): string {
  const cased = random.below(2) === 0 ? text.toLowerCase() : text.toUpperCase();
  const between = random.pick(["  ", " ", "-", " / ", " . "]);
  return cased.replaceAll(/ +/g, between);
}
