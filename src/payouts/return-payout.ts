import { attestWithApproval, type AttestationKind } from "../inquiries/attest-with-approval.ts";
import { findAttestations } from "../inquiries/attest-subjects.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Context } from "../platform/context.ts";
import { listAllPayouts } from "./list-all-payouts.ts";
import { recallPayout } from "./recall-payouts.ts";

export type ReturnedPayout =
  | { readonly outcome: "returned" }
  | { readonly outcome: "proposed"; readonly approval_id: string };

/** Says that money came back from the bank, or keeps back what has not been sent. */
export async function returnPayout(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  {
    payoutId,
    reason,
    kind,
    twoFromPaise,
  }: {
    readonly payoutId: string;
    readonly reason: string;
    readonly kind: AttestationKind;
    readonly twoFromPaise: number;
  },
): Promise<ReturnedPayout> {
  const [row] = await listAllPayouts(ctx, { payoutId, limit: 1 });
  if (row?.state !== "sent") {
    await recallPayout(ctx, actor, { payoutId, reason });
    return { outcome: "returned" };
  }
  const answer = { outcome: "returned" as const, reason };
  const seen = [{ subjectId: payoutId, answer, reference: reason }];
  const attestations = await findAttestations(ctx, { kind: "payout", seen });
  const attested = await attestWithApproval(ctx, actor, { attestations, kind, twoFromPaise });
  return attested.outcome === "done" ? { outcome: "returned" } : attested;
}
