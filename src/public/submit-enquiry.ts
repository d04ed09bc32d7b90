import { createHmac } from "node:crypto";

import { recordChanges } from "../events/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Visit } from "../kernel/caller.ts";
import { newId } from "../kernel/ids.ts";
import { canonicalJson } from "../kernel/json.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Creation } from "../platform/calls.ts";
import type { Context } from "../platform/context.ts";
import { keyFor } from "../platform/master-key.ts";
import { sealingKey } from "../platform/seal.ts";
import { type EnquiryKind, forgetAt, personOf } from "./rules.ts";
import type { Enquiry } from "./schema.ts";
import { type EnquiryRow, insertEnquiry } from "./store.ts";
import { changeOfEnquiry, sealPerson, viewEnquiry } from "./view-enquiry.ts";

export type Submission = Parameters<typeof personOf>[0] & {
  readonly kind: EnquiryKind;
  readonly scheme?: Scheme;
  readonly face_paise?: number;
  readonly requirement_paise?: number;
};

/** Sent twice while the first is open, it is one enquiry: a retry finds its original. */
export async function submitEnquiry(
  ctx: Context,
  { requestId, dryRun }: Visit,
  submission: Submission,
): Promise<Creation<Enquiry>> {
  const now = ctx.now();
  const person = personOf(submission);
  const about = {
    kind: submission.kind,
    scheme: submission.scheme ?? null,
    amount_paise: submission.face_paise ?? submission.requirement_paise ?? null,
  };
  const ref = newId("enq", now);
  const row: EnquiryRow = {
    enquiry_ref: ref,
    ...about,
    status: "received",
    person_sealed: sealPerson(person, ref, ctx),
    outcome: null,
    forget_at: forgetAt(now, null),
    version: 1,
    created_at: now,
    updated_at: now,
  };
  const visitor: Actor = { kind: "visitor", id: "public", requestId };
  return await ctx.db.transaction(
    async (tx): Promise<Creation<Enquiry>> => {
      const kept = await insertEnquiry(tx, row, digestOf({ ...about, ...person }, ctx));
      if (!kept) throw new Error("an enquiry is inserted or found");
      if (kept.enquiry_ref !== ref) return { outcome: "replayed", resource: viewEnquiry(kept) };
      const change = changeOfEnquiry("received", { before: null, after: kept });
      await recordChanges(tx, visitor, [change], now);
      return { outcome: dryRun ? "tried" : "created", resource: viewEnquiry(kept) };
    },
    { rollBack: dryRun },
  );
}

/** Recognises an enquiry without telling anything about who sent it to a reader of the table. */
export function digestOf(enquiry: object, { sealKey }: Pick<Context, "sealKey">): Buffer {
  const key = keyFor("enquiries", sealingKey(sealKey));
  return createHmac("sha256", key).update(canonicalJson(enquiry)).digest();
}
