import type { Context } from "../platform/context.ts";
import { publicKeyOf } from "./rules.ts";
import type { AuditKeys } from "./schema.ts";

export function listAuditKeys({ auditKey }: Pick<Context, "auditKey">): AuditKeys {
  return { keys: [{ algorithm: "Ed25519", public_key: publicKeyOf(auditKey) }] };
}
