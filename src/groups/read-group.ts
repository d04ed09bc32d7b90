import type { Caller } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { groupOfDesk } from "./group-of-desk.ts";
import { refuseSubAccount } from "./rules.ts";
import type { Group } from "./schema.ts";
import { viewGroup } from "./view-group.ts";

export async function readGroup(ctx: Context, caller: Caller, groupId: string): Promise<Group> {
  refuseSubAccount(caller);
  return viewGroup(await groupOfDesk(ctx.db, caller, groupId));
}
