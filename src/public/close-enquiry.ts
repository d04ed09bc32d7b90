import { recordChanges } from "../events/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Context } from "../platform/context.ts";
import { noEnquiry } from "./read-enquiry.ts";
import { enquiryLifecycle, forgetAt } from "./rules.ts";
import type { Enquiry } from "./schema.ts";
import { lockEnquiry, setEnquiry } from "./store.ts";
import { changeOfEnquiry, viewEnquiry } from "./view-enquiry.ts";

export async function closeEnquiry(
  ctx: Context,
  actor: Actor,
  { enquiryRef, outcome }: { readonly enquiryRef: string; readonly outcome: string },
): Promise<Enquiry> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const before = await lockEnquiry(tx, enquiryRef);
    if (!before) throw noEnquiry();
    const status = advance(enquiryLifecycle, before.status, "close");
    const forget_at = forgetAt(before.created_at, now);
    const after = await setEnquiry(
      tx,
      { enquiry_ref: enquiryRef, status, outcome, forget_at },
      now,
    );
    if (!after) throw new Error("a locked enquiry is there");
    await recordChanges(tx, actor, [changeOfEnquiry("closed", { before, after })], now);
    return viewEnquiry(after);
  });
}
