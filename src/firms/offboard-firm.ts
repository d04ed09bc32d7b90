// How a firm leaves.
//
//   refuse   open business of other rooms blocks it; the conflict lists every blocker
//   drain    the firm takes no new business; once only money is left, the balance is paid out; a
//            worker offboards the firm when the last blocker is gone
//   leave    the firm's keys are revoked and its listed credits withdrawn; personal data is masked
//            and the sealed account number deleted

import { refuseSubAccount } from "../kernel/visibility.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import { refuseWithoutWithdrawals } from "../kernel/caller.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { advance, allowedActions } from "../kernel/lifecycle.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workOneByOne } from "../platform/postgres/offenders.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { changeFirm, type Decision } from "./change-firm.ts";
import { askAboutAccount, dropFirmQuestions } from "./check-firm.ts";
import { passSecondKey } from "../secondkeys/gate.ts";
import { describeGated, type Requester, refuseOperatorSuspension } from "./find-firms.ts";
import { firmLifecycle, maskEmail, maskedName, maskPhone, onlyByOperator } from "./rules.ts";
import type { Firm, OffboardFirmBody } from "./schema.ts";
import { type FirmRow, listOffboardingFirms } from "./store.ts";

/** One piece of open business that keeps a firm from leaving. */
export type Blocker = {
  readonly type: string;
  readonly id: string;
  readonly href: string;
  /** The amount, for business that is about money. */
  readonly amount_paise?: number;
};

type ListBlockers = (tx: Tx, deskId: string, firmId: string) => Promise<Blocker[]>;

export type LeavingFirm = {
  readonly environment: Environment;
  readonly deskId: string;
  readonly firmId: string;
};

/** What another room does when a firm leaves; it returns its changes, which are recorded last. */
type OnOffboard = (
  tx: Tx,
  actor: Actor,
  firm: LeavingFirm,
  now: Date,
) => Promise<readonly Change[]>;

/** The hooks of other rooms; `src/hooks.ts` lists them. */
export type Offboarding = {
  readonly blockers: readonly ListBlockers[];
  /** Lists the firm's balance and debts, and pays the balance out once nothing else is open. */
  readonly money: {
    readonly list: (tx: Tx, firm: LeavingFirm) => Promise<Blocker[]>;
    readonly drain: OnOffboard;
  };
  readonly onOffboard: readonly OnOffboard[];
};

const drainsPerRunMax = 100;
const drain: Actor = { kind: "worker", id: "offboarding", requestId: null };

export async function offboardFirm(
  ctx: Pick<Context, "db" | "now">,
  requester: Requester,
  {
    firmId,
    mode,
    offboarding,
  }: { firmId: string; mode: OffboardFirmBody["mode"]; offboarding: Offboarding },
): Promise<Firm> {
  return await changeFirm(ctx, requester, {
    firmId,
    async decide(tx, firm, now) {
      refuseSubAccount(requester.visible, "offboard firms");
      refuseOwnFirm(firm);
      refuseOperatorSuspension(requester, firm);
      const { connection_state } = firm;
      if (connection_state === "offboarded" || connection_state === "offboarding") {
        return undefined;
      }
      const state = advance(firmLifecycle, connection_state, "offboard");
      const blockers = [
        ...(await listBlockers(tx, firm, offboarding)),
        ...(await offboarding.money.list(tx, toLeaving(firm))),
      ];
      if (blockers.length === 0) {
        return await finishLeaving(tx, requester.actor, { firm, state, offboarding, now });
      }
      if (mode !== "drain") throw openBusiness(firm, blockers);
      refuseWithoutWithdrawals(requester);
      const act = { ...describeGated(firm), kind: "offboarding" as const };
      const also = await passSecondKey(tx, requester, act, now);
      await dropFirmQuestions(tx, firm);
      // What is left is paid once the bank has confirmed the account.
      const asked = firm.account_confirmed_at === null && (await askAboutAccount(tx, firm, now));
      return {
        action: "drain",
        also,
        changes: {
          ...asked,
          connection_state: advance(firmLifecycle, connection_state, "drain"),
          suspended_by: null,
          suspension_reason: null,
        },
      };
    },
  });
}

/** Offboards draining firms without blockers. The others are looked at again in the next run. */
export async function finishOffboarding(
  ctx: Pick<Context, "db" | "now">,
  offboarding: Offboarding,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const looked = { limit: drainsPerRunMax, except: offenders.ids() };
  const leaving = await listOffboardingFirms(ctx.db, looked);
  const desks = new Map(leaving.map(({ firm_id, desk_id }) => [firm_id, desk_id]));
  await workOneByOne(offenders, [...desks.keys()], async (firmId) => {
    const visible = { deskId: desks.get(firmId) ?? "", firmId: null };
    const requester = { actor: drain, visible, withdrawals: true, dryRun: false };
    await changeFirm(ctx, requester, {
      firmId,
      async decide(tx, firm, now) {
        if (firm.connection_state !== "offboarding") return undefined;
        const blockers = await listBlockers(tx, firm, offboarding);
        if (blockers.length > 0) return undefined;
        if ((await offboarding.money.list(tx, toLeaving(firm))).length > 0) {
          const also = await offboarding.money.drain(tx, drain, toLeaving(firm), now);
          return also.length > 0 ? { action: "drain", changes: {}, also } : undefined;
        }
        const state = advance(firmLifecycle, firm.connection_state, "finish");
        return await finishLeaving(tx, drain, { firm, state, offboarding, now });
      },
    });
    return 1;
  });
  return "idle";
}

async function listBlockers(tx: Tx, firm: FirmRow, { blockers }: Offboarding): Promise<Blocker[]> {
  const found: Blocker[] = [];
  for (const blockersIn of blockers) {
    found.push(...(await blockersIn(tx, firm.desk_id, firm.firm_id)));
  }
  return found;
}

async function finishLeaving(
  tx: Tx,
  actor: Actor,
  {
    firm,
    state,
    offboarding,
    now,
  }: {
    firm: FirmRow;
    state: FirmRow["connection_state"];
    offboarding: Offboarding;
    now: Date;
  },
): Promise<Decision> {
  const also: Change[] = [];
  const leaving = toLeaving(firm);
  for (const follow of offboarding.onOffboard)
    also.push(...(await follow(tx, actor, leaving, now)));
  await dropFirmQuestions(tx, firm);
  return {
    action: "offboard",
    changes: {
      connection_state: state,
      email: firm.email && maskEmail(firm.email),
      phone: firm.phone && maskPhone(firm.phone),
      bank_sealed: null,
      account_id: null,
      account_confirmed_at: null,
      bank_name: firm.bank_name && maskedName,
      mandate: firm.mandate && { ...firm.mandate, signatory_name: maskedName },
      suspended_by: null,
      suspension_reason: null,
    },
    event: { name: "firm.offboarded", data: {} },
    also,
  };
}

function toLeaving({ environment, desk_id, firm_id }: FirmRow): LeavingFirm {
  return { environment, deskId: desk_id, firmId: firm_id };
}

function refuseOwnFirm({ firm_id, desk_id }: FirmRow): void {
  if (firm_id !== desk_id) return;
  throw onlyByOperator("a desk's own firm is closed by the operator");
}

function openBusiness({ connection_state }: FirmRow, blockers: readonly Blocker[]): Failure {
  return new Failure("conflict", "the firm has open business", {
    detail: {
      reason: "open_business",
      state: connection_state,
      blockers,
      allowed_actions: allowedActions(firmLifecycle, connection_state),
    },
  });
}
