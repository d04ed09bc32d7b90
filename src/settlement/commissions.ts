import { requireAnyFirm, type FirmOfDesk } from "../firms/find-firms.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { isHouse, refuseBadUtr } from "../kernel/ids.ts";
import { type Bps, rupeesText } from "../kernel/money.ts";
import { ledgerIsSound } from "../ledger/check-ledger.ts";
import { entriesAbout, readBalances } from "../ledger/read-books.ts";
import { accountFirm, assertWritten, type Entry, insufficientFunds } from "../ledger/rules.ts";
import { postEntries } from "../ledger/write-books.ts";
import { actWithApproval, tellOutcome, type ProposedAct } from "../operators/act-with-approval.ts";
import { type ApprovalKind, validHoursUsual } from "../operators/approval-kind.ts";
import { utrUsed } from "../payouts/rules.ts";
import type { Context } from "../platform/context.ts";
import type { Db, Query, Tx } from "../platform/postgres/postgres.ts";
import { findCurrentCards, findMidsAt } from "../rates/current-cards.ts";
import { findLeastKept, type RateCard } from "../rates/rules.ts";
import {
  capCommissions,
  commissionBpsDefault,
  commissionBpsMax,
  computeCommission,
  computeKept,
  isPayment,
  buildPayment,
  buildClawbacks,
} from "./commission-rules.ts";
import type { CommissionedLeg } from "./decide-legs.ts";
import { listCommissionRates, upsertCommissionRate } from "./store.ts";

/** The current rate of each desk. */
export function findCommissionRates(deskIds: readonly string[]): Query<ReadonlyMap<string, Bps>> {
  return listCommissionRates(deskIds).map((known) => {
    const set = new Map(known.map(({ desk_id, bps }) => [desk_id, bps]));
    return new Map(deskIds.map((deskId) => [deskId, set.get(deskId) ?? commissionBpsDefault]));
  });
}

type SetCommission = { readonly firmId: string; readonly bps: number };

type CommissionSet = {
  readonly firm_id: string;
  readonly legal_name: string;
  readonly commission_bps: number;
  readonly was_bps: number;
  /** Null where the house keeps at least the commission of every deal. */
  readonly warning: string | null;
};

/**
 * Sets a desk's rate for deals that settle from now on. A rate that is more than the house keeps of
 * some deals is taken with a warning: of those, the desk gets what the house keeps.
 */
export async function setCommission(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { firmId, bps }: SetCommission,
): Promise<CommissionSet> {
  if (bps > commissionBpsMax) {
    throw unprocessable({ path: "bps", problem: `must be from 0 to ${commissionBpsMax}` });
  }
  const now = ctx.now();
  const { environment, legal_name } = await findDesk(ctx, firmId);
  return await ctx.db.transaction(async (tx) => {
    const was = (await tx.run(findCommissionRates([firmId]))).get(firmId) ?? 0;
    const { version } = await upsertCommissionRate(tx, {
      desk_id: firmId,
      environment,
      bps,
      updated_at: now,
    });
    const change = {
      environment,
      deskId: firmId,
      firmId,
      action: "commission.set",
      entity: { type: "commission", id: firmId, version, href: "/v1/earnings" },
      before: { commission_bps: was },
      after: { commission_bps: bps },
    };
    await recordChanges(tx, operator, [change], now);
    const cards = await findCurrentCards(tx, environment);
    const warning = warnOfCap(bps, [...cards.values()]) ?? null;
    return { firm_id: firmId, legal_name, commission_bps: bps, was_bps: was, warning };
  });
}

/** On which deals of the cards in force a rate is not paid in full. */
function warnOfCap(bps: Bps, cards: readonly RateCard[]): string | undefined {
  const capped = cards.flatMap((card) => {
    const { asPartyBps, betweenBps } = findLeastKept(card);
    return [
      ...(bps > asPartyBps ? [`${asPartyBps} bps of ${card.scheme} deals with the house`] : []),
      ...(2 * bps > betweenBps
        ? [`${betweenBps} bps, for both sides, of ${card.scheme} deals between clients`]
        : []),
    ];
  });
  if (capped.length === 0) return undefined;
  return `the house keeps as little as ${capped.join(", ")}; a commission is at most what it keeps`;
}

/** Builds the entries that pay commissions; the caller writes them. */
export async function payCommissions(
  tx: Tx,
  environment: Environment,
  earned: readonly CommissionedLeg[],
): Promise<Entry[]> {
  if (earned.length === 0) return [];
  const deskIds = earned.flatMap(({ sides }) => sides.map(({ deskId }) => deskId));
  const moments = earned.map(({ scheme, dealtAt }) => ({ scheme, at: dealtAt }));
  const [rates, mids] = await tx.pipeline([
    findCommissionRates([...new Set(deskIds)]),
    findMidsAt(environment, moments),
  ]);
  return earned.flatMap(({ dealt, sides }, at) => {
    const wanted = sides.map((side) =>
      computeCommission(side.facePaise, rates.get(side.deskId) ?? 0),
    );
    const paid = capCommissions(wanted, computeKept(dealt, mids[at]));
    return sides.flatMap((side, place) => buildPayment(side, paid[place] ?? 0));
  });
}

type PayOutCommission = {
  readonly firmId: string;
  readonly paise: number;
  readonly utr: string;
  /** From which amount on live money takes two operators. */
  readonly twoFromPaise: number;
};

