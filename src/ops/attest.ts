// Shared by operations that attest to something outside.

import {
  type Attested,
  attestWithApproval,
  findAttestations,
  type Observation,
} from "../outside/attest.ts";
import type { InquiryKind } from "../outside/inquiry-rules.ts";
import { type OpsCall, text } from "./operation.ts";

export const reference = text(
  "What you saw: a ticket, a letter, a line of the bank's statement.",
  200,
);
export const reason = text("Why.");

/** Attests to one subject; large sums take two people. */
export async function attest<Kind extends InquiryKind>(
  { ctx, actor, wiring }: Pick<OpsCall<unknown, unknown>, "ctx" | "actor" | "wiring">,
  kind: Kind,
  seen: Observation<Kind>,
): Promise<Attested> {
  const attestations = await findAttestations(ctx, { kind, seen: [seen] });
  const { attesting, twoFromPaise } = wiring;
  return await attestWithApproval(ctx, actor, { attestations, kind: attesting, twoFromPaise });
}
