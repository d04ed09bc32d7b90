import type { Context } from "../platform/context.ts";
import { knownAuditKeys } from "./known-keys.ts";
import type { AuditKeys } from "./schema.ts";

/** The one that signs now comes first, then those that did before the master key was changed. */
export async function listAuditKeys(ctx: Pick<Context, "db" | "auditKey">): Promise<AuditKeys> {
  const keys = await knownAuditKeys(ctx.db, ctx);
  return { keys: keys.map((public_key) => ({ algorithm: "Ed25519", public_key })) };
}
