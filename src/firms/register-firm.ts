import { recordChanges } from "../events/record-changes.ts";
import type { Call } from "../kernel/caller.ts";
import { newId } from "../kernel/ids.ts";
import type { Creation } from "../platform/calls.ts";
import type { Context } from "../platform/context.ts";
import { claimIdempotencyKey } from "../platform/idempotency.ts";
import { changeOfFirm } from "./change-firm.ts";
import { doerOf, refuseBound } from "./doer.ts";
import { firmOfDesk } from "./firm-of-desk.ts";
import { plainParticulars, refuseWrong, rememberedOf, sealBank } from "./particulars.ts";
import { duplicateOf, explainRefusal } from "./refuse-twins.ts";
import type { Firm, RegisterFirmBody } from "./schema.ts";
import type { OnMoved } from "./set-group.ts";
import { blankFirm, type FirmRow, insertFirm } from "./store.ts";
import { viewFirm } from "./view-firm.ts";

/** A new client firm of the caller's desk. */
export async function registerFirm(
  ctx: Context & { readonly onMoved: OnMoved },
  call: Call,
  body: RegisterFirmBody,
): Promise<Creation<Firm>> {
  const now = ctx.now();
  const doer = doerOf(call);
  const given = plainParticulars(body);
  refuseWrong(given, blankFirm);
  refuseBound(doer, "register firms");
  const firm = clientFirm(ctx, call, given, now);
  try {
    return await ctx.db.transaction(
      async (tx) => {
        const registeredBefore = await claimIdempotencyKey(tx, {
          call,
          operation: "registerFirm",
          body: rememberedOf(body, ctx.sealKey),
          idField: "firm_id",
          newId: firm.firm_id,
          now,
        });
        if (registeredBefore) {
          const original = await firmOfDesk(tx, doer.deskId, registeredBefore);
          return { outcome: "replayed", resource: viewFirm(original, now) };
        }
        const move = { deskId: doer.deskId, from: null, to: firm.group_id };
        const joined = await ctx.onMoved(tx, move, now);
        if (!(await insertFirm(tx, firm))) throw await duplicateOf(tx, firm, null);
        const event = { name: "firm.registered", data: toldOf(firm) };
        const change = changeOfFirm(null, firm, { action: "register", event }, now);
        await recordChanges(tx, doer.actor, [change, ...joined], now);
        return { outcome: call.dryRun ? "tried" : "created", resource: viewFirm(firm, now) };
      },
      { rollBack: call.dryRun },
    );
  } catch (error) {
    throw await explainRefusal(ctx.db, error, { firm, boundTo: null });
  }
}

function clientFirm(
  { sealKey }: Context,
  { caller }: Call,
  given: RegisterFirmBody,
  now: Date,
): FirmRow {
  const firmId = newId("frm", now);
  const { bank, ...particulars } = given;
  return {
    ...blankFirm,
    firm_id: firmId,
    environment: caller.environment,
    desk_id: caller.deskId,
    ...particulars,
    ...sealBank(bank ?? null, firmId, sealKey),
    created_at: now,
    updated_at: now,
  };
}

function toldOf({ legal_name, role, external_id }: FirmRow): object {
  return { legal_name, role, external_id };
}
