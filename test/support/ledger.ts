// What tests that move money need: accounts by a short name, entries with a subject of their own,
// and the proof afterwards that the books hold.

import assert from "node:assert/strict";

import { checkLedger } from "../../src/ledger/check-ledger.ts";
import { type Account, assertWritten, type Entry } from "../../src/ledger/rules.ts";
import { postEntries } from "../../src/ledger/write-books.ts";
import type { Environment } from "../../src/kernel/caller.ts";
import type { Service } from "./service.ts";

/** To be called at the end of every test that moves money or credits. */
export async function assertLedgerSound({ ctx }: Pick<Service, "ctx">): Promise<void> {
  const { firstBreak } = await checkLedger(ctx);
  assert.equal(firstBreak, null, JSON.stringify(firstBreak));
}

export const bank: Account = { kind: "external_bank" };

export function toCash(firmId: string): Account {
  return { kind: "firm_cash", firmId };
}

export function toCredits(firmId: string): Account {
  return { kind: "firm_credits", firmId };
}

let subjects = 0;

/** An entry in the sandbox about something that no other entry is about. */
export function buildEntry(
  kind: Entry["kind"],
  phase: Entry["phase"],
  movements: Entry["movements"],
  environment: Environment = "sandbox",
): Entry {
  return { environment, kind, subject: `subject_${++subjects}`, phase, movements };
}

/** Gives a firm money, as if it had paid in. */
export async function payIn(
  { ctx }: Pick<Service, "ctx">,
  firmId: string,
  paise: number,
  environment: Environment = "sandbox",
) {
  const movements = [{ from: bank, to: toCash(firmId), paise }];
  const deposit = { ...buildEntry("deposit", "posted", movements), environment };
  const now = ctx.now();
  assertWritten(await ctx.db.transaction(async (tx) => await postEntries(tx, [deposit], now)));
}

/** Has a firm owe the house, as after the reversal of a deal that was paid out; desks are told nothing. */
export async function raiseDues(
  { ctx }: Pick<Service, "ctx">,
  firmId: string,
  paise: number,
): Promise<void> {
  const from: Account = { kind: "firm_dues", firmId };
  const entry = buildEntry("reversal", "posted", [{ from, to: { kind: "house_cash" }, paise }]);
  const now = ctx.now();
  await ctx.db.transaction(async (tx) => assertWritten(await postEntries(tx, [entry], now)));
}

/** So many deposits of one paisa and more, as the books keep them, and what they add up to. */
export async function payInMany(
  { ctx }: Pick<Service, "ctx">,
  firmId: string,
  count: number,
): Promise<bigint> {
  const { pool } = ctx.db;
  const values = [count, firmId, new Date(Date.UTC(2026, 10, 16))];
  await pool.query(
    `with numbered as materialized (
      select nextval('ledger_entry_numbers') as entry_no, n,
        $3::timestamptz + n * interval '50 ms' as at,
        array[('external_bank', 'firm_cash:' || $2, null, n)::ledger_movement_parts]::ledger_movement[]
          as movements
      from generate_series(1, $1::int) as n
    ), written as (
      insert into ledger_entries
        (entry_no, environment, kind, subject, ordinal, phase, held_as, resolves, at, movements, digest)
      select entry_no, 'sandbox', 'deposit', 'many_' || n, 0, 'posted', null, null, at, movements,
        substr(sha256(convert_to(concat_ws(' ', 'sandbox', 'deposit', 0, 'posted', null, null,
          extract(epoch from at), movements, 'many_' || n), 'UTF8')), 1, 8)
      from numbered
    )
    insert into ledger_firm_entries (firm_id, at, entry_no)
    select $2, at, entry_no from numbered`,
    values,
  );
  const paise = (BigInt(count) * BigInt(count + 1)) / 2n;
  const add = `update ledger_balances set posted_paise = posted_paise + $2 where balance = $1`;
  await pool.query(add, [`firm_cash:${firmId}`, String(paise)]);
  await pool.query(add, ["external_bank:sandbox:0", String(-paise)]);
  return paise;
}
