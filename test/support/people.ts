// People as a service knows them, and live deals that they decide about.

import { addOperator } from "../../src/operators/add-operator.ts";
import { enrolOperator } from "../../src/operators/enrol-operator.ts";
import { signIn, type SignedIn } from "../../src/operators/sign-in.ts";
import { codeAt, fromBase32, stepAt } from "../../src/operators/totp.ts";
import { approvalKinds } from "../../src/approval-kinds.ts";
import { approveProposal } from "../../src/approvals/decide-approval.ts";
import { attestSubjects } from "../../src/inquiries/attest-subjects.ts";
import { type Actor, operator, operatorNamed, type OperatorRole } from "../../src/kernel/actor.ts";
import { appliers } from "../../src/workers.ts";
import type { Service } from "./service.ts";
import { addCredit, house, makeDeal, openTestDesk, payoutsOf } from "./settlements.ts";

export const password = "correct horse battery";

export type TestPerson = {
  readonly name: string;
  readonly role: OperatorRole;
  readonly actor: Actor;
  readonly secret: Buffer;
  /** A code that was not used yet; turns the clock to the next step. */
  readonly code: () => string;
  readonly signIn: () => Promise<SignedIn>;
};

/** Adds a person, with the word of two admins where it takes two, and enrols them. */
export async function addPerson(
  service: Pick<Service, "ctx" | "clock">,
  { name, role, by = [] }: { name: string; role: OperatorRole; by?: readonly TestPerson[] },
): Promise<TestPerson> {
  const { ctx, clock } = service;
  const [first, second] = by;
  const added = await addOperator(ctx, first?.actor ?? operator, { name, role });
  const codes = [added.code];
  if (added.outcome === "proposed") {
    const { answer } = await approveProposal(ctx, second?.actor ?? operator, {
      approvalId: added.approval_id ?? "",
      kinds: approvalKinds,
    });
    codes.push((answer as { readonly code: string }).code); // What letting somebody in answers.
  }
  const { totp_secret } = await enrolOperator(ctx, { name, codes, password });
  const secret = fromBase32(totp_secret);
  const code = () => {
    clock.advance({ seconds: 30 });
    return codeAt(secret, stepAt(clock.now()));
  };
  return {
    name,
    role,
    actor: { ...operatorNamed(name), role },
    secret,
    code,
    signIn: async () => await signIn(ctx, { name, password, code: code() }),
  };
}

/** A desk's firm with an account, which sold a credit to the house in live and was delivered. */
export async function sellLive(service: Service, paise: number) {
  const seller = await openTestDesk(service, "live");
  await giveAccount(service, seller.firmId);
  const scripNo = await addCredit(service, seller);
  const legs = [{ seller, scripNo, sellerPaise: paise, buyerPaise: paise }];
  const settlementId = await makeDeal(service, { environment: "live", buyer: house("live"), legs });
  await service.work();
  const seen = [
    {
      subjectId: settlementId,
      answer: { outcome: "transferred" as const },
      reference: "ICEGATE-1",
    },
  ];
  await attestSubjects(service.ctx, operator, { kind: "credit_transfer", seen, appliers });
  const [payout] = await payoutsOf(service, seller);
  return { seller, settlementId, payoutId: payout.payout_id as string };
}

export async function giveAccount({ ctx }: Service, firmId: string, last4 = "5678") {
  await ctx.db.pool.query(
    `update firms set bank_sealed = '\\x00', bank_last4 = $2, bank_ifsc = 'HDFC0000001',
      bank_name = legal_name
    where firm_id = $1`,
    [firmId, last4],
  );
}
