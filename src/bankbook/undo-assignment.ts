// Takes back what an operator said of a line: its money waits in the queue again. A firm gives back what
// came, out of what it has free. What a deal, a payout or dues have taken is not there any more: those
// are ended or paid back first.

import { lockTradingFirms } from "../firms/find-firms.ts";
import { type Actor, refuseBadReason } from "../kernel/actor.ts";
import { advance } from "../kernel/lifecycle.ts";
import { rupeesText } from "../kernel/money.ts";
import { readBalances } from "../ledger/read-books.ts";
import { insufficientFunds } from "../ledger/rules.ts";
import { writeBooks } from "../ledger/write-books.ts";
import { actWithApproval, type ProposedAct, tellOutcome } from "../operators/act-with-approval.ts";
import { type ApprovalKind, type Prepared, validHoursUsual } from "../operators/approval-kind.ts";
import { twoPeopleFromPaise } from "../operators/approval-rules.ts";
import { findDepositsByReference, findReversed, takeBackDeposit } from "../payouts/deposits.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { assertHoldsWritten } from "../settlement/open-settlements.ts";
import {
  applyDecision,
  buildLineChange,
  findBankLine,
  house,
  lockBankLine,
  nobodys,
  showLine,
} from "./decide-line.ts";
import { isMoneyMoved } from "./fund-deal.ts";
import { bankLineLifecycle } from "./rules.ts";
import { type BankLineRow, listExplainedDeposits, setLines } from "./store.ts";

type UndoAssignment = {
  readonly lineId: string;
  readonly reason: string;
  readonly twoFromPaise?: number | undefined;
};

export async function undoAssignment(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { lineId, reason, twoFromPaise = twoPeopleFromPaise }: UndoAssignment,
): Promise<ProposedAct | { readonly outcome: "queued" }> {
  refuseBadReason(reason);
  const line = await findBankLine(ctx, lineId);
  const acted = await actWithApproval(ctx, operator, {
    kind: assignmentUndoing,
    environment: line.environment,
    subjectId: lineId,
    terms: { reason },
    people: line.paise >= twoFromPaise ? 2 : 1,
    alonePerDayPaise: twoFromPaise,
  });
  return tellOutcome(acted, "queued");
}

export const assignmentUndoing: ApprovalKind<{ readonly reason: string }> = {
  name: "bank.undo",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  isPassing: isMoneyMoved,
  async prepare(tx, { subjectId, terms: { reason } }, now): Promise<Prepared> {
    const line = await lockBankLine(tx, subjectId);
    const { environment, paise, firm_id: firmId, version } = line;
    const state = advance(bankLineLifecycle, line.state, "undo");
    if (firmId !== null) await refuseSpent(tx, line, firmId);
    return {
      summary: `${rupeesText(paise)} rupees of ${line.day} are ${firmId ?? "the house"}'s no longer and wait again: ${reason}`,
      valuePaise: paise,
      facts: { line_id: subjectId, paise, firm_id: firmId, version },
      shows: [showLine(line, { firm_id: firmId, deal_id: line.deal_id })],
      async carryOut(actor) {
        const decided = { state, reason, by: actor, now };
        const after = { ...applyDecision(line, decided), firm_id: null, deal_id: null };
        const change = buildLineChange("undo", after);
        if (firmId === null) {
          const entry = {
            environment,
            kind: "fee",
            subject: subjectId,
            ordinal: after.version,
          } as const;
          const [from, to] = line.direction === "credit" ? [house, nobodys] : [nobodys, house];
          const movements = [{ from, to, paise }];
          const entries = [{ ...entry, phase: "posted", movements }] as const;
          assertHoldsWritten((await writeBooks(tx, { entries }, now)).entries);
          await setLines(tx, [after]);
          return { changes: [change] };
        }
        const deposit = await findAssignedDeposit(tx, line);
        const back = { reason, by: actor, now, to: nobodys };
        const taken = await takeBackDeposit(tx, deposit, back);
        assertHoldsWritten((await writeBooks(tx, { entries: [taken.entry] }, now)).entries);
        await setLines(tx, [after]);
        return { changes: [taken.change, change] };
      },
    };
  },
};

/** The lock serializes this with whatever else spends the firm's money. */
async function refuseSpent(
  tx: Tx,
  { environment, paise, line_id }: BankLineRow,
  firmId: string,
): Promise<void> {
  await tx.run(lockTradingFirms([firmId]));
  const [balance] = await readBalances(tx, environment, [firmId]);
  const available = balance?.available_paise ?? 0;
  if (available >= paise) return;
  const message = `${firmId} has ${available} paise free of the ${paise} that ${line_id} brought`;
  throw insufficientFunds(message, available);
}

/** Of the deposits that a line made, the one that was not taken back. */
async function findAssignedDeposit(tx: Tx, { environment, line_id }: BankLineRow) {
  const references = await listExplainedDeposits(tx, line_id);
  const deposits = await findDepositsByReference(tx, environment, references);
  const reversed = await findReversed(tx, environment, [...deposits.keys()]);
  const [deposit] = [...deposits.values()].filter(({ reference }) => !reversed.has(reference));
  if (!deposit) throw new Error("what was assigned to a firm is a deposit");
  return deposit;
}
