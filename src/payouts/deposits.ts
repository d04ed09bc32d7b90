import { requireAnyFirm, refuseOffboarded, lockTradingFirms } from "../firms/find-firms.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { refuseBadUtr } from "../kernel/ids.ts";
import { rupeesText } from "../kernel/money.ts";
import { type Account, assertWritten, type Entry } from "../ledger/rules.ts";
import { postEntries } from "../ledger/write-books.ts";
import { actWithApproval } from "../operators/act-with-approval.ts";
import { type ApprovalKind, validHoursUsual } from "../operators/approval-kind.ts";
import { twoPeopleFromPaise } from "../operators/approval-rules.ts";
import type { Context } from "../platform/context.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import {
  type DepositRow,
  findDeposit,
  insertDeposits,
  insertReferences,
  insertReversals,
  listDeposits,
  listDepositsFor,
  listReferences,
  listReversals,
  type ReferenceRow,
} from "./deposit-store.ts";
import { toDepositFacts } from "./read-payouts.ts";

type AddDeposit = {
  readonly environment: Environment;
  readonly firmId: string;
  readonly paise: number;
  readonly reference: string;
  /** From which amount on live money takes two people. */
  readonly twoFromPaise?: number;
};

type AddedDeposit =
  | { readonly outcome: "added" | "known"; readonly deposit: DepositRow }
  | { readonly outcome: "proposed"; readonly approval_id: string };

/**
 * Adds money that a firm paid in ahead of its deals. The bank's reference identifies it: a repeated call
 * finds it, and another firm or amount under the same reference is a conflict. Large sums need the
 * approval of a second person, so that no one person can create money.
 */
export async function addDeposit(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { environment, firmId, paise, reference, twoFromPaise = twoPeopleFromPaise }: AddDeposit,
): Promise<AddedDeposit> {
  refuseBadUtr("reference", reference);
  const isKnown = (await findDeposit(ctx.db, environment, reference)) !== undefined;
  const acted = await actWithApproval(ctx, operator, {
    kind: depositAddition,
    environment,
    subjectId: reference,
    terms: { firm_id: firmId, paise },
    people: paise >= twoFromPaise && !isKnown ? 2 : 1,
    alonePerDayPaise: twoFromPaise,
  });
  if (acted.outcome === "proposed") {
    return { outcome: "proposed", approval_id: acted.approval_id };
  }
  const { wasKnown } = acted.answer as { readonly wasKnown: boolean }; // What the kind answers.
  const deposit = await findDeposit(ctx.db, environment, reference);
  if (!deposit) throw new Error("a deposit that was taken is there");
  return { outcome: wasKnown ? "known" : "added", deposit };
}

export const depositAddition: ApprovalKind<{ readonly firm_id: string; readonly paise: number }> = {
  name: "deposit.add",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  async prepare(tx, { environment, subjectId: reference, terms: { firm_id: firmId, paise } }, now) {
    const firm = await requireAnyFirm(tx, firmId);
    if (firm.environment !== environment) {
      throw new Failure("not_found", `${firmId} is not a firm of ${environment}`);
    }
    const known = await findDeposit(tx, environment, reference);
    if (known && (known.firm_id !== firmId || known.paise !== paise)) {
      throw referenceUsed(reference, known);
    }
    if (known) await refuseReversed(tx, environment, reference);
    else await refuseBankReferences(tx, environment, [reference]);
    // The lock serializes this with offboarding: the firm has left, or its offboarding sees the money.
    const [locked] = known ? [] : (await tx.run(lockTradingFirms([firmId]))).values();
    if (locked) refuseOffboarded(locked);
    return {
      summary: `${rupeesText(paise)} rupees that came as ${reference} become the balance of ${firm.legal_name} (${firmId})`,
      // A known deposit moves no money.
      valuePaise: known ? 0 : paise,
      facts: { firm_id: firmId, paise, known: known !== undefined },
      shows: [{ title: "Deposit", rows: [{ firm_id: firmId, amount_paise: paise, reference }] }],
      async carryOut() {
        if (known) return { changes: [], answer: { wasKnown: true } };
        const deposit = {
          environment,
          reference,
          deskId: firm.desk_id,
          firmId,
          paise,
          settlementId: null,
        };
        const { entries, changes } = await takeDeposits(tx, [deposit], now);
        assertWritten(await postEntries(tx, entries, now));
        return { changes, answer: { wasKnown: false } };
      },
    };
  },
};

/** The conflict of a reference that brought other money; the detail says whose, where it is known. */
export function referenceUsed(
  reference: string,
  known: Partial<Pick<DepositRow, "firm_id" | "paise">> & { readonly line_id?: string } = {},
  message = `${reference} brought other money`,
): Failure {
  const { firm_id, paise, line_id } = known;
  return new Failure("conflict", message, {
    detail: {
      reason: "reference_used",
      reference,
      ...(firm_id !== undefined && { firm_id, paise }),
      ...(line_id !== undefined && { line_id }),
    },
  });
}

/** Money that a line of the bank has brought is assigned, not entered again. */
export async function refuseBankReferences(
  db: Db,
  environment: Environment,
  references: readonly string[],
): Promise<void> {
  const rows = await listReferences(db, environment, references);
  for (const { reference, line_id } of rows) {
    if (line_id === null) continue;
    const message = `the bank's line ${line_id} brought ${reference}: assign that line`;
    throw referenceUsed(reference, { line_id }, message);
  }
}

