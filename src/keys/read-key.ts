import type { Caller } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Context } from "../platform/context.ts";
import type { Key } from "./schema.ts";
import { isWithinReach } from "./rules.ts";
import { findKey } from "./store.ts";
import { viewKey } from "./view-key.ts";

export async function readKey(ctx: Context, caller: Caller, keyId: string): Promise<Key> {
  const row = isId("key", keyId) ? await findKey(ctx.db, caller.deskId, keyId) : undefined;
  if (!row || !isWithinReach(caller, row)) throw notFound();
  return viewKey(row, ctx.now());
}
