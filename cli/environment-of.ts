import { listAllCrosses } from "../src/crosses/read-crosses.ts";
import { findEnvironment } from "../src/firms/find-firms.ts";
import { readOpenInquiries } from "../src/outside/ask.ts";
import type { Environment } from "../src/kernel/caller.ts";
import { listAllKeys } from "../src/access/read-keys.ts";
import { listAllPayouts } from "../src/payouts/read-payouts.ts";
import type { Context } from "../src/platform/context.ts";
import { listAllSettlements } from "../src/settlement/read-settlements.ts";

type Find = (ctx: Context, id: string) => Promise<Environment | undefined>;

/** How the environment of a thing is found, by the prefix of its id. */
const finders: Readonly<Record<string, Find>> = {
  frm: async (ctx, firmId) => await findEnvironment(ctx.db, firmId),
  key: async (ctx, keyId) =>
    (await listAllKeys(ctx, null)).find(({ key }) => key.key_id === keyId)?.key.environment,
  stl: async (ctx, settlementId) =>
    (await listAllSettlements(ctx, { settlementId, limit: 1 }))[0]?.environment,
  pay: async (ctx, payoutId) => (await listAllPayouts(ctx, { payoutId, limit: 1 }))[0]?.environment,
  crs: async (ctx, crossId) => (await listAllCrosses(ctx, { crossId, limit: 1 }))[0]?.environment,
  inq: async (ctx, inquiryId) =>
    (await readOpenInquiries(ctx, { environment: null, port: null })).find(
      ({ inquiry_id }) => inquiry_id === inquiryId,
    )?.environment,
};

/** Whether all of these are of the sandbox; what nobody knows is taken for live. */
export async function isAllSandbox(ctx: Context, ids: readonly string[]): Promise<boolean> {
  for (const id of new Set(ids)) {
    const find = finders[id.slice(0, 3)];
    if ((await find?.(ctx, id)) !== "sandbox") return false;
  }
  return ids.length > 0;
}
