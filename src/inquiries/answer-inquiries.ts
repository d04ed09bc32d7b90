// How answers arrive.
//
//   simulated   sandbox: a worker answers what has fallen due, by pure rules of each port
//   attested    live: an operator answers what they saw, with a reference
//
// Either way the answer and what follows from it commit together. When somebody is changing what
// the answer is about, the set is given up and answered in a later run.

import type { Actor } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres.ts";
import { type Answered, type InquiryKind, simulate, type Simulators } from "./rules.ts";
import { claimDueInquiries, lockOpenInquiries, setAnswered, yieldToCallers } from "./store.ts";

/** What follows from answers of one kind; given all of a set at once. */
export type Appliers = {
  readonly [Kind in InquiryKind]: (
    tx: Tx,
    actor: Actor,
    answered: readonly Answered<Kind>[],
    now: Date,
  ) => Promise<void>;
};

export type Attestation = {
  readonly inquiryId: string;
  readonly answer: Answered["answer"];
  /** What the operator saw: a ticket, a screenshot's number, a letter. */
  readonly reference: string;
};

const setSizeMax = 200;
const simulation: Actor = { kind: "worker", id: "simulation", requestId: null };

/** One set of due sandbox inquiries; whether there may be more. */
export async function answerDueInquiries(
  ctx: Pick<Context, "db" | "now">,
  simulators: Simulators,
  appliers: Appliers,
): Promise<"more" | "idle"> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const due = await claimDueInquiries(tx, now, setSizeMax);
    if (due.length === 0) return "idle";
    const answered = due.map(
      (inquiry) =>
        ({
          ...inquiry,
          answer: simulate(simulators, inquiry),
          as_of: now,
          reference: null,
        }) as Answered, // The simulator of a kind answers in that kind's form.
    );
    await applyAnswers(tx, simulation, answered, appliers, now);
    return due.length === setSizeMax ? "more" : "idle";
  });
}

/** All or none: an operator's batch with one wrong id changes nothing. */
export async function attestInquiries(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  attestations: readonly Attestation[],
  appliers: Appliers,
): Promise<number> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const byId = new Map(attestations.map((attestation) => [attestation.inquiryId, attestation]));
    const open = await lockOpenInquiries(tx, [...byId.keys()]);
    const known = new Set(open.map(({ inquiry_id }) => inquiry_id));
    const missing = [...byId.keys()].filter((inquiryId) => !known.has(inquiryId));
    if (missing.length > 0) {
      throw new Failure("not_found", `no open inquiry ${missing.join(", ")}`);
    }
    const answered = open.map((inquiry) => {
      const attestation = byId.get(inquiry.inquiry_id);
      return {
        ...inquiry,
        answer: attestation?.answer,
        as_of: now,
        reference: attestation?.reference ?? null,
      } as Answered; // The command line builds answers by kind.
    });
    await applyAnswers(tx, operator, answered, appliers, now);
    return answered.length;
  });
}

async function applyAnswers(
  tx: Tx,
  actor: Actor,
  answered: readonly Answered[],
  appliers: Appliers,
  now: Date,
): Promise<void> {
  await setAnswered(tx, answered, actor.id);
  await yieldToCallers(tx);
  const identities = answered.filter((inquiry) => inquiry.kind === "firm_identity");
  const accounts = answered.filter((inquiry) => inquiry.kind === "bank_account");
  const holdings = answered.filter((inquiry) => inquiry.kind === "credit_holding");
  if (identities.length > 0) await appliers.firm_identity(tx, actor, identities, now);
  if (accounts.length > 0) await appliers.bank_account(tx, actor, accounts, now);
  if (holdings.length > 0) await appliers.credit_holding(tx, actor, holdings, now);
}