/** A deposit that was taken back is not entered again: the bank's line will bring it. */
export async function refuseReversed(
  db: Db,
  environment: Environment,
  reference: string,
): Promise<void> {
  const reversed = await findReversed(db, environment, [reference]);
  if (!reversed.has(reference)) return;
  throw new Failure("conflict", `${reference} was reversed: assign the bank's line when it comes`, {
    detail: { reason: "deposit_reversed", reference },
  });
}

export async function findReversed(
  db: Db,
  environment: Environment,
  references: readonly string[],
): Promise<ReadonlySet<string>> {
  if (references.length === 0) return new Set();
  const reversals = await listReversals(db, environment, references);
  return new Set(reversals.map(({ reference }) => reference));
}

/**
 * Records the references of credit lines of the bank. Whoever enters one of them by hand at the same
 * time is waited for, and its deposit is found afterwards; whoever enters one later is refused.
 */
export async function recordBankReferences(
  tx: Tx,
  rows: readonly (ReferenceRow & { readonly line_id: string })[],
): Promise<void> {
  if (rows.length > 0) await insertReferences(tx, rows);
}

export type NewDeposit = {
  readonly environment: Environment;
  readonly reference: string;
  readonly deskId: string;
  readonly firmId: string;
  readonly paise: number;
  readonly settlementId: string | null;
  /** The bank's line that brought it; a person enters it when left out. */
  readonly lineId?: string | undefined;
  /** The account that holds it now, where it was booked before; the bank when left out. */
  readonly from?: Account | undefined;
};

/** The caller writes the entries with its own and records the changes. */
type TakenDeposits = {
  readonly entries: readonly Entry[];
  readonly changes: readonly Change[];
};

/** Inserts deposits; a reference that is known already, or that a bank line has, is a conflict. */
export async function takeDeposits(
  tx: Tx,
  deposits: readonly NewDeposit[],
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
  await recordByHand(tx, deposits);
  const taken = new Set(await insertDeposits(tx, rows));
  const known = rows.find((row) => !taken.has(row.reference));
  if (known) throw referenceUsed(known.reference);
  return {
    entries: rows.map((row, at) => buildDepositEntry(row, deposits[at]?.from)),
    changes: rows.map(buildDepositChange),
  };
}

/** The sandbox has no bank, so nothing there comes twice. */
async function recordByHand(tx: Tx, deposits: readonly NewDeposit[]): Promise<void> {
  const rows = deposits
    .filter(({ environment, lineId }) => environment === "live" && lineId === undefined)
    .map(({ environment, reference }) => ({ environment, reference, line_id: null }));
  const [first] = rows;
  if (!first) return;
  await insertReferences(tx, rows);
  const references = rows.map(({ reference }) => reference);
  await refuseBankReferences(tx, first.environment, references);
}

function buildDepositEntry(
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

function buildDepositChange(row: DepositRow) {
  const facts = toDepositFacts(row);
  return {
    ...describeDeposit(row, 1),
    action: "deposit.take",
    after: facts,
    event: { name: "deposit.received", from: null, to: facts.status, data: facts },
  } satisfies Change;
}

function describeDeposit({ environment, reference, desk_id, firm_id }: DepositRow, version: 1 | 2) {
  const href = `/v1/deposits?firm_id=${firm_id}`;
  const entity = { type: "deposit", id: reference, version, href } as const;
  return { environment, deskId: desk_id, firmId: firm_id, entity };
}

type TakeBack = {
  readonly reason: string;
  readonly by: Actor;
  readonly now: Date;
  /** The account that holds it from now on; the bank when left out. */
  readonly to?: Account | undefined;
};

/** Takes a deposit out of its firm's balance again. The caller writes the entry. */
export async function takeBackDeposit(
  tx: Tx,
  deposit: DepositRow,
  { reason, by, now, to = { kind: "external_bank" } }: TakeBack,
): Promise<{ readonly entry: Entry; readonly change: Change }> {
  const { environment, reference, firm_id: firmId, paise } = deposit;
  await insertReversals(tx, [{ environment, reference, reason, reversed_by: by.id, at: now }]);
  const facts = toDepositFacts(deposit, { at: now });
  const movement = { from: { kind: "firm_cash", firmId }, to, paise } as const;
  return {
    entry: {
      environment,
      kind: "refund",
      subject: reference,
      phase: "posted",
      movements: [movement],
    },
    change: {
      ...describeDeposit(deposit, 2),
      action: "deposit.reverse",
      after: facts,
      event: { name: "deposit.returned", from: "received", to: facts.status, data: facts },
    },
  };
}

/** Deposits by reference. */
export async function findDepositsByReference(
  db: Db,
  environment: Environment,
  references: readonly string[],
): Promise<ReadonlyMap<string, DepositRow>> {
  if (references.length === 0) return new Map();
  const rows = await listDeposits(db, environment, references);
  return new Map(rows.map((row) => [row.reference, row]));
}

export async function listDepositsForSettlement(
  db: Db,
  settlementId: string,
): Promise<readonly DepositRow[]> {
  return await listDepositsFor(db, settlementId);
}
