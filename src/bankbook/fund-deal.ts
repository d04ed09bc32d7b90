import { findBuyers } from "../crosses/fund-cross.ts";
import { loadFirm, refuseOffboarded } from "../firms/find-firms.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { isId, refuseBadUtr } from "../kernel/ids.ts";
import { wrongState } from "../kernel/lifecycle.ts";
import { rupeesText } from "../kernel/money.ts";
import { writeBooks } from "../ledger/write-books.ts";
import { actWithApproval, type ProposedAct } from "../operators/act-with-approval.ts";
import { type ApprovalKind, type Prepared, validHoursUsual } from "../operators/approval-kind.ts";
import { dropQuestions } from "../outside/ask.ts";
import {
  findDepositsByReference,
  refuseBankReferences,
  refuseReversed,
  referenceUsed,
} from "../payouts/deposits.ts";
import { twoPeopleFromPaise } from "../operators/approval-rules.ts";
import type { Context } from "../platform/context.ts";
import { type Db, violatedConstraint } from "../platform/postgres/postgres.ts";
import { findSettlementBuyers } from "../settlement/fund-settlements.ts";
import { assertHoldsWritten, FundsMoved } from "../settlement/open-settlements.ts";
import { lockReceivers, takeMoney } from "./receive-money.ts";

type FundDeal = {
  /** The settlement or cross that the money is for. */
  readonly dealId: string;
  readonly paise: number;
  readonly reference: string;
  readonly twoFromPaise?: number | undefined;
};

export type DealFunding = ProposedAct | { readonly outcome: "known" | "received" | "funded" };

/**
 * Takes in money of any amount for a deal. It becomes the buyer's balance, and the deal is funded once
 * the balance covers it. A surplus stays available.
 */
export async function fundDeal(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { dealId, paise, reference, twoFromPaise = twoPeopleFromPaise }: FundDeal,
): Promise<DealFunding> {
  refuseBadUtr("reference", reference);
  const { firmId, environment } = await findBuyer(ctx.db, dealId);
  const known = (await findDepositsByReference(ctx.db, environment, [reference])).get(reference);
  if (known) {
    if (known.firm_id !== firmId || known.paise !== paise) throw referenceUsed(reference, known);
    await refuseReversed(ctx.db, environment, reference);
    return { outcome: "known" };
  }
  const acted = await actWithApproval(ctx, operator, {
    kind: dealFunding,
    environment,
    subjectId: reference,
    terms: { deal_id: dealId, paise },
    people: paise >= twoFromPaise ? 2 : 1,
    alonePerDayPaise: twoFromPaise,
  });
  if (acted.outcome === "proposed") return acted;
  const isFunded = acted.answer && "funded" in acted.answer && acted.answer.funded === true;
  return { outcome: isFunded ? "funded" : "received" };
}

export const dealFunding: ApprovalKind<{ readonly deal_id: string; readonly paise: number }> = {
  name: "deal.fund",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  isPassing: isMoneyMoved,
  async prepare(tx, { subjectId: reference, terms }, now): Promise<Prepared> {
    const { deal_id: dealId, paise } = terms;
    const { firmId, environment } = await findBuyer(tx, dealId);
    const locked = await lockReceivers(tx, [{ firmId, dealId }]);
    const state = locked.settlements[0]?.state ?? locked.crosses[0]?.state;
    if (state === undefined) throw new Error("a deal stays");
    refuseFunded(dealId, state);
    const firm = locked.firms.get(firmId);
    if (!firm) throw new Error("who buys is a firm");
    refuseOffboarded(firm);
    const known = (await findDepositsByReference(tx, environment, [reference])).get(reference);
    if (known) throw referenceUsed(reference, known);
    await refuseBankReferences(tx, environment, [reference]);
    return {
      summary: `${rupeesText(paise)} rupees came in for ${dealId} as ${reference}`,
      valuePaise: paise,
      facts: { deal_id: dealId, state, firm_id: firmId, paise },
      shows: [
        {
          title: "Money in",
          rows: [{ deal_id: dealId, firm_id: firmId, amount_paise: paise, reference }],
        },
      ],
      async carryOut() {
        const received = [{ firmId, dealId, paise, reference }];
        const taken = await takeMoney(tx, locked, { environment, received, now });
        assertHoldsWritten((await writeBooks(tx, { entries: taken.entries }, now)).entries);
        await dropQuestions(tx, { deal_funding: taken.fundedIds });
        return { changes: taken.changes, answer: { funded: taken.fundedIds.includes(dealId) } };
      },
    };
  },
};

/** Only a pending settlement or an agreed cross waits for money. */
function refuseFunded(dealId: string, state: string): void {
  if (state === "pending" || state === "agreed") return;
  throw wrongState(`${dealId} is ${state} and waits for no money`, { state });
}

/** The buyer of a settlement or cross. */
export async function findBuyer(
  db: Db,
  dealId: string,
): Promise<{ readonly firmId: string; readonly environment: Environment }> {
  const buyers = isId("stl", dealId)
    ? await findSettlementBuyers(db, [dealId])
    : await findBuyers(db, isId("crs", dealId) ? [dealId] : []);
  const firmId = buyers.get(dealId);
  if (firmId === undefined) throw new Failure("not_found", `no settlement or cross ${dealId}`);
  const { environment } = await loadFirm(db, firmId);
  return { firmId, environment };
}

const countedConstraints: ReadonlySet<string> = new Set([
  "bank_lines_once",
  "bank_line_entries_pkey",
]);

/**
 * Whether a balance fell, two files with the same line were applied at once, or a deposit was reversed
 * while a line explained it. The next attempt finds what the other has done.
 */
export function isMoneyMoved(error: unknown): boolean {
  return error instanceof FundsMoved || countedConstraints.has(violatedConstraint(error) ?? "");
}