/**
 * Records that the operator paid a desk its commission against the desk's invoice, under the UTR of the
 * bank. A repeated call changes nothing; large live amounts take a second operator.
 */
export async function payOutCommission(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { firmId, paise, utr, twoFromPaise }: PayOutCommission,
): Promise<ProposedAct | { readonly outcome: "paid" }> {
  refuseBadUtr("utr", utr);
  const desk = await findDesk(ctx, firmId);
  if (await isPaid(ctx.db, buildPaymentEntry(desk, { paise, utr }))) return { outcome: "paid" };
  const acted = await actWithApproval(ctx, operator, {
    kind: commissionPayment,
    environment: desk.environment,
    subjectId: utr,
    terms: { firm_id: firmId, paise },
    people: paise >= twoFromPaise ? 2 : 1,
    alonePerDayPaise: twoFromPaise,
  });
  return tellOutcome(acted, "paid");
}

export const commissionPayment: ApprovalKind<{ readonly firm_id: string; readonly paise: number }> =
  {
    name: "commission.pay",
    proposers: ["settlement"],
    approvers: ["settlement"],
    validHours: validHoursUsual,
    async prepare(tx, { subjectId: utr, terms: { firm_id, paise } }, now) {
      const desk = await findDesk({ db: tx }, firm_id);
      const payment = buildPaymentEntry(desk, { paise, utr });
      const wasPaid = await isPaid(tx, payment);
      if (!(await ledgerIsSound(tx, now))) {
        throw new Failure("conflict", "the books do not hold", {
          detail: { reason: "ledger_broken" },
        });
      }
      return {
        summary: `${rupeesText(paise)} rupees of commission were paid to ${desk.legal_name} (${firm_id}) as ${utr}`,
        valuePaise: paise,
        facts: { firm_id, paise },
        shows: [{ title: "Commission", rows: [{ firm_id, amount_paise: paise, utr }] }],
        proposal: [buildPaymentChange("propose_pay", desk, { paise, utr })],
        async carryOut() {
          if (wasPaid) return { changes: [] };
          await postPayment(tx, payment, now);
          return { changes: [buildPaymentChange("pay", desk, { paise, utr })] };
        },
      };
    },
  };

/** Builds the entries that claw back what was paid for a settlement; the caller writes them. */
export async function clawBackCommissions(
  tx: Tx,
  environment: Environment,
  settlementId: string,
): Promise<Entry[]> {
  const written = await entriesAbout(tx, {
    environment,
    kind: "commission",
    subject: settlementId,
  });
  const paid = written
    .filter(({ ordinal }) => isPayment(ordinal))
    .flatMap(({ ordinal, movements }) =>
      movements.map((movement) => ({
        environment,
        subject: settlementId,
        ordinal,
        deskId: accountFirm(movement.to_account) ?? "",
        paise: movement.amount,
      })),
    );
  const deskIds = [...new Set(paid.map(({ deskId }) => deskId))];
  const balances = await readBalances(tx, environment, deskIds);
  const left = new Map(balances.map((balance) => [balance.firm_id, balance.commission_paise]));
  return buildClawbacks(paid, left);
}

/** Finds a desk by its own firm; a client firm earns no commission. */
async function findDesk(ctx: { readonly db: Db }, firmId: string): Promise<FirmOfDesk> {
  const firm = await requireAnyFirm(ctx.db, firmId);
  if (firm.desk_id === firmId && !isHouse(firmId)) return firm;
  throw new Failure("conflict", `${firmId} is no desk: name the desk's own firm`, {
    detail: { reason: "not_a_desk" },
  });
}

/** Whether this payment was recorded before; a different payment under the same UTR is refused. */
async function isPaid(db: Db, { environment, kind, subject, movements }: Entry): Promise<boolean> {
  const [known] = await entriesAbout(db, { environment, kind, subject });
  if (!known) return false;
  const [written] = known.movements;
  const [asked] = movements;
  const isSame =
    asked !== undefined &&
    "paise" in asked &&
    "firmId" in asked.from &&
    written?.amount === asked.paise &&
    written.from_account.endsWith(`:${asked.from.firmId}`);
  if (isSame) return true;
  throw utrUsed(`${subject} names another payment`);
}

type Payment = Pick<PayOutCommission, "paise" | "utr">;

function buildPaymentEntry(desk: FirmOfDesk, { paise, utr }: Payment): Entry {
  return {
    environment: desk.environment,
    kind: "payout",
    subject: utr,
    phase: "posted",
    movements: [
      {
        from: { kind: "desk_commission", firmId: desk.firm_id },
        to: { kind: "external_bank" },
        paise,
      },
    ],
  };
}

function buildPaymentChange(
  action: "pay" | "propose_pay",
  { environment, firm_id }: FirmOfDesk,
  { paise, utr }: Payment,
): Change {
  return {
    environment,
    deskId: firm_id,
    firmId: firm_id,
    action: `commission.${action}`,
    entity: { type: "commission_payment", id: utr, version: 1, href: "/v1/earnings" },
    after: { utr, paise },
  };
}

async function postPayment(tx: Tx, payment: Entry, now: Date): Promise<void> {
  const written = await postEntries(tx, [payment], now);
  const [result] = written;
  if (result && !result.ok && result.refusal.reason === "insufficient_funds") {
    const { availablePaise } = result.refusal;
    const message = `the desk has ${availablePaise} paise of commission with us`;
    throw insufficientFunds(message, availablePaise);
  }
  assertWritten(written);
}
