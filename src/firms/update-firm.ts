// PATCH of a firm, and its membership. Membership is a column of the firm, so that a firm is in one
// group or none; groups decide and this file writes. The firm is locked before the group.

import { refuseHouse } from "../house/read-house.ts";
import type { Change } from "../kernel/actor.ts";
import { refuseWithoutWithdrawals } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { advance, allowedActions, wrongState } from "../kernel/lifecycle.ts";
import { istDay } from "../kernel/time.ts";
import { refuseSubAccount } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { passSecondKey } from "../secondkeys/gate.ts";
import { askAboutAccount, askAboutFirm, dropFirmQuestions } from "./check-firm.ts";
import { describeGated, type Requester, viewBank } from "./find-firms.ts";
import { changeFirm, type Decision } from "./change-firm.ts";
import { beneficiaryHoldMs, identityFields, keepChecks } from "./hold-rules.ts";
import {
  explainRefusal,
  isSameBank,
  normalizeParticulars,
  refuseInvalidParticulars,
  renewAccount,
  sealBank,
} from "./particulars.ts";
import { firmLifecycle, type FirmState, mayTrade, onlyByOperator } from "./rules.ts";
import type { Firm, UpdateFirmBody } from "./schema.ts";
import { blankFirm, type FirmRow } from "./store.ts";
import { lockMembership as lockRow, type Membership, setFirmGroup } from "./group-store.ts";

const closedStates: readonly FirmState[] = ["rejected", "offboarding", "offboarded"];

/** Changes a firm. A new identity or account is verified again. */
export async function updateFirm(
  ctx: Context & FirmHooks,
  requester: Requester,
  { firm_id: firmId, ...body }: UpdateFirmBody & { readonly firm_id: string },
): Promise<Firm> {
  const given = normalizeParticulars(body);
  refuseInvalidParticulars(given, blankFirm);
  if (given.group_id !== undefined)
    refuseSubAccount(requester.visible, "change the group of a firm");
  try {
    return await changeFirm(ctx, requester, {
      firmId,
      async decide(tx, firm, now) {
        refuseInvalidParticulars(given, firm);
        if (given.bank !== undefined) refuseWithoutWithdrawals(requester);
        const changes = findChanges(firm, given, ctx.sealKey);
        const asksAgain = given.bank !== undefined && mayAskAgain(firm);
        if (Object.keys(changes).length === 0 && !asksAgain) return undefined;
        refuseRenamedDesk(firm, changes);
        refuseClosed(firm);
        if (identityFields.some((field) => field in changes)) {
          const renamed = { ...firm, ...changes };
          await refuseHouse(tx, firm.environment, { firm: renamed, on: istDay(now) });
        }
        if ("bank_sealed" in changes || "email" in changes) {
          await ctx.onContactConcerned(tx, firm, now);
        }
        if ("email" in changes) await ctx.onContactConcerned(tx, { ...firm, ...changes }, now);
        const also: Change[] = isAnother(changes)
          ? [...(await ctx.onIdentityChanged(tx, firm, changes))]
          : [];
        if ("bank_sealed" in changes) {
          const act = { ...describeGated(firm), kind: "bank_change" as const };
          also.push(...(await passSecondKey(tx, requester, act, now)));
        }
        const decision = await decideConsequences(tx, { firm, changes, asksAgain, now });
        if (changes.group_id === undefined) return { ...decision, also };
        const move = {
          deskId: requester.visible.deskId,
          from: firm.group_id,
          to: changes.group_id,
        };
        return { ...decision, also: [...also, ...(await ctx.onMoved(tx, move, now))] };
      },
    });
  } catch (error) {
    const { iec = null, external_id = null } = given;
    const firm = { desk_id: requester.visible.deskId, firm_id: firmId, iec, external_id };
    throw await explainRefusal(ctx.db, error, { firm, visible: requester.visible });
  }
}

export type GroupMove = {
  readonly deskId: string;
  readonly from: string | null;
  readonly to: string | null;
};

/**
 * Called before a firm's `group_id` changes: groups may refuse the move, and their changes are
 * recorded with the firm's.
 */
type OnMoved = (tx: Tx, move: GroupMove, now: Date) => Promise<readonly Change[]>;

/**
 * Called with a firm that has a contact: when it is registered, as it was before its account or contact
 * changes, and with its new contact.
 */
export type OnContactConcerned = (
  tx: Tx,
  firm: Pick<FirmRow, "environment" | "desk_id" | "firm_id" | "email">,
  now: Date,
) => Promise<void>;

/**
 * Called with a locked firm before its name or an identifier changes. A room refuses the change, or
 * forgets what it knew of the firm as it was; its changes are recorded with the firm's.
 */
export type OnIdentityChanged = (
  tx: Tx,
  firm: Pick<FirmRow, "environment" | "desk_id" | "firm_id" | "pan" | "version">,
  changes: Pick<Partial<FirmRow>, "pan">,
) => Promise<readonly Change[]>;

