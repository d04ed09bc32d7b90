// Attestations: an operator enters what they saw at customs or at the bank as the answer to an
// inquiry.
//
// An attestation can create money or credits, so a large one needs a second operator. So does every
// attestation that confirms the bank account of a firm with a balance: a false one would divert it.

import { createHash } from "node:crypto";

import type { Actor } from "../kernel/actor.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { exactJson } from "../kernel/json.ts";
import { istTimestamp } from "../kernel/time.ts";
import { readBalances } from "../ledger/read-books.ts";
import { actWithApproval } from "../operators/act-with-approval.ts";
import { type ApprovalKind, type Terms, validHoursUsual } from "../operators/approval-kind.ts";
import { aloneLimitFactor, twoPeopleFromPaise } from "../operators/approval-rules.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import {
  type Appliers,
  applyAttested,
  type Attestation,
  attestInquiries,
  lockAttested,
} from "./answer-inquiries.ts";
import { readOpenInquiries } from "./ask.ts";
import {
  type AnsweredInquiry,
  type CheckName,
  type CheckResult,
  listAskedChecks,
  type Inquiry,
  type InquiryKind,
  noOpenInquiry,
} from "./inquiry-rules.ts";
import { listInquiries, listOpenAbout } from "./inquiry-store.ts";

export type Finding = {
  readonly inquiryId: string;
  readonly reference: string;
  /** The failed checks; all other checks of the inquiry passed. */
  readonly failed: readonly { readonly check: CheckName; readonly cure: string | null }[];
  /** Whether the firm holds the credit; for inquiries about a credit only. */
  readonly held: boolean | undefined;
};

/** What an operator saw of a subject, or of some of its parts. */
export type Observation<Kind extends InquiryKind> = {
  readonly subjectId: string;
  /** Selects the parts; all parts when left out. */
  readonly isMeant?: (inquiry: AnsweredInquiry<Kind>["facts"]) => boolean;
  readonly answer: AnsweredInquiry<Kind>["answer"];
  readonly reference: string;
  /** When it was so; the moment of the attestation unless given. */
  readonly asOf?: Date;
};

/**
 * Answers the open inquiries about subjects by the subjects' ids. All or none: a subject without an
 * open inquiry refuses the whole set.
 */
export async function attestSubjects<Kind extends InquiryKind>(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { kind, seen, appliers }: { kind: Kind; seen: readonly Observation<Kind>[]; appliers: Appliers },
): Promise<number> {
  const attestations = await findAttestations(ctx, { kind, seen });
  return await attestInquiries(ctx, operator, attestations, appliers);
}

