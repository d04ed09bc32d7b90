import { takeTwo } from "../approvals/take-two.ts";
import { recordChanges } from "../events/record-changes.ts";
import type { FirmOfDesk } from "../firms/firm-of-desk.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { utrForm } from "../kernel/utr.ts";
import { ledgerIsSound } from "../ledger/check-ledger.ts";
import { entriesAbout } from "../ledger/read-books.ts";
import { assertWritten, type Entry } from "../ledger/rules.ts";
import { postEntries } from "../ledger/write-books.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres.ts";
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
  const now = ctx.now();
  const desk = await deskOfOperator(ctx, firmId);
  return await ctx.db.transaction(async (tx) => {
    const payment = paymentOf(desk, { paise, utr });
    if (await isPaid(tx, payment)) return "paid";
    if (!(await ledgerIsSound(tx, now))) {
      throw new Failure("conflict", "the books do not hold", {
        detail: { reason: "ledger_broken" },
      });
    }
    if (desk.environment === "live" && paise >= twoFromPaise) {
      const terms = { firm_id: firmId, paise };
      const proposal = { action: "commission.pay", subjectId: utr, terms, operator, now } as const;
      if ((await takeTwo(tx, proposal)) === "proposed") {
        await recordChanges(tx, operator, [changeOf("propose_pay", desk, { paise, utr })], now);
        return "proposed";
      }
    }
    await post(tx, payment, now);
    await recordChanges(tx, operator, [changeOf("pay", desk, { paise, utr })], now);
    return "paid";
  });
}

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
async function isPaid(tx: Tx, { environment, kind, subject, movements }: Entry): Promise<boolean> {
  const [known] = await entriesAbout(tx, { environment, kind, subject });
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
