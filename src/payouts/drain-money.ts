// A firm that leaves takes its money along: what it owes us is taken out of what it has, and the rest
// is paid out. What came back from the same account is not sent there again by itself: another account
// or the operator has to come first.

import type { Blocker, LeavingFirm } from "../firms/offboard-firm.ts";
import { payeesOf } from "../firms/payees.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { newId } from "../kernel/ids.ts";
import { asAmount, type PaiseSum } from "../kernel/sums.ts";
import { balancesOf } from "../ledger/read-books.ts";
import { assertWritten, type Entry } from "../ledger/rules.ts";
import { postEntries } from "../ledger/write-books.ts";
import type { Tx } from "../platform/postgres.ts";
import { accountOf, type Payee } from "./rules.ts";
import { schedulePayouts } from "./schedule-payouts.ts";
import { findLastWithdrawal } from "./store.ts";

async function moneyLeft(tx: Tx, { environment, firmId }: LeavingFirm) {
  const [balance] = await balancesOf(tx, environment, [firmId]);
  return {
    available: asAmount(balance?.available_paise ?? 0),
    dues: asAmount(balance?.dues_paise ?? 0),
  };
}

/** The money of a firm, and what it owes, keep it from leaving. */
export async function listMoneyLeft(tx: Tx, firm: LeavingFirm): Promise<Blocker[]> {
  const { available, dues } = await moneyLeft(tx, firm);
  const href = `/v1/positions?firm_id=${firm.firmId}`;
  const blocker = (type: string, amount: PaiseSum): Blocker[] =>
    amount > 0 ? [{ type, id: firm.firmId, href, amount_paise: asAmount(amount) }] : [];
  return [...blocker("balance", available), ...blocker("dues", dues)];
}

/** Puts the firm's balance on its way out; returns the changes, which are recorded last. */
export async function drainMoney(
  tx: Tx,
  _actor: Actor,
  firm: LeavingFirm,
  now: Date,
): Promise<readonly Change[]> {
  const { environment, deskId, firmId } = firm;
  const { available, dues } = await moneyLeft(tx, firm);
  const owed = Math.min(available, dues);
  const left = dues > owed ? 0 : available - owed;
  const payee = (await payeesOf(tx, [firmId], now)).get(firmId);
  const isPaid = left > 0 && payee && !(await cameBack(tx, firm, payee));
  const earning = { environment, deskId, firmId, settlementId: null, lines: [] };
  const { entries, changes } = await schedulePayouts(
    tx,
    isPaid ? [{ ...earning, withdrawnPaise: left }] : [],
    now,
  );
  assertWritten(await postEntries(tx, [...settleDues(firm, owed, now), ...entries], now));
  return [...changes, ...(owed > 0 ? [changeOfDues(firm, dues, dues - owed)] : [])];
}

function changeOfDues(
  { environment, deskId, firmId }: LeavingFirm,
  before: number,
  after: number,
): Change {
  const href = `/v1/positions?firm_id=${firmId}`;
  return {
    environment,
    deskId,
    firmId,
    action: "dues.settle",
    entity: { type: "dues", id: firmId, version: 1, href },
    before: { dues_paise: before },
    after: { dues_paise: after },
  };
}

function settleDues({ environment, firmId }: LeavingFirm, paise: number, now: Date): Entry[] {
  if (paise === 0) return [];
  return [
    {
      environment,
      kind: "dues",
      subject: newId("pay", now),
      phase: "posted",
      movements: [
        { from: { kind: "firm_cash", firmId }, to: { kind: "firm_dues", firmId }, paise },
      ],
    },
  ];
}

async function cameBack(
  tx: Tx,
  { environment, deskId, firmId }: LeavingFirm,
  payee: Payee,
): Promise<boolean> {
  const last = await findLastWithdrawal(tx, deskId, firmId);
  const account = accountOf(payee, environment);
  if (last?.state !== "returned") return false;
  return last.ifsc === (account?.ifsc ?? null) && last.last4 === (account?.last4 ?? null);
}
