// Shared by operations that attest to something outside.

import {
  type Attested,
  attestWithApproval,
  findAttestations,
  type Observation,
} from "../outside/attest.ts";
import type { InquiryKind } from "../outside/inquiry-rules.ts";
import type { OperatorCall } from "../platform/http/operation.ts";
import { text } from "./operation.ts";

export const reference = text(
  "What you saw: a ticket, a letter, a line of the bank's statement.",
  200,
);
export const reason = text("Why.");

/** Attests to subjects, all or none; large sums take two people. */
export async function attest<Kind extends InquiryKind>(
  { ctx, actor, wiring }: OperatorCall,
  kind: Kind,
  seen: readonly Observation<Kind>[],
): Promise<Attested> {
  const attestations = await findAttestations(ctx, { kind, seen });
  const { attesting, twoFromPaise } = wiring;
  return await attestWithApproval(ctx, actor, { attestations, kind: attesting, twoFromPaise });
}
