// Attestations: an operator enters what they saw at customs or at the bank as the answer to an
// question.
//
// An attestation can create money or credits, so a large one needs a second operator. So does every
// attestation that confirms the bank account of a firm with a balance: a false one would divert it.

import { createHash } from "node:crypto";

import type { Actor } from "../kernel/actor.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { rupeesText } from "../kernel/money.ts";
import { istTimestamp } from "../kernel/time.ts";
import { readBalances } from "../ledger/read-books.ts";
import { actWithApproval } from "../operators/act-with-approval.ts";
import { type ApprovalKind, type Terms, validHoursUsual } from "../operators/approval-kind.ts";
import { aloneLimitFactor, twoPeopleFromPaise } from "../operators/approval-rules.ts";
import type { Context } from "../platform/context.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import {
  type Appliers,
  applyAttested,
  type Attestation,
  attestQuestions,
  lockAttested,
} from "./answer-questions.ts";
import { readOpenQuestions } from "./ask.ts";
import {
  type AnsweredQuestion,
  type CheckName,
  type CheckResult,
  listAskedChecks,
  type Question,
  type QuestionKind,
  noOpenQuestion,
  type TransferOutcome,
} from "./question-rules.ts";
import { listQuestions, listOpenAbout } from "./question-store.ts";

type Finding = {
  readonly questionId: string;
  readonly reference: string;
  /** The failed checks; all other checks of the question passed. */
  readonly failed: readonly { readonly check: CheckName; readonly cure: string | null }[];
  /** Whether the firm holds the credit; for questions about a credit only. */
  readonly held: boolean | undefined;
};

/** What an operator saw of a subject, or of some of its parts. */
export type Observation<Kind extends QuestionKind> = {
  readonly subjectId: string;
  /** Selects the parts; all parts when left out. */
  readonly isMeant?: (question: AnsweredQuestion<Kind>["facts"]) => boolean;
  readonly answer: AnsweredQuestion<Kind>["answer"];
  readonly reference: string;
  /** When it was so; the moment of the attestation unless given. */
  readonly asOf?: Date;
};

/**
 * Answers the open questions about subjects by the subjects' ids. All or none: a subject without an
 * open question refuses the whole set.
 */
export async function attestSubjects<Kind extends QuestionKind>(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { kind, seen, appliers }: { kind: Kind; seen: readonly Observation<Kind>[]; appliers: Appliers },
): Promise<number> {
  const attestations = await findAttestations(ctx, { kind, seen });
  return await attestQuestions(ctx, operator, attestations, appliers);
}

/** Turns observations into attestations of the open questions about their subjects. */
export async function findAttestations<Kind extends QuestionKind>(
  ctx: Pick<Context, "db">,
  { kind, seen }: { kind: Kind; seen: readonly Observation<Kind>[] },
): Promise<Attestation[]> {
  const open = await listOpenAbout(
    ctx.db,
    kind,
    seen.map(({ subjectId }) => subjectId),
  );
  return seen.flatMap(({ subjectId, isMeant = () => true, answer, reference, asOf }) => {
    const meant = open.filter(
      ({ subject_id, facts }) =>
        (subject_id === subjectId || subject_id.startsWith(`${subjectId}:`)) &&
        isMeant(facts as AnsweredQuestion<Kind>["facts"]), // The question has this kind.
    );
    if (meant.length === 0) {
      throw new Failure("conflict", `nothing is open of ${kind} about ${subjectId}`, {
        detail: { reason: "nothing_asked", subject_id: subjectId },
      });
    }
    return meant.map(({ question_id }) => ({
      questionId: question_id,
      answer,
      reference,
      ...(asOf && { asOf: istTimestamp(asOf) }),
    }));
  });
}

export type Attested =
  | { readonly outcome: "done"; readonly answered: number }
  | { readonly outcome: "proposed"; readonly approval_id: string };

type AttestationTerms = Terms & { readonly attestations: readonly Attestation[] };

export type AttestationKind = ApprovalKind<AttestationTerms>;