export type FirmHooks = {
  readonly onMoved: OnMoved;
  readonly onContactConcerned: OnContactConcerned;
  readonly onIdentityChanged: OnIdentityChanged;
};

export async function lockMembership(tx: Tx, deskId: string, firmId: string): Promise<Membership> {
  const row = isId("frm", firmId) ? await lockRow(tx, deskId, firmId) : undefined;
  if (!row) throw notFound("firm_id");
  return row;
}

/** Sets the group of a locked firm; null for none. */
export async function setGroup(
  tx: Tx,
  { firm_id, desk_id }: Membership,
  groupId: string | null,
  now: Date,
): Promise<Membership> {
  const changed = await setFirmGroup(tx, desk_id, { firmId: firm_id, groupId, now });
  if (!changed) throw new Error("a locked firm can be changed");
  return changed;
}

/** The change of the firm when its membership changes, for the audit trail. */
export function buildMembershipChange(after: Membership): Change {
  return {
    environment: after.environment,
    deskId: after.desk_id,
    firmId: after.firm_id,
    action: "firm.group_changed",
    entity: {
      type: "firm",
      id: after.firm_id,
      version: after.version,
      href: `/v1/firms/${after.firm_id}`,
    },
    after,
  };
}

/** The columns that differ from the stored ones. */
function findChanges(firm: FirmRow, given: UpdateFirmBody, sealKey: Buffer): Partial<FirmRow> {
  const { bank, ...fields } = given;
  const known: Readonly<Record<string, unknown>> = firm;
  const changes = Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => value !== known[name]),
  );
  if (bank === undefined || isSameBank(firm, bank, sealKey)) return changes;
  return { ...changes, ...sealBank(bank, firm.firm_id, sealKey) };
}

/** Giving the same account again asks the bank anew where it did not confirm it. */
function mayAskAgain({ connection_state, checks, ...firm }: FirmRow): boolean {
  const isAsked = connection_state === "verified" || mayTrade(connection_state);
  const isPending = checks.some(
    ({ check, outcome }) => check === "BANK_NAME_MATCH" && outcome === "pending",
  );
  return isAsked && !isPending && firm.account_id !== null && firm.account_confirmed_at === null;
}

function isAnother(changes: Partial<FirmRow>): boolean {
  return identityFields.some((field) => field in changes);
}

/** Names of desks are unique across the service, so only the operator changes them. */
function refuseRenamedDesk(firm: FirmRow, changes: Partial<FirmRow>): void {
  if (firm.firm_id !== firm.desk_id || changes.legal_name === undefined) return;
  throw onlyByOperator("the operator names a desk");
}

function refuseClosed({ connection_state }: FirmRow): void {
  if (!closedStates.includes(connection_state)) return;
  throw wrongState(`a firm that is ${connection_state} cannot be changed`, {
    state: connection_state,
    allowed: allowedActions(firmLifecycle, connection_state),
  });
}

/**
 *   identity        a verified firm is verified again, and its mandate ends
 *   bank account    payouts are held for a day; a trading firm keeps trading, and the bank is asked
 *                   before the next payout
 *   other fields    are stored
 */
async function decideConsequences(
  tx: Tx,
  {
    firm,
    changes,
    asksAgain,
    now,
  }: { firm: FirmRow; changes: Partial<FirmRow>; asksAgain: boolean; now: Date },
): Promise<Decision> {
  const isOther = isAnother(changes);
  const movesMoney = "bank_sealed" in changes;
  const event = movesMoney && { event: describeBankChange(firm, { ...firm, ...changes }) };
  const hold: Partial<FirmRow> =
    movesMoney || "iec" in changes
      ? {
          hold_reason: "beneficiary_change",
          hold_until: new Date(now.getTime() + beneficiaryHoldMs),
        }
      : {};
  const updated = { ...firm, ...changes, ...hold };
  const base = { ...changes, ...hold };
  const state = firm.connection_state;
  const isTrading = mayTrade(state);
  const isAsked = state === "verifying" || state === "verified" || isTrading;
  if (!isOther && !movesMoney && !asksAgain) return { action: "update", changes: base };
  await dropFirmQuestions(tx, firm);
  if (!isAsked) {
    // It is asked about when the firm is verified.
    const checks = keepChecks(firm.checks, changes);
    const isOtherAccount = movesMoney || "legal_name" in changes;
    const account = isOtherAccount ? renewAccount(updated, now) : {};
    return { action: "update", changes: { ...base, checks, ...account }, ...event };
  }
  if (isTrading && !isOther) {
    const asked = await askAboutAccount(tx, updated, now);
    return { action: "update", changes: { ...base, ...asked }, ...event };
  }
  const next = advance(firmLifecycle, state, "change_identity");
  const asked = await askAboutFirm(tx, updated, now);
  return {
    action: "update",
    changes: { ...base, connection_state: next, ...asked, mandate: null },
    ...event,
  };
}

/** The account before and after, masked as on every read. */
function describeBankChange(before: FirmRow, after: FirmRow) {
  const data = { bank: viewBank(after), former_bank: viewBank(before) };
  return { name: "firm.bank_changed", data };
}
