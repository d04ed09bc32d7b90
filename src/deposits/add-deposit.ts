import { actWithApproval } from "../approvals/act-with-approval.ts";
import { type ApprovalKind, validHoursUsual } from "../approvals/kind.ts";
import { twoPeopleFromPaise } from "../approvals/rules.ts";
import { operatorOn } from "../firms/doer.ts";
import { refuseOffboarded } from "../firms/firm-of-caller.ts";
import { firmOfDesk } from "../firms/firm-of-desk.ts";
import { tradingFirms } from "../firms/trading-firms.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { utrForm } from "../kernel/utr.ts";
import { assertWritten } from "../ledger/rules.ts";
import { postEntries } from "../ledger/write-books.ts";
import type { Context } from "../platform/context.ts";
import { type DepositRow, findDeposit } from "./store.ts";
import { takeDeposits } from "./take-deposits.ts";

export type AddDeposit = {
  readonly environment: Environment;
  readonly firmId: string;
  readonly paise: number;
  readonly reference: string;
  /** From which amount on live money takes two people. */
  readonly twoFromPaise?: number;
};

export type AddedDeposit =
  | { readonly outcome: "added" | "known"; readonly deposit: DepositRow }
  | { readonly outcome: "proposed"; readonly approval_id: string };

/**
 * Money that a firm has paid in ahead of its deals. The bank's reference names it: adding it again
 * finds it, and another firm or amount under it is a conflict. Large sums count once a second person
 * has approved them: nobody makes money by a word of their own.
 */
export async function addDeposit(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { environment, firmId, paise, reference, twoFromPaise = twoPeopleFromPaise }: AddDeposit,
): Promise<AddedDeposit> {
  if (!utrForm.test(reference)) {
    throw unprocessable({ path: "reference", problem: "must be 12 to 22 capitals and digits" });
  }
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
    return { outcome: "proposed", approval_id: acted.approval.approval_id };
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
    const { deskId } = await operatorOn({ db: tx }, firmId);
    const firm = await firmOfDesk(tx, deskId, firmId);
    if (firm.environment !== environment) {
      throw new Failure("not_found", `${firmId} is not a firm of ${environment}`);
    }
    const known = await findDeposit(tx, environment, reference);
    if (known && (known.firm_id !== firmId || known.paise !== paise)) {
      throw new Failure("conflict", `${reference} brought other money`, {
        detail: { reason: "reference_used", firm_id: known.firm_id, paise: known.paise },
      });
    }
    // Locked, so that a firm which is leaving has left, or stays until its money is seen.
    const [locked] = known ? [] : (await tradingFirms(tx, [firmId])).values();
    if (locked) refuseOffboarded(locked);
    return {
      summary: `${paise} paise that came as ${reference} become the balance of ${firm.legal_name} (${firmId})`,
      // What is known already counts no more.
      valuePaise: known ? 0 : paise,
      facts: { firm_id: firmId, paise, known: known !== undefined },
      async carryOut() {
        if (known) return { changes: [], answer: { wasKnown: true } };
        const deposit = { environment, reference, deskId, firmId, paise, settlementId: null };
        const { entries, changes } = await takeDeposits(tx, [deposit], now);
        assertWritten(await postEntries(tx, entries, now));
        return { changes, answer: { wasKnown: false } };
      },
    };
  },
};
