import { dropQuestions } from "../inquiries/ask-outside.ts";
import { Failure } from "../kernel/failure.ts";
import { advance, allowedActions } from "../kernel/lifecycle.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres.ts";
import { askAboutAccount, askAboutFirm } from "./ask-about-firm.ts";
import { changeFirm, type Decision } from "./change-firm.ts";
import { type Doer, refuseBound } from "./doer.ts";
import { isSameBank, plainParticulars, refuseWrong, sealBank } from "./particulars.ts";
import { explainRefusal } from "./refuse-twins.ts";
import { beneficiaryHoldMs, firmLifecycle, type FirmState, mergeChecks } from "./rules.ts";
import type { Firm, UpdateFirmBody } from "./schema.ts";
import type { OnMoved } from "./set-group.ts";
import { blankFirm, type FirmRow } from "./store.ts";

const identityFields = ["legal_name", "iec", "pan", "gstin"] as const;
const closedStates: readonly FirmState[] = ["rejected", "offboarding", "offboarded"];

/** Corrects what is known of a firm. Who it is and where its money goes are asked about again. */
export async function updateFirm(
  ctx: Context & { readonly onMoved: OnMoved },
  doer: Doer,
  { firmId, body }: { firmId: string; body: UpdateFirmBody },
): Promise<Firm> {
  const given = plainParticulars(body);
  refuseWrong(given, blankFirm);
  if (given.group_id !== undefined) refuseBound(doer, "change the group of a firm");
  try {
    return await changeFirm(ctx, doer, {
      firmId,
      async decide(tx, firm, now) {
        refuseWrong(given, firm);
        const changes = changesOf(firm, given, ctx.sealKey);
        if (Object.keys(changes).length === 0) return undefined;
        refuseRenamedDesk(firm, changes);
        refuseClosed(firm);
        const decision = await consequencesOf(tx, { firm, changes, now });
        if (changes.group_id === undefined) return decision;
        const move = { deskId: doer.deskId, from: firm.group_id, to: changes.group_id };
        return { ...decision, also: await ctx.onMoved(tx, move, now) };
      },
    });
  } catch (error) {
    const { iec = null, external_id = null } = given;
    const firm = { desk_id: doer.deskId, firm_id: firmId, iec, external_id };
    throw await explainRefusal(ctx.db, error, { firm, boundTo: doer.boundTo });
  }
}

/** Only what is different from what is known. */
function changesOf(firm: FirmRow, given: UpdateFirmBody, sealKey: Buffer): Partial<FirmRow> {
  const { bank, ...fields } = given;
  const known: Readonly<Record<string, unknown>> = firm;
  const changes = Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => value !== known[name]),
  );
  if (bank === undefined || isSameBank(firm, bank, sealKey)) return changes;
  return { ...changes, ...sealBank(bank, firm.firm_id, sealKey) };
}

/**
 *   who it is        a firm that was verified is verified again, and its mandate, which named
 *                    another, ends
 *   where money goes payouts are held for a day; a firm that trades goes on, and the bank is asked
 *                    again before it is paid
 *   anything else    is just written down
 */
async function consequencesOf(
  tx: Tx,
  { firm, changes, now }: { firm: FirmRow; changes: Partial<FirmRow>; now: Date },
): Promise<Decision> {
  const isAnother = identityFields.some((field) => field in changes);
  const movesMoney = "bank_sealed" in changes;
  const hold =
    movesMoney || "iec" in changes
      ? {
          hold_reason: "beneficiary_change",
          hold_until: new Date(now.getTime() + beneficiaryHoldMs),
        }
      : {};
  const updated = { ...firm, ...changes, ...hold };
  const base = { ...changes, ...hold };
  const state = firm.connection_state;
  const isTrading = state === "authorized" || state === "suspended";
  const isAsked = state === "verifying" || state === "verified" || isTrading;
  if (!isAsked || (!isAnother && !movesMoney)) return { action: "update", changes: base };
  await dropQuestions(tx, [firm.firm_id]);
  if (isTrading && !isAnother) {
    const others = firm.checks.filter(({ check }) => check !== "BANK_NAME_MATCH");
    const checks = mergeChecks(others, await askAboutAccount(tx, updated, now));
    return { action: "update", changes: { ...base, checks } };
  }
  const next = advance(firmLifecycle, state, "change_identity");
  const checks = await askAboutFirm(tx, updated, now);
  return {
    action: "update",
    changes: { ...base, connection_state: next, checks, mandate: null },
  };
}

function refuseClosed({ connection_state }: FirmRow): void {
  if (!closedStates.includes(connection_state)) return;
  throw new Failure("conflict", `a firm that is ${connection_state} cannot be changed`, {
    detail: {
      reason: "wrong_state",
      state: connection_state,
      allowed_actions: allowedActions(firmLifecycle, connection_state),
    },
  });
}

/** Desks are told apart by their names, and only the operator knows all of them. */
function refuseRenamedDesk(firm: FirmRow, changes: Partial<FirmRow>): void {
  if (firm.firm_id !== firm.desk_id || changes.legal_name === undefined) return;
  throw new Failure("forbidden", "the operator names a desk", { detail: { reason: "own_firm" } });
}
