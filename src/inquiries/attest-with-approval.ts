// An operator's word about the outside world counts as money or as a credit, so a large one counts
// once a second person has given theirs. So does any word about the account of a firm that has money
// with us: whoever changes it could take that money.

import { createHash } from "node:crypto";

import { actWithApproval } from "../approvals/act-with-approval.ts";
import { type ApprovalKind, type Terms, validHoursUsual } from "../approvals/kind.ts";
import { aloneTimes, twoPeopleFromPaise } from "../approvals/rules.ts";
import type { Actor } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { balancesOf } from "../ledger/read-books.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres.ts";
import {
  type Appliers,
  applyAttested,
  type Attestation,
  lockAttested,
} from "./answer-inquiries.ts";
import type { Answered, Inquiry } from "./rules.ts";
import { listInquiries } from "./store.ts";

export type Attested =
  | { readonly outcome: "done"; readonly answered: number }
  | { readonly outcome: "proposed"; readonly approval_id: string };

type Attesting = Terms & { readonly attestations: readonly Attestation[] };

export type AttestationKind = ApprovalKind<Attesting>;

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
    return { ...inquiry, answer } as Answered; // Answers are built by kind.
  });
  const value = sumCounted(answered);
  const [only] = ids;
  const acted = await actWithApproval(ctx, actor, {
    kind,
    environment: asked.some(({ environment }) => environment === "live") ? "live" : "sandbox",
    subjectId: ids.length === 1 && only !== undefined ? only : digest(ids),
    terms: { attestations },
    people: value >= twoFromPaise || (await movesAccount(ctx.db, answered)) ? 2 : 1,
    alonePerDayPaise: twoFromPaise * aloneTimes,
  });
  if (acted.outcome === "done") return { outcome: "done", answered: ids.length };
  return { outcome: "proposed", approval_id: acted.approval.approval_id };
}

export function attestation(appliers: Appliers): AttestationKind {
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
        summary: `${first.kind} of ${first.subject_id}${rest} is answered: ${JSON.stringify(first.answer)}, seen in ${first.reference}`,
        valuePaise: sumCounted(answered),
        facts: answered.map(({ inquiry_id, kind, subject_id, facts }) => ({
          inquiry_id,
          kind,
          subject_id,
          facts,
        })),
        async carryOut(actor) {
          await applyAttested(tx, actor, { answered, appliers, now });
          return { changes: [], answer: { answered: answered.length } };
        },
      };
    },
  };
}

/** What an answer makes of nothing: a credit that can be sold, money that can be spent. */
function countedPaise(inquiry: Answered): number {
  switch (inquiry.kind) {
    case "credit_holding":
      return inquiry.answer.held ? inquiry.facts.face_paise : 0;
    case "deal_funding":
      return inquiry.answer.arrived ? inquiry.facts.paise : 0;
    case "credit_transfer":
      return inquiry.answer.outcome === "transferred" ? inquiry.facts.face_paise : 0;
    case "payout":
      return inquiry.answer.outcome === "returned" ? inquiry.facts.paise : 0;
    case "firm_identity":
    case "bank_account":
      return 0;
  }
}

function sumCounted(answered: readonly Answered[]): number {
  const sum = answered.reduce((total, inquiry) => total + countedPaise(inquiry), 0);
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}

/** Whether an account passes for a firm that has money with us or on its way. */
async function movesAccount(db: Db, answered: readonly Answered[]): Promise<boolean> {
  const accounts = answered.filter(
    (inquiry): inquiry is Answered<"bank_account"> =>
      inquiry.kind === "bank_account" &&
      inquiry.answer.checks.every(({ outcome }) => outcome === "pass"),
  );
  for (const { environment, subject_id } of accounts satisfies readonly Inquiry[]) {
    const [balance] = await balancesOf(db, environment, [subject_id]);
    const parts = [balance?.posted_paise, balance?.pending_in_paise, balance?.escrow_paise];
    if (parts.some((paise) => Number(paise ?? 0) > 0)) return true;
  }
  return false;
}

function digest(ids: readonly string[]): string {
  return createHash("sha256").update(ids.toSorted().join(" ")).digest("hex").slice(0, 40);
}
