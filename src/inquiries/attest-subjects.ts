import type { Actor } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import type { Context } from "../platform/context.ts";
import { type Appliers, type Attestation, attestInquiries } from "./answer-inquiries.ts";
import type { Answered, InquiryKind } from "./rules.ts";
import { listOpenAbout } from "./store.ts";

/** What an operator saw of a thing, or of the parts of it that are named. */
export type Seen<Kind extends InquiryKind> = {
  readonly subjectId: string;
  /** Whether it was this part; all that are asked about when it is left out. */
  readonly isMeant?: (inquiry: Answered<Kind>["facts"]) => boolean;
  readonly answer: Answered<Kind>["answer"];
  readonly reference: string;
};

/**
 * Answers what is asked about things that the operator knows by their own names. All or none: a thing
 * that nothing is asked about changes nothing.
 */
export async function attestSubjects<Kind extends InquiryKind>(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { kind, seen, appliers }: { kind: Kind; seen: readonly Seen<Kind>[]; appliers: Appliers },
): Promise<number> {
  const attestations = await findAttestations(ctx, { kind, seen });
  return await attestInquiries(ctx, operator, attestations, appliers);
}

/** What was seen of things, as answers to the questions that are open about them. */
export async function findAttestations<Kind extends InquiryKind>(
  ctx: Pick<Context, "db">,
  { kind, seen }: { kind: Kind; seen: readonly Seen<Kind>[] },
): Promise<Attestation[]> {
  const open = await listOpenAbout(
    ctx.db,
    kind,
    seen.map(({ subjectId }) => subjectId),
  );
  return seen.flatMap(({ subjectId, isMeant = () => true, answer, reference }) => {
    const meant = open.filter(
      ({ subject_id, facts }) =>
        (subject_id === subjectId || subject_id.startsWith(`${subjectId}:`)) &&
        isMeant(facts as Answered<Kind>["facts"]), // The facts of a kind have that kind's form.
    );
    if (meant.length === 0) {
      throw new Failure("conflict", `nothing is open of ${kind} about ${subjectId}`, {
        detail: { reason: "nothing_asked", subject_id: subjectId },
      });
    }
    return meant.map(({ inquiry_id }) => ({ inquiryId: inquiry_id, answer, reference }));
  });
}
