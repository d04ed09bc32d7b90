// Takes back a deposit that a person entered by mistake. The deposit and its reversal explain each
// other, so no line of the bank explains either of them from then on.

import { lockTradingFirms } from "../firms/find-firms.ts";
import { type Actor, refuseBadReason } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { refuseBadUtr } from "../kernel/ids.ts";
import { rupeesText } from "../kernel/money.ts";
import { readBalances } from "../ledger/read-books.ts";
import { insufficientFunds } from "../ledger/rules.ts";
import { writeBooks } from "../ledger/write-books.ts";
import { actWithApproval, type ProposedAct } from "../operators/act-with-approval.ts";
import { type ApprovalKind, type Prepared, validHoursUsual } from "../operators/approval-kind.ts";
import { twoPeopleFromPaise } from "../operators/approval-rules.ts";
import { findDepositsByReference, takeBackDeposit } from "../payouts/deposits.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { assertHoldsWritten } from "../settlement/open-settlements.ts";
import { isMoneyMoved } from "./fund-deal.ts";
import { findExplanation, insertExplained } from "./store.ts";

type ReverseDeposit = {
  readonly environment: Environment;
  readonly reference: string;
  readonly reason: string;
  readonly twoFromPaise?: number | undefined;
};

export async function reverseDeposit(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { environment, reference, reason, twoFromPaise = twoPeopleFromPaise }: ReverseDeposit,
): Promise<ProposedAct | { readonly outcome: "reversed" | "known" }> {
  refuseBadUtr("reference", reference);
  refuseBadReason(reason);
  const { paise } = await loadDeposit(ctx.db, environment, reference);
  const name = { environment, kind: "deposit", subject: reference };
  const isReversed = (await findExplanation(ctx.db, name)) === null;
  const acted = await actWithApproval(ctx, operator, {
    kind: depositReversal,
    environment,
    subjectId: reference,
    terms: { reason },
    people: paise >= twoFromPaise && !isReversed ? 2 : 1,
    alonePerDayPaise: twoFromPaise,
  });
  if (acted.outcome === "proposed") return acted;
  const { wasKnown } = acted.answer as { readonly wasKnown: boolean }; // What the kind answers.
  return { outcome: wasKnown ? "known" : "reversed" };
}

export const depositReversal: ApprovalKind<{ readonly reason: string }> = {
  name: "deposit.reverse",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  isPassing: isMoneyMoved,
  async prepare(tx, { environment, subjectId: reference, terms: { reason } }, now) {
    const deposit = await loadDeposit(tx, environment, reference);
    const { firm_id: firmId, paise } = deposit;
    // The lock serializes this with offboarding, which pays out what the firm has.
    await tx.run(lockTradingFirms([firmId]));
    const name = { environment, kind: "deposit", subject: reference };
    const lineId = await findExplanation(tx, name);
    const wasKnown = lineId === null;
    if (typeof lineId === "string") throw explainedByBank(reference, lineId);
    if (!wasKnown) {
      const [balance] = await readBalances(tx, environment, [firmId]);
      const available = balance?.available_paise ?? 0;
      if (available < paise) {
        const message = `${firmId} has ${available} paise free of the ${paise} that came as ${reference}`;
        throw insufficientFunds(message, available);
      }
    }
    return {
      summary: `${rupeesText(paise)} rupees that were entered as ${reference} leave the balance of ${firmId} again: ${reason}`,
      // What was reversed before moves no money.
      valuePaise: wasKnown ? 0 : paise,
      facts: { firm_id: firmId, paise, known: wasKnown },
      shows: [{ title: "Deposit", rows: [{ firm_id: firmId, amount_paise: paise, reference }] }],
      async carryOut(actor) {
        if (wasKnown) return { changes: [], answer: { wasKnown } };
        const { entry, change } = await takeBackDeposit(tx, deposit, { reason, by: actor, now });
        assertHoldsWritten((await writeBooks(tx, { entries: [entry] }, now)).entries);
        await insertExplained(tx, [
          { ...name, line_id: null },
          { ...name, kind: entry.kind, line_id: null },
        ]);
        return { changes: [change], answer: { wasKnown } };
      },
    } satisfies Prepared;
  },
};

async function loadDeposit(db: Db, environment: Environment, reference: string) {
  const deposit = (await findDepositsByReference(db, environment, [reference])).get(reference);
  if (!deposit) throw new Failure("not_found", `no deposit ${reference}`);
  return deposit;
}

function explainedByBank(reference: string, lineId: string): Failure {
  return new Failure("conflict", `the bank's line ${lineId} says that ${reference} came in`, {
    detail: { reason: "explained", reference, line_id: lineId },
  });
}
