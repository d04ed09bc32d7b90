// Which balances and credits a set of the books locks.

import { randomInt } from "node:crypto";

import type { Environment } from "../kernel/caller.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import type { FirmOfBooks } from "./dues.ts";
import type { Pending } from "./judge-books.ts";
import {
  accountFirm,
  accountName,
  balanceName,
  creditName,
  type Entry,
  parseAccount,
} from "./rules.ts";
import type { CreditKey } from "./store.ts";

const stripes = 16;

/** The accounts and credits that a set must lock, by name. */
export type TouchedRows = {
  readonly accounts: ReadonlyMap<string, TouchedAccount>;
  readonly credits: ReadonlyMap<string, CreditKey>;
};

export type TouchedAccount = {
  readonly environment: Environment;
  readonly account: string;
  /** The key of its balance: the name and, for a striped account, the stripe. */
  readonly balance: string;
};

const chosenStripes = new WeakMap<Tx, number>();

/** A transaction keeps its stripe, so that a later set waits for no other while rows are held. */
export function chooseStripe(tx: Tx): number {
  const stripe = chosenStripes.get(tx) ?? randomInt(stripes);
  chosenStripes.set(tx, stripe);
  return stripe;
}

export function findTouched(
  entries: readonly Entry[],
  pending: readonly Pending[],
  { stripe, owing }: { readonly stripe: number; readonly owing: readonly FirmOfBooks[] },
): TouchedRows {
  const accounts = new Map<string, TouchedAccount>();
  const credits = new Map<string, CreditKey>();
  const touchAccount = (environment: Environment, account: string) => {
    const name = balanceName(environment, account);
    const known = accounts.get(name);
    if (known) return refuseOtherEnvironment(known, environment);
    const balance = accountFirm(account) === undefined ? `${name}:${stripe}` : name;
    accounts.set(name, { environment, account, balance });
    const { kind } = parseAccount(account);
    const firmId = accountFirm(account);
    if (kind === "firm_dues" && firmId !== undefined) touchMoney({ environment, firmId });
  };
  // Whoever changes what a firm owes holds its money, so whoever holds its money knows what it owes.
  const touchMoney = ({ environment, firmId }: FirmOfBooks) => {
    touchAccount(environment, accountName({ kind: "firm_cash", firmId }));
    touchAccount(environment, accountName({ kind: "desk_commission", firmId }));
  };
  const touchCredit = (environment: Environment, scripNo: string) =>
    credits.set(creditName(environment, scripNo), { environment, scrip_no: scripNo });
  for (const { environment, movements } of entries) {
    for (const movement of movements) {
      if ("scripNo" in movement) touchCredit(environment, movement.scripNo);
      else {
        touchAccount(environment, accountName(movement.from));
        touchAccount(environment, accountName(movement.to));
      }
    }
  }
  for (const { environment, movements } of pending) {
    for (const { from_account, to_account, scrip_no } of movements) {
      if (scrip_no !== null) touchCredit(environment, scrip_no);
      else {
        touchAccount(environment, from_account);
        touchAccount(environment, to_account);
      }
    }
  }
  for (const firm of owing) {
    touchMoney(firm);
    touchAccount(firm.environment, accountName({ kind: "external_bank" }));
  }
  return { accounts, credits };
}

/** The firms whose money is touched. */
export function listFirms(accounts: TouchedRows["accounts"]): FirmOfBooks[] {
  const firms = new Map<string, FirmOfBooks>();
  for (const { environment, account } of accounts.values()) {
    const firmId = accountFirm(account);
    if (firmId !== undefined) firms.set(firmId, { environment, firmId });
  }
  return [...firms.values()];
}

/** Account names of firms do not contain the environment, so check it. */
export function refuseOtherEnvironment(
  { account, environment }: TouchedAccount,
  other: Environment,
): void {
  if (environment !== other) throw new Error(`${account} is not in ${other} and ${environment}`);
}
