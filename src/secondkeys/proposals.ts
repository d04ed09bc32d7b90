// Proposals of a desk's keys: what is proposed was tried and taken back, and approving carries it out in
// one transaction with the decision.

import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, toActor } from "../kernel/actor.ts";
import type { Call, Caller } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId, newId } from "../kernel/ids.ts";
import { exactJson } from "../kernel/json.ts";
import { advance, allowedActions } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import { isVisible, type Visibility, visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { SealedPlace } from "../platform/master-key.ts";
import type { Creation } from "../platform/http/calls.ts";
import { claimIdempotencyKey } from "../platform/http/idempotency.ts";
import type { ListedRows } from "../platform/postgres/list.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { open, seal } from "../platform/seal.ts";
import type { Permit } from "./gate.ts";
import {
  approvalValidMs,
  type DeskApprovalKind,
  deskApprovalLifecycle,
  findApprovalState,
  type GatedAct,
  type KeyFacts,
  openApprovalsMax,
  refuseApprover,
} from "./rules.ts";
import {
  countOpenApprovals,
  type DeskApprovalRow,
  findApprovalOfDesk,
  insertDeskApproval,
  listApprovalRows,
  lockApprovalOfDesk,
  lockRules,
  setApprovalDecided,
  termsColumn,
} from "./store.ts";

type ProposalContext = Pick<Context, "db" | "now" | "sealKey">;

/** The keys of a desk that have not ended. */
export type FindKeys = (db: Db, deskId: string, now: Date) => Promise<readonly KeyFacts[]>;

export type ProposedTerms = {
  readonly kind: DeskApprovalKind;
  readonly firmId: string;
  /** What is carried out; JSON. */
  readonly terms: object;
};

/** What trying an act showed: what both keys may see of it, and what it rests on. */
type TriedAct = {
  readonly shown: Readonly<Record<string, unknown>>;
  readonly fact: string;
};

export async function proposeToDesk(
  ctx: ProposalContext,
  call: Call,
  {
    body,
    findKeys,
    tryAct,
    ...proposed
  }: ProposedTerms & {
    /** As it came, for its idempotency key. */
    readonly body: Readonly<Record<string, unknown>>;
    readonly findKeys: FindKeys;
    readonly tryAct: () => Promise<TriedAct>;
  },
): Promise<Creation<DeskApprovalView>> {
  const now = ctx.now();
  const { environment, deskId, keyId } = call.caller;
  const approvalId = newId("dap", now);
  const claim = async (tx: Tx) =>
    await claimIdempotencyKey(tx, {
      call,
      operation: "proposeAct",
      body,
      idField: "approval_id",
      newId: approvalId,
      now,
    });
  const earlier = await ctx.db.transaction(claim, { rollBack: true });
  // Only what is new is tried: an act that was carried out cannot be again.
  const tried = earlier === undefined ? await tryAct() : undefined;
  return await ctx.db.transaction(
    async (tx): Promise<Creation<DeskApprovalView>> => {
      const known = await claim(tx);
      if (known !== undefined || tried === undefined) {
        const row = await requireApproval(tx, call.caller, known ?? "");
        return { outcome: "replayed", resource: viewDeskApproval(row, now) };
      }
      await lockRules(tx, deskId);
      if ((await countOpenApprovals(tx, deskId, now)) >= openApprovalsMax) {
        throw new Failure("conflict", `${openApprovalsMax} approvals of your desk are open`, {
          detail: { reason: "too_many_open", most: openApprovalsMax },
        });
      }
      const own = (await findKeys(tx, deskId, now)).find(({ key_id }) => key_id === keyId);
      if (!own) throw new Error("the key of a call is there");
      const row: DeskApprovalRow = {
        approval_id: approvalId,
        environment,
        desk_id: deskId,
        firm_id: proposed.firmId,
        kind: proposed.kind,
        state: "proposed",
        terms_sealed: seal(exactJson(proposed.terms), sealPurpose(approvalId), ctx.sealKey),
        ...tried,
        proposed_by: keyId,
        proposed_name: own.name,
        decided_by: null,
        decided_name: null,
        reason: null,
        payout_id: null,
        version: 1,
        created_at: now,
        updated_at: now,
        expires_at: new Date(now.getTime() + approvalValidMs),
      };
      await insertDeskApproval(tx, [row]);
      await recordChanges(tx, toActor(call), [buildChange("propose", row, now)], now);
      return {
        outcome: call.dryRun ? "dry_run" : "created",
        resource: viewDeskApproval(row, now),
      };
    },
    { rollBack: call.dryRun },
  );
}

/** The account is another than when it was proposed. */
class FactChanged extends Error {}

/** Carries the act out as the approving key's, and decides, in the transaction of the act. */
export async function approveForDesk(
  ctx: ProposalContext,
  call: Call,
  {
    approvalId,
    findKeys,
    refuse,
    act,
  }: {
    readonly approvalId: string;
    readonly findKeys: FindKeys;
    /** Refuses a key that could not do it itself. */
    readonly refuse: (kind: DeskApprovalKind) => void;
    readonly act: (proposed: ProposedTerms, permit: Permit) => Promise<unknown>;
  },
): Promise<DeskApprovalView> {
  const now = ctx.now();
  const { caller } = call;
  const { environment, deskId, keyId } = caller;
  const seen = await requireApproval(ctx.db, caller, approvalId);
  refuse(seen.kind);
  // A repeated approval changes nothing.
  if (seen.state === "approved" && seen.decided_by === keyId) return viewDeskApproval(seen, now);
  advance(deskApprovalLifecycle, findApprovalState(seen, now), "approve");
  const keys = await findKeys(ctx.db, deskId, now);
  const approver = keys.find(({ key_id }) => key_id === keyId);
  if (!approver) throw new Error("the key of a call is there");
  const proposer = keys.find(({ key_id }) => key_id === seen.proposed_by);
  if (!proposer) throw await voidApproval(ctx, call, approvalId, "the proposing key has ended");
  const pair = { approver, proposer, proposedName: seen.proposed_name };
  refuseApprover(pair, { environment, now });
  let approved: DeskApprovalRow | undefined;
  const permit: Permit = async (tx, { kind, fact, firmId, payoutId = null }) => {
    const row = await lockApprovalOfDesk(tx, deskId, approvalId);
    if (!row) throw new Error("an approval stays");
    const state = advance(deskApprovalLifecycle, findApprovalState(row, now), "approve");
    if (row.kind !== kind || row.firm_id !== firmId) throw new Error("another act was proposed");
    if (row.fact !== fact) throw new FactChanged();
    const by = { decided_by: keyId, decided_name: approver.name, payout_id: payoutId };
    approved = { ...row, state, ...by, ...raise(row, now) };
    await setApprovalDecided(tx, approved);
    return [buildChange("approve", approved, now)];
  };
  const { kind, firm_id: firmId, terms_sealed } = seen;
  if (!terms_sealed) throw new Error("what is proposed has its terms");
  const terms = JSON.parse(open(terms_sealed, sealPurpose(approvalId), ctx.sealKey)) as object; // Sealed by ourselves.
  try {
    await act({ kind, firmId, terms }, permit);
  } catch (error) {
    if (!(error instanceof FactChanged)) throw error;
    throw await voidApproval(ctx, call, approvalId, "the account is another by now");
  }
  if (!approved) throw await voidApproval(ctx, call, approvalId, "it would change nothing by now");
  return viewDeskApproval(approved, now);
}

/** A key that could approve it, and its own, take a proposal out of the way. */
export async function rejectForDesk(
  ctx: ProposalContext,
  call: Call,
  {
    approvalId,
    reason,
    findKeys,
    refuse,
  }: {
    readonly approvalId: string;
    readonly reason: string;
    readonly findKeys: FindKeys;
    readonly refuse: (kind: DeskApprovalKind) => void;
  },
): Promise<DeskApprovalView> {
  const now = ctx.now();
  const { deskId, keyId } = call.caller;
  const { kind } = await requireApproval(ctx.db, call.caller, approvalId);
  refuse(kind);
  return await ctx.db.transaction(
    async (tx) => {
      const row = await lockApprovalOfDesk(tx, deskId, approvalId);
      if (!row) throw notFound("approval_id");
      const state = advance(deskApprovalLifecycle, findApprovalState(row, now), "reject");
      const own = (await findKeys(tx, deskId, now)).find(({ key_id }) => key_id === keyId);
      if (!own) throw new Error("the key of a call is there");
      const by = { decided_by: keyId, decided_name: own.name, reason };
      const after: DeskApprovalRow = { ...row, state, ...by, ...raise(row, now) };
      await setApprovalDecided(tx, after);
      await recordChanges(tx, toActor(call), [buildChange("reject", after, now)], now);
      return viewDeskApproval(after, now);
    },
    { rollBack: call.dryRun },
  );
}

/** Ends a proposal that cannot be carried out any more; the conflict says so. */
async function voidApproval(
  ctx: Pick<Context, "db" | "now">,
  call: Call,
  approvalId: string,
  reason: string,
): Promise<Failure> {
  const now = ctx.now();
  const ending: Actor = { kind: "worker", id: "approvals", requestId: call.requestId };
  await ctx.db.transaction(
    async (tx) => {
      const row = await lockApprovalOfDesk(tx, call.caller.deskId, approvalId);
      if (row?.state !== "proposed") return;
      const after: DeskApprovalRow = { ...row, state: "voided", reason, ...raise(row, now) };
      await setApprovalDecided(tx, after);
      await recordChanges(tx, ending, [buildChange("void", after, now)], now);
    },
    { rollBack: call.dryRun },
  );
  return new Failure("conflict", `the approval is void: ${reason}`, {
    detail: { reason: "approval_voided" },
  });
}

export async function readDeskApproval(
  ctx: Pick<Context, "db" | "now">,
  caller: Caller,
  approvalId: string,
): Promise<DeskApprovalView> {
  return viewDeskApproval(await requireApproval(ctx.db, caller, approvalId), ctx.now());
}

async function requireApproval(
  db: Db,
  caller: Caller,
  approvalId: string,
): Promise<DeskApprovalRow> {
  const { deskId } = caller;
  const row = isId("dap", approvalId)
    ? await findApprovalOfDesk(db, deskId, approvalId)
    : undefined;
  const isSeen = row && isVisible(visibleTo(caller), { deskId, firmId: row.firm_id });
  if (!isSeen) throw notFound("approval_id");
  return row;
}

/** The proposals that a caller can see. */
export function listDeskApprovalRows(visible: Visibility): ListedRows<DeskApprovalRow> {
  return listApprovalRows(visible);
}

function raise({ version }: DeskApprovalRow, now: Date) {
  return { version: version + 1, updated_at: now };
}

export function viewDeskApproval(row: DeskApprovalRow, now: Date) {
  const status = findApprovalState(row, now);
  return {
    approval_id: row.approval_id,
    kind: row.kind,
    firm_id: row.firm_id,
    status,
    shown: { ...row.shown },
    // Names only: a sub_account key does not see its desk's other keys.
    proposed_by: row.proposed_name,
    decided_by: row.decided_name,
    reason: row.reason,
    payout_id: row.payout_id,
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
    expires_at: istTimestamp(row.expires_at),
    version: row.version,
    allowed_actions: allowedActions(deskApprovalLifecycle, status),
  };
}

type DeskApprovalView = ReturnType<typeof viewDeskApproval>;

const eventNames = {
  propose: "second_key.proposed",
  approve: "second_key.approved",
  reject: "second_key.rejected",
} as const;

function buildChange(
  action: "propose" | "approve" | "reject" | "void",
  row: DeskApprovalRow,
  now: Date,
): Change {
  const view = viewDeskApproval(row, now);
  const { kind, firm_id, shown, proposed_by, decided_by, payout_id, reason } = view;
  const data = { kind, firm_id, shown, proposed_by, decided_by, payout_id, reason };
  const from = action === "propose" ? null : "proposed";
  return {
    environment: row.environment,
    deskId: row.desk_id,
    firmId: row.firm_id,
    action: `second_key.${action}`,
    entity: {
      type: "approval",
      id: row.approval_id,
      version: row.version,
      href: `/v1/approvals/${row.approval_id}`,
    },
    after: view,
    ...(action !== "void" && {
      event: { name: eventNames[action], from, to: view.status, data },
    }),
  };
}

/** Lets an act be tried: notes what it rests on, and is recorded nowhere. */
export function notingPermit(): {
  readonly permit: Permit;
  readonly findNoted: () => GatedAct | undefined;
} {
  let act: GatedAct | undefined;
  return {
    permit: async (_tx, tried) => {
      act = tried;
      return [];
    },
    findNoted: () => act,
  };
}

export function nothingChanges(): Failure {
  return new Failure("conflict", "it would change nothing", {
    detail: { reason: "nothing_changes" },
  });
}

/** Binds sealed terms to their proposal. */
function sealPurpose(approvalId: string): string {
  return `desk approval ${approvalId}`;
}

/** The sealed terms of proposals, for a change of the master key. */
export function sealedTerms({ db }: Pick<Context, "db">): SealedPlace {
  return {
    name: "desks' proposals",
    list: async (after, limit) => {
      const rows = await termsColumn.list(db, after, limit);
      return rows.map((row) => ({ ...row, purpose: sealPurpose(row.id) }));
    },
    set: (rows) => termsColumn.set(db, rows),
  };
}
