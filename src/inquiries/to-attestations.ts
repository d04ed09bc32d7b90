import type { Context } from "../platform/context.ts";
import type { Attestation } from "./answer-inquiries.ts";
import { attestationOf, type Finding } from "./attest.ts";
import { openInquiries } from "./port-status.ts";
import type { Inquiry } from "./rules.ts";

/** What operators saw, as answers to the open questions; several lines about one are one answer. */
export async function toAttestations(
  ctx: Pick<Context, "db">,
  findings: readonly Finding[],
): Promise<Attestation[]> {
  const open = await openInquiries(ctx, { environment: null, port: null });
  const byId = new Map(open.map((inquiry): [string, Inquiry] => [inquiry.inquiry_id, inquiry]));
  return mergeFindings(findings).map((finding) =>
    attestationOf(byId.get(finding.inquiryId), finding),
  );
}

/** Several lines about one question are several failed checks of it. */
function mergeFindings(findings: readonly Finding[]): Finding[] {
  const merged = new Map<string, Finding>();
  for (const finding of findings) {
    const known = merged.get(finding.inquiryId);
    const failed = [...(known?.failed ?? []), ...finding.failed];
    merged.set(finding.inquiryId, { ...finding, failed });
  }
  return [...merged.values()];
}