/** Turns observations into attestations of the open inquiries about their subjects. */
export async function findAttestations<Kind extends InquiryKind>(
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
        isMeant(facts as AnsweredInquiry<Kind>["facts"]), // The inquiry has this kind.
    );
    if (meant.length === 0) {
      throw new Failure("conflict", `nothing is open of ${kind} about ${subjectId}`, {
        detail: { reason: "nothing_asked", subject_id: subjectId },
      });
    }
    return meant.map(({ inquiry_id }) => ({
      inquiryId: inquiry_id,
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
  const ids = attestations.map(({ inquiryId }) => inquiryId);
  const asked = await listInquiries(ctx.db, ids);
  const byId = new Map(attestations.map((attestation) => [attestation.inquiryId, attestation]));
  const answered = asked.map((inquiry) => {
    const answer = byId.get(inquiry.inquiry_id)?.answer;
    return { ...inquiry, answer } as AnsweredInquiry; // Answers are built by kind.
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

export function buildAttestationKind(appliers: Appliers): AttestationKind {
  return {
    name: "inquiry.attest",
    proposers: ["settlement"],
    approvers: ["settlement"],
    validHours: validHoursUsual,
    async prepare(tx, { terms: { attestations } }, now) {
      const answered = await lockAttested(tx, attestations, now);
      const [first] = answered;
      if (!first) throw new Failure("not_found", "nothing is attested");
      const rest = answered.length > 1 ? ` and ${answered.length - 1} more` : "";
      return {
        summary: `${first.kind} of ${first.subject_id}${rest} is answered: ${exactJson(first.answer)}, seen in ${first.reference}`,
        valuePaise: sumValue(answered),
        facts: answered.map(({ inquiry_id, kind, subject_id, facts }) => ({
          inquiry_id,
          kind,
          subject_id,
          facts,
        })),
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

/** The credit or money that an answer creates or gives to somebody. */
function valueAnswer(inquiry: AnsweredInquiry): number {
  switch (inquiry.kind) {
    case "credit_holding":
      return inquiry.answer.held ? inquiry.facts.face_paise : 0;
    case "deal_funding":
      return inquiry.answer.arrived ? inquiry.facts.paise : 0;
    // Whatever customs did, it ends the leg: the credit goes to one side, its money to the other.
    case "credit_transfer":
      return inquiry.facts.face_paise;
    case "payout":
      return inquiry.answer.outcome === "returned" ? inquiry.facts.paise : 0;
    case "firm_identity":
    case "bank_account":
      return 0;
  }
}

function sumValue(answered: readonly AnsweredInquiry[]): number {
  const sum = answered.reduce((total, inquiry) => total + valueAnswer(inquiry), 0);
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}

/** Whether an answer confirms the account of a firm that has a balance or money in transit. */
async function confirmsFundedAccount(
  db: Db,
  answered: readonly AnsweredInquiry[],
): Promise<boolean> {
  const accounts = answered.filter(
    (inquiry): inquiry is AnsweredInquiry<"bank_account"> =>
      inquiry.kind === "bank_account" &&
      inquiry.answer.checks.every(({ outcome }) => outcome === "pass"),
  );
  for (const { environment, subject_id } of accounts satisfies readonly Inquiry[]) {
    const [balance] = await readBalances(db, environment, [subject_id]);
    const parts = [balance?.posted_paise, balance?.pending_in_paise, balance?.escrow_paise];
    if (parts.some((paise) => Number(paise ?? 0) > 0)) return true;
  }
  return false;
}

function hashIds(ids: readonly string[]): string {
  return createHash("sha256").update(ids.toSorted().join(" ")).digest("hex").slice(0, 40);
}

/** Turns findings into attestations; several findings about one inquiry are one answer. */
export async function toAttestations(
  ctx: Pick<Context, "db">,
  findings: readonly Finding[],
): Promise<Attestation[]> {
  const open = await readOpenInquiries(ctx, { environment: null, port: null });
  const byId = new Map(open.map((inquiry): [string, Inquiry] => [inquiry.inquiry_id, inquiry]));
  return mergeFindings(findings).map((finding) =>
    toAttestation(byId.get(finding.inquiryId), finding),
  );
}

/** Several findings about one inquiry are its failed checks. */
function mergeFindings(findings: readonly Finding[]): Finding[] {
  const merged = new Map<string, Finding>();
  for (const finding of findings) {
    const known = merged.get(finding.inquiryId);
    const failed = [...(known?.failed ?? []), ...finding.failed];
    merged.set(finding.inquiryId, { ...finding, failed });
  }
  return [...merged.values()];
}

function toAttestation(inquiry: Inquiry | undefined, finding: Finding): Attestation {
  const { inquiryId, reference } = finding;
  if (!inquiry) throw noOpenInquiry([inquiryId]);
  return { inquiryId, reference, answer: buildAnswer(inquiry, finding) };
}

function buildAnswer(inquiry: Inquiry, { failed, held }: Finding): Attestation["answer"] {
  if (
    inquiry.kind === "deal_funding" ||
    inquiry.kind === "credit_transfer" ||
    inquiry.kind === "payout"
  ) {
    throw wrongForm(
      inquiry,
      inquiry.kind,
      "is answered by the commands of crosses, settlements and payouts",
    );
  }
  if (inquiry.kind === "credit_holding") {
    if (held === undefined || failed.length > 0) throw wrongForm(inquiry, "held", "is the answer");
    return { held, reason: held ? null : "not_held" };
  }
  if (held !== undefined) throw wrongForm(inquiry, "held", "is no answer");
  const asked = listAskedChecks(inquiry);
  const stray = failed.find(({ check }) => !asked.includes(check));
  if (stray) throw wrongForm(inquiry, stray.check, "was not asked");
  const checks = asked.map((check): CheckResult => {
    const failure = failed.find((candidate) => candidate.check === check);
    return failure ? { ...failure, outcome: "fail" } : { check, outcome: "pass", cure: null };
  });
  return { checks };
}

function wrongForm({ inquiry_id, kind }: Inquiry, path: string, problem: string): Failure {
  return unprocessable({ path, problem: `${problem} to ${inquiry_id}, a question of ${kind}` });
}
