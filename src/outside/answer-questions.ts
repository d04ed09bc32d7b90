// How questions are answered.
//
//   simulated   sandbox: a worker answers due questions by the pure rules of each port
//   attested    live: an operator enters what they saw, with a reference
//
// The answer and its consequences commit together. When a caller holds a lock on the firm, credit
// or deal of an answer, the transaction gives up, and a later run answers.

import type { Actor } from "../kernel/actor.ts";
import { parseInstant } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import {
  noOffenders,
  type Offenders,
  workInParts,
  yieldToCallers,
} from "../platform/postgres/offenders.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import {
  type AnsweredQuestion,
  type Question,
  type QuestionKind,
  simulate,
  type Simulators,
  noOpenQuestion,
} from "./question-rules.ts";
import {
  claimDueQuestions,
  deleteQuestions,
  leaveOpen,
  listDueKinds,
  lockOpenQuestions,
  setAnswered,
} from "./question-store.ts";

/**
 * Applies a set of answers of one kind: locks their subjects in id order and records the changes.
 */
type Apply<Kind extends QuestionKind> = (
  tx: Tx,
  actor: Actor,
  answered: readonly AnsweredQuestion<Kind>[],
  now: Date,
) => Promise<void>;

export type Appliers = {
  readonly firms: Apply<"firm_identity" | "bank_account">;
  readonly credits: Apply<"credit_holding">;
  readonly funding: Apply<"deal_funding">;
  readonly transfers: Apply<"credit_transfer">;
  readonly payouts: Apply<"payout">;
};

/** The kinds of each applier. A transaction of the simulation calls one applier. */
const applierKinds = {
  firms: ["firm_identity", "bank_account"],
  credits: ["credit_holding"],
  funding: ["deal_funding"],
  transfers: ["credit_transfer"],
  payouts: ["payout"],
} as const satisfies Record<keyof Appliers, readonly QuestionKind[]>;

export type Attestation = {
  readonly questionId: string;
  readonly answer: AnsweredQuestion["answer"];
  /** The evidence: a ticket, the number of a screenshot, a letter. */
  readonly reference: string;
  /** When it was so, where that was before it was entered. ISO 8601. */
  readonly asOf?: string;
};

const setSizeMax = 200;
const simulation: Actor = { kind: "worker", id: "simulation", requestId: null };

/** Answers one set of due sandbox questions per applier. */
export async function answerDueQuestions(
  ctx: Pick<Context, "db" | "now">,
  simulators: Simulators,
  appliers: Appliers,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const due = await listDueKinds(ctx.db, ctx.now());
  const outcomes: ("more" | "idle")[] = [];
  for (const kinds of Object.values(applierKinds)) {
    if (!kinds.some((kind) => due.includes(kind))) continue;
    outcomes.push(await answerDue(ctx, kinds, { simulators, appliers, offenders }));
  }
  return outcomes.includes("more") ? "more" : "idle";
}

/** All or none: a batch with one unknown id changes nothing. */
export async function attestQuestions(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  attestations: readonly Attestation[],
  appliers: Appliers,
): Promise<number> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const answered = await lockAttested(tx, attestations, now);
    await applyAttested(tx, operator, { answered, appliers, now });
    return answered.length;
  });
}

/** Locks the questions and joins them with their answers; refused when one is not open. */
export async function lockAttested(
  tx: Tx,
  attestations: readonly Attestation[],
  now: Date,
): Promise<AnsweredQuestion[]> {
  const byId = new Map(attestations.map((attestation) => [attestation.questionId, attestation]));
  const open = await lockOpenQuestions(tx, [...byId.keys()]);
  const known = new Set(open.map(({ question_id }) => question_id));
  const missing = [...byId.keys()].filter((questionId) => !known.has(questionId));
  if (missing.length > 0) {
    throw noOpenQuestion(missing);
  }
  return open.map((question) => {
    const attestation = byId.get(question.question_id);
    return {
      ...question,
      answer: attestation?.answer,
      as_of: (attestation?.asOf && parseInstant(attestation.asOf)) || now,
      reference: attestation?.reference ?? null,
    } as AnsweredQuestion; // Answers are built by kind.
  });
}

