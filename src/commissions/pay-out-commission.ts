import { actWithApproval } from "../approvals/act-with-approval.ts";
import { type ApprovalKind, validHoursUsual } from "../approvals/kind.ts";
import type { FirmOfDesk } from "../firms/firm-of-desk.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { utrForm } from "../kernel/utr.ts";
import { ledgerIsSound } from "../ledger/check-ledger.ts";
import { entriesAbout } from "../ledger/read-books.ts";
import { assertWritten, type Entry } from "../ledger/rules.ts";
import { postEntries } from "../ledger/write-books.ts";
import type { Context } from "../platform/context.ts";
import type { Db, Tx } from "../platform/postgres.ts";
import { deskOfOperator } from "./desk-of-operator.ts";

export type PayOutCommission = {
  readonly firmId: string;
  readonly paise: number;
  readonly utr: string;
  /** From which amount on live money takes two operators. */
  readonly twoFromPaise: number;
};

/**
 * The operator has paid a desk its commission, against the desk's invoice, and the bank named the
 * payment. Saying so again changes nothing; large live amounts take the word of a second operator.
 */
export async function payOutCommission(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { firmId, paise, utr, twoFromPaise }: PayOutCommission,
): Promise<"proposed" | "paid"> {
  if (!utrForm.test(utr)) {
    throw unprocessable({ path: "utr", problem: "must be 12 to 22 capitals and digits" });
  }
  const desk = await deskOfOperator(ctx, firmId);
  if (await isPaid(ctx.db, paymentOf(desk, { paise, utr }))) return "paid";
  const { outcome } = await actWithApproval(ctx, operator, {
    kind: commissionPayment,
    environment: desk.environment,
    subjectId: utr,
    terms: { firm_id: firmId, paise },
    people: paise >= twoFromPaise ? 2 : 1,
    alonePerDayPaise: twoFromPaise,
  });
  return outcome === "done" ? "paid" : "proposed";
}

export const commissionPayment: ApprovalKind<{ readonly firm_id: string; readonly paise: number }> =
  {
    name: "commission.pay",
    proposers: ["settlement"],
    approvers: ["settlement"],
    validHours: validHoursUsual,
    async prepare(tx, { subjectId: utr, terms: { firm_id, paise } }, now) {
      const desk = await deskOfOperator({ db: tx }, firm_id);
      const payment = paymentOf(desk, { paise, utr });
      const wasPaid = await isPaid(tx, payment);
      if (!(await ledgerIsSound(tx, now))) {
        throw new Failure("conflict", "the books do not hold", {
          detail: { reason: "ledger_broken" },
        });
      }
      return {
        summary: `${paise} paise of commission were paid to ${desk.legal_name} (${firm_id}) as ${utr}`,
        valuePaise: paise,
        facts: { firm_id, paise },
        proposal: [changeOf("propose_pay", desk, { paise, utr })],
        async carryOut() {
          if (wasPaid) return { changes: [] };
          await post(tx, payment, now);
          return { changes: [changeOf("pay", desk, { paise, utr })] };
        },
      };
    },
  };

type Payment = Pick<PayOutCommission, "paise" | "utr">;

function paymentOf(desk: FirmOfDesk, { paise, utr }: Payment): Entry {
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

/** A command that was run again; another payment under the same reference is refused. */
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
  throw new Failure("conflict", `${subject} names another payment`, {
    detail: { reason: "utr_used" },
  });
}

async function post(tx: Tx, payment: Entry, now: Date): Promise<void> {
  const written = await postEntries(tx, [payment], now);
  const [result] = written;
  if (result && !result.ok && result.refusal.reason === "insufficient_funds") {
    const { availablePaise } = result.refusal;
    throw new Failure("conflict", `the desk has ${availablePaise} paise of commission with us`, {
      detail: { reason: "insufficient_funds", available_paise: availablePaise },
    });
  }
  assertWritten(written);
}

function changeOf(
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
    before: null,
    after: { utr, paise },
  };
}
