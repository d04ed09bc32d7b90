import type { Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import type { Account, Entry } from "../ledger/rules.ts";
import type { Tx } from "../platform/postgres.ts";
import { type DepositRow, insertDeposits } from "./store.ts";

export type Deposit = {
  readonly environment: Environment;
  readonly reference: string;
  readonly deskId: string;
  readonly firmId: string;
  readonly paise: number;
  readonly settlementId: string | null;
  /** Where it was until now, when it was on our account already. */
  readonly from?: Account | undefined;
};

/** What is left for the caller: the entries to write with its own, and the changes to record. */
export type TakenDeposits = {
  readonly entries: readonly Entry[];
  readonly changes: readonly Change[];
};

/** Takes money in, each reference once. */
export async function takeDeposits(
  tx: Tx,
  deposits: readonly Deposit[],
  now: Date,
): Promise<TakenDeposits> {
  const rows = deposits.map((deposit): DepositRow => ({
    environment: deposit.environment,
    reference: deposit.reference,
    desk_id: deposit.deskId,
    firm_id: deposit.firmId,
    paise: deposit.paise,
    settlement_id: deposit.settlementId,
    at: now,
  }));
  const taken = new Set(await insertDeposits(tx, rows));
  const known = rows.find((row) => !taken.has(row.reference));
  if (known) {
    throw new Failure("conflict", `the reference ${known.reference} was taken in before`, {
      detail: { reason: "reference_used", reference: known.reference },
    });
  }
  return {
    entries: rows.map((row, at) => entryOf(row, deposits[at]?.from)),
    changes: rows.map(changeOf),
  };
}

function entryOf(
  { environment, reference, firm_id, paise }: DepositRow,
  from: Account = { kind: "external_bank" },
): Entry {
  return {
    environment,
    kind: "deposit",
    subject: reference,
    phase: "posted",
    movements: [{ from, to: { kind: "firm_cash", firmId: firm_id }, paise }],
  };
}

function changeOf({ environment, reference, desk_id, firm_id, paise, settlement_id }: DepositRow) {
  return {
    environment,
    deskId: desk_id,
    firmId: firm_id,
    action: "deposit.take",
    entity: { type: "deposit", id: reference, version: 1, href: `/v1/firms/${firm_id}` },
    before: null,
    after: { reference, firm_id, paise, settlement_id },
  } satisfies Change;
}
