import type { Environment } from "../kernel/caller.ts";
import { newId } from "../kernel/ids.ts";
import type { Tx } from "../platform/postgres.ts";
import type { Inquiries, Inquiry, InquiryKind } from "./rules.ts";
import { insertInquiries, setDropped } from "./store.ts";

/** How long the simulation takes to answer: long enough to be seen waiting. */
const simulatedDelayMs = 500;

export type Question<Kind extends InquiryKind = InquiryKind> = {
  [K in Kind]: {
    readonly environment: Environment;
    readonly deskId: string;
    readonly port: Inquiries[K]["port"];
    readonly kind: K;
    readonly subjectId: string;
    readonly facts: Inquiries[K]["facts"];
  };
}[Kind];

/** Asks; the answer comes later, to whoever applies answers of that kind. */
export async function askOutside(tx: Tx, questions: readonly Question[], now: Date): Promise<void> {
  if (questions.length === 0) return;
  const dueAt = new Date(now.getTime() + simulatedDelayMs);
  await insertInquiries(
    tx,
    questions.map(
      (question) =>
        ({
          inquiry_id: newId("inq", now),
          environment: question.environment,
          desk_id: question.deskId,
          port: question.port,
          kind: question.kind,
          subject_id: question.subjectId,
          facts: question.facts,
          due_at: dueAt,
          created_at: now,
        }) as Inquiry, // Kind, port and facts belong together, as they did in the question.
    ),
  );
}

/** Takes back every open question about these subjects. */
export async function dropQuestions(tx: Tx, subjectIds: readonly string[]): Promise<void> {
  await setDropped(tx, subjectIds);
}