export async function attestWithApproval(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  {
    attestations,
    kind,
    twoFromPaise = twoPeopleFromPaise,
  }: {
    readonly attestations: readonly Attestation[];
    readonly kind: AttestationKind;
    readonly twoFromPaise?: number;
  },
): Promise<Attested> {
  const ids = attestations.map(({ questionId }) => questionId);
  const asked = await listQuestions(ctx.db, ids);
  const byId = new Map(attestations.map((attestation) => [attestation.questionId, attestation]));
  const answered = asked.map((question) => {
    const answer = byId.get(question.question_id)?.answer;
    return { ...question, answer } as AnsweredQuestion; // Answers are built by kind.
  });
  const value = sumValue(answered);
  const [only] = ids;
  const acted = await actWithApproval(ctx, actor, {
    kind,
    environment: asked.some(({ environment }) => environment === "live") ? "live" : "sandbox",
    subjectId: ids.length === 1 && only !== undefined ? only : hashIds(ids),
    terms: { attestations },
    people: value >= twoFromPaise || (await confirmsFundedAccount(ctx.db, answered)) ? 2 : 1,
    alonePerDayPaise: twoFromPaise * aloneLimitFactor,
  });
  if (acted.outcome === "done") return { outcome: "done", answered: ids.length };
  return { outcome: "proposed", approval_id: acted.approval_id };
}

/** How far the transfers of deals have come, by the subjects of the questions about them. */
type ReadSteps = (tx: Tx, settlementIds: readonly string[]) => Promise<ReadonlyMap<string, object>>;

export function buildAttestationKind(appliers: Appliers, readSteps: ReadSteps): AttestationKind {
  return {
    name: "question.attest",
    proposers: ["settlement"],
    approvers: ["settlement"],
    validHours: validHoursUsual,
    async prepare(tx, { terms: { attestations } }, now) {
      const answered = await lockAttested(tx, attestations, now);
      const [first] = answered;
      if (!first) throw new Failure("not_found", "nothing is attested");
      const ending = answered.filter(endsTransfer).map(({ facts }) => facts.settlement_id);
      const steps = await readSteps(tx, ending);
      const rest = answered.length > 1 ? `, and ${answered.length - 1} more answers` : "";
      return {
        summary: `${describeAnswer(first)}${rest}, seen in ${first.reference}`,
        valuePaise: sumValue(answered),
        facts: answered.map((question) => {
          const { question_id, kind, subject_id, facts } = question;
          const rests = { question_id, kind, subject_id, facts };
          return endsTransfer(question) ? { ...rests, steps: steps.get(subject_id) } : rests;
        }),
        shows: [
          {
            title: "Answers",
            rows: answered.map(({ kind, subject_id, desk_id, facts, answer, reference }) => ({
              question: kind,
              subject_id,
              desk_id,
              ...facts,
              ...answer,
              reference,
            })),
          },
        ],
        async carryOut(actor) {
          await applyAttested(tx, actor, { answered, appliers, now });
          return { changes: [], answer: { answered: answered.length } };
        },
      };
    },
  };
}

/** Such an answer is void once its transfer has come further; what was transferred stays so. */
function endsTransfer(question: AnsweredQuestion): question is AnsweredQuestion<"credit_transfer"> {
  return question.kind === "credit_transfer" && question.answer.outcome !== "transferred";
}

/** What was seen, in a sentence. */
function describeAnswer(question: AnsweredQuestion): string {
  switch (question.kind) {
    case "firm_identity": {
      const { legal_name, iec } = question.facts;
      return `customs ${describeChecks(question.answer.checks)} ${legal_name} (IEC ${iec})`;
    }
    case "bank_account": {
      const { account_name, last4, ifsc } = question.facts;
      const account = `account …${last4} at ${ifsc} of ${account_name}`;
      return `the bank ${describeChecks(question.answer.checks)} ${account}`;
    }
    case "credit_holding": {
      const { scrip_no, face_paise, iec } = question.facts;
      const shows = question.answer.held ? "shows" : "does not show";
      return `customs ${shows} ${scrip_no} of ${rupeesText(face_paise)} rupees with IEC ${iec}`;
    }
    case "deal_funding": {
      const came = question.answer.arrived ? "came" : "did not come";
      return `${rupeesText(question.facts.paise)} rupees for ${question.subject_id} ${came}`;
    }
    case "credit_transfer": {
      const { scrip_no, face_paise, seller_iec, buyer_iec } = question.facts;
      const credit = `${scrip_no} of ${rupeesText(face_paise)} rupees`;
      const way = `from ${seller_iec ?? "the house"} to ${buyer_iec ?? "the house"}`;
      return `customs ${transferWords[question.answer.outcome]} ${credit} ${way}`;
    }
    case "payout": {
      const { paise, last4 } = question.facts;
      const came = question.answer.outcome === "paid" ? "reached" : "came back from";
      return `${rupeesText(paise)} rupees ${came} the account …${last4}`;
    }
  }
}

