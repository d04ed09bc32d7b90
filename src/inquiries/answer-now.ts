import type { Actor } from "../kernel/actor.ts";
import type { Tx } from "../platform/postgres.ts";
import { type Appliers, applyAnswers } from "./answer-inquiries.ts";
import { type Answered, type InquiryKind, simulate, type Simulators } from "./rules.ts";
import { listOpenAbout, lockOpenInquiries, yieldToCallers } from "./store.ts";

/**
 * What the simulation would say about a thing or its parts, said now and not when it falls due; how
 * many questions had an answer. Only ever asked about things of the sandbox, and by who has locked them:
 * then nobody else answers or takes back these questions.
 */
export async function answerNow(
  tx: Tx,
  actor: Actor,
  {
    kind,
    subjectId,
    simulators,
    appliers,
    now,
  }: {
    readonly kind: InquiryKind;
    readonly subjectId: string;
    readonly simulators: Simulators;
    readonly appliers: Appliers;
    readonly now: Date;
  },
): Promise<number> {
  const open = await listOpenAbout(tx, kind, [subjectId]);
  const locked = await lockOpenInquiries(
    tx,
    open.map(({ inquiry_id }) => inquiry_id),
  );
  const answered = locked.flatMap((inquiry) => {
    const answer = simulate(simulators, inquiry);
    // The simulator of a kind answers in that kind's form.
    return answer ? [{ ...inquiry, answer, as_of: now, reference: null } as Answered] : [];
  });
  await yieldToCallers(tx);
  if (answered.length > 0) await applyAnswers(tx, actor, answered, appliers, now);
  return answered.length;
}