export async function applyAttested(
  tx: Tx,
  operator: Actor,
  {
    answered,
    appliers,
    now,
  }: { answered: readonly AnsweredQuestion[]; appliers: Appliers; now: Date },
): Promise<void> {
  yieldToCallers(tx);
  tx.defer(setAnswered(answered, operator.id));
  await applyAnswers(tx, operator, answered, appliers, now);
}

/** Applies simulated answers. They are no evidence of anything, so the questions leave no row. */
export async function applySimulated(
  tx: Tx,
  actor: Actor,
  {
    answered,
    appliers,
    now,
  }: { answered: readonly AnsweredQuestion[]; appliers: Appliers; now: Date },
): Promise<void> {
  tx.defer(deleteQuestions(answered.map(({ question_id }) => question_id)));
  await applyAnswers(tx, actor, answered, appliers, now);
}

async function applyAnswers(
  tx: Tx,
  actor: Actor,
  answered: readonly AnsweredQuestion[],
  appliers: Appliers,
  now: Date,
): Promise<void> {
  const firms = filterKinds(answered, applierKinds.firms);
  const credits = filterKinds(answered, applierKinds.credits);
  const funding = filterKinds(answered, applierKinds.funding);
  const transfers = filterKinds(answered, applierKinds.transfers);
  const payouts = filterKinds(answered, applierKinds.payouts);
  if (firms.length > 0) await appliers.firms(tx, actor, firms, now);
  if (credits.length > 0) await appliers.credits(tx, actor, credits, now);
  if (funding.length > 0) await appliers.funding(tx, actor, funding, now);
  if (transfers.length > 0) await appliers.transfers(tx, actor, transfers, now);
  if (payouts.length > 0) await appliers.payouts(tx, actor, payouts, now);
}

async function answerDue(
  ctx: Pick<Context, "db" | "now">,
  kinds: readonly QuestionKind[],
  {
    simulators,
    appliers,
    offenders,
  }: { simulators: Simulators; appliers: Appliers; offenders: Offenders },
): Promise<"more" | "idle"> {
  const now = ctx.now();
  const answer = async (tx: Tx, due: readonly Question[]): Promise<void> => {
    const answered = due.flatMap((question) => {
      const answer = simulate(simulators, question);
      // The simulator of a kind answers in that kind's form.
      return answer
        ? [{ ...question, answer, as_of: now, reference: null } as AnsweredQuestion]
        : [];
    });
    const known = new Set(answered.map(({ question_id }) => question_id));
    const unanswered = due.filter(({ question_id }) => !known.has(question_id));
    if (unanswered.length > 0) tx.defer(leaveOpen(unanswered));
    yieldToCallers(tx);
    if (answered.length > 0) await applySimulated(tx, simulation, { answered, appliers, now });
  };
  const done = await workInParts(offenders, (choice, claimed) =>
    ctx.db.transaction(async (tx) => {
      const due = await claimDueQuestions(tx, kinds, { now, limit: setSizeMax, ...choice });
      claimed(due.map(({ question_id }) => question_id));
      if (due.length > 0) await answer(tx, due);
      return due.length;
    }),
  );
  return done === setSizeMax ? "more" : "idle";
}

function filterKinds<Kind extends QuestionKind>(
  answered: readonly AnsweredQuestion[],
  kinds: readonly Kind[],
): AnsweredQuestion<Kind>[] {
  const isMeant = (
    question: AnsweredQuestion,
  ): question is AnsweredQuestion & AnsweredQuestion<Kind> =>
    (kinds as readonly QuestionKind[]).includes(question.kind);
  return answered.filter(isMeant);
}