const transferWords = {
  transferred: "transferred",
  refused: "refused to transfer",
  suspended: "suspended, and did not transfer,",
  nothing_pending: "shows no pending transfer of",
} as const satisfies Record<TransferOutcome, string>;

function describeChecks(checks: readonly CheckResult[]): string {
  const failed = checks.filter(({ outcome }) => outcome === "fail");
  if (failed.length === 0) return "confirms";
  return `denies (${failed.map(({ check }) => check).join(", ")})`;
}

/** The credit or money that an answer creates or gives to somebody. */
function valueAnswer(question: AnsweredQuestion): number {
  switch (question.kind) {
    case "credit_holding":
      return question.answer.held ? question.facts.face_paise : 0;
    case "deal_funding":
      return question.answer.arrived ? question.facts.paise : 0;
    // Whatever customs did, it ends the leg: the credit goes to one side, its money to the other.
    case "credit_transfer":
      return question.facts.face_paise;
    case "payout":
      return question.answer.outcome === "returned" ? question.facts.paise : 0;
    case "firm_identity":
    case "bank_account":
      return 0;
  }
}

function sumValue(answered: readonly AnsweredQuestion[]): number {
  const sum = answered.reduce((total, question) => total + valueAnswer(question), 0);
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}

/** Whether an answer confirms the account of a firm that has a balance or money in transit. */
async function confirmsFundedAccount(
  db: Db,
  answered: readonly AnsweredQuestion[],
): Promise<boolean> {
  const accounts = answered.filter(
    (question): question is AnsweredQuestion<"bank_account"> =>
      question.kind === "bank_account" &&
      question.answer.checks.every(({ outcome }) => outcome === "pass"),
  );
  for (const { environment, subject_id } of accounts satisfies readonly Question[]) {
    const [balance] = await readBalances(db, environment, [subject_id]);
    const parts = [balance?.posted_paise, balance?.pending_in_paise, balance?.escrow_paise];
    if (parts.some((paise) => Number(paise ?? 0) > 0)) return true;
  }
  return false;
}

function hashIds(ids: readonly string[]): string {
  return createHash("sha256").update(ids.toSorted().join(" ")).digest("hex").slice(0, 40);
}

/** Turns findings into attestations; several findings about one question are one answer. */
export async function toAttestations(
  ctx: Pick<Context, "db">,
  findings: readonly Finding[],
): Promise<Attestation[]> {
  const open = await readOpenQuestions(ctx, { environment: null, port: null });
  const byId = new Map(
    open.map((question): [string, Question] => [question.question_id, question]),
  );
  return mergeFindings(findings).map((finding) =>
    toAttestation(byId.get(finding.questionId), finding),
  );
}

/** Several findings about one question are its failed checks. */
function mergeFindings(findings: readonly Finding[]): Finding[] {
  const merged = new Map<string, Finding>();
  for (const finding of findings) {
    const known = merged.get(finding.questionId);
    const failed = [...(known?.failed ?? []), ...finding.failed];
    merged.set(finding.questionId, { ...finding, failed });
  }
  return [...merged.values()];
}

function toAttestation(question: Question | undefined, finding: Finding): Attestation {
  const { questionId, reference } = finding;
  if (!question) throw noOpenQuestion([questionId]);
  return { questionId, reference, answer: buildAnswer(question, finding) };
}

function buildAnswer(question: Question, { failed, held }: Finding): Attestation["answer"] {
  if (
    question.kind === "deal_funding" ||
    question.kind === "credit_transfer" ||
    question.kind === "payout"
  ) {
    throw wrongForm(
      question,
      question.kind,
      "is answered by the commands of crosses, settlements and payouts",
    );
  }
  if (question.kind === "credit_holding") {
    if (held === undefined || failed.length > 0) throw wrongForm(question, "held", "is the answer");
    return { held, reason: held ? null : "not_held" };
  }
  if (held !== undefined) throw wrongForm(question, "held", "is no answer");
  const asked = listAskedChecks(question);
  const stray = failed.find(({ check }) => !asked.includes(check));
  if (stray) throw wrongForm(question, stray.check, "was not asked");
  const checks = asked.map((check): CheckResult => {
    const failure = failed.find((candidate) => candidate.check === check);
    return failure ? { ...failure, outcome: "fail" } : { check, outcome: "pass", cure: null };
  });
  return { checks };
}

function wrongForm({ question_id, kind }: Question, path: string, problem: string): Failure {
  return unprocessable({ path, problem: `${problem} to ${question_id}, a question of ${kind}` });
}
