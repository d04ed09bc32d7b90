import { findEnvironmentById } from "../src/overview/find-anything.ts";
import type { Context } from "../src/platform/context.ts";

/** Whether all of these are of the sandbox; what nobody knows is taken for live. */
export async function isAllSandbox(ctx: Context, ids: readonly string[]): Promise<boolean> {
  for (const id of new Set(ids)) {
    if ((await findEnvironmentById(ctx, id)) !== "sandbox") return false;
  }
  return ids.length > 0;
}
