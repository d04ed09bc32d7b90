// People as a service knows them, and live deals that they decide about.

import { addOperator } from "../../src/operators/manage-operators.ts";
import { commandLine } from "../../src/operators/limit-attempts.ts";
import { beginEnrolment, confirmEnrolment, type NewFactor } from "../../src/operators/enrol.ts";
import { type SignedIn, signIn } from "../../src/operators/sign-in.ts";
import { computeCode, fromBase32, computeStep } from "../../src/operators/credentials.ts";
import { approvalKinds } from "../../src/approval-kinds.ts";
import { approveProposal } from "../../src/operators/decide-approval.ts";
import { type Actor, operator, namedOperator, type OperatorRole } from "../../src/kernel/actor.ts";
import { liveSeller, sellLive } from "./live-sales.ts";
import type { Service } from "./service.ts";
import { listPayouts } from "./settlements.ts";

export const password = "correct horse battery";
/** Hashing at the service's own cost would take most of the time of tests with people. */
const passwordCost = { N: 1_024, r: 8, p: 1 };

export type TestPerson = {
  readonly name: string;
  readonly role: OperatorRole;
  readonly actor: Actor;
  readonly secret: Buffer;
  readonly recoveryCodes: readonly string[];
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
  const { secret, recovery_codes: recoveryCodes } = await enrolPerson(service, { name, codes });
  const code = () => {
    clock.advance({ seconds: 30 });
    return computeCode(secret, computeStep(clock.now()));
  };
  return {
    name,
    role,
    actor: { ...namedOperator(name), role },
    secret,
    recoveryCodes,
    code,
    signIn: async () => await signIn(ctx, { name, password, code: code(), from: commandLine }),
  };
}

/** Enrols somebody who was let in, and confirms with the code of this moment. */
export async function enrolPerson(
  { ctx, clock }: Pick<Service, "ctx" | "clock">,
  who: { readonly name: string; readonly codes: readonly string[] },
): Promise<NewFactor & { readonly secret: Buffer }> {
  const asked = { ...who, from: commandLine };
  const { ticket, totp_secret } = await beginEnrolment(ctx, { ...asked, password, passwordCost });
  const secret = fromBase32(totp_secret);
  const code = computeCode(secret, computeStep(clock.now()));
  return { ...(await confirmEnrolment(ctx, { ...asked, ticket, code })), secret };
}

/** A firm with an account that sold a credit to the house in live and is to be paid. */
export async function settleLiveSale(service: Service, paise: number) {
  const seller = await liveSeller(service);
  const [settlementId = ""] = await sellLive(service, seller, paise);
  const [payout] = await listPayouts(service, seller);
  return { seller, settlementId, payoutId: payout.payout_id as string };
}
