import { attesting } from "../src/approval-kinds.ts";
import { readConfig } from "../src/config.ts";
import type { Attestation } from "../src/outside/answer-inquiries.ts";
import { attestWithApproval, findAttestations, type Observation } from "../src/outside/attest.ts";
import type { InquiryKind } from "../src/outside/inquiry-rules.ts";
import type { Actor } from "../src/kernel/actor.ts";
import type { Context } from "../src/platform/context.ts";

/** What a command of an operator who saw something prints. */
export type AttestedLine = { readonly answered: number } | { readonly approval_id: string };

export async function attest(
  ctx: Context,
  actor: Actor,
  attestations: readonly Attestation[],
): Promise<AttestedLine> {
  const { twoOperatorsFromPaise: twoFromPaise } = readConfig(process.env);
  const terms = { attestations, kind: attesting, twoFromPaise };
  const attested = await attestWithApproval(ctx, actor, terms);
  return attested.outcome === "done" ? { answered: attested.answered } : attested;
}

export async function attestSeen<Kind extends InquiryKind>(
  ctx: Context,
  actor: Actor,
  seen: { readonly kind: Kind; readonly seen: readonly Observation<Kind>[] },
): Promise<AttestedLine> {
  return await attest(ctx, actor, await findAttestations(ctx, seen));
}
