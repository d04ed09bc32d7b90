// Adding a machine takes two admins once there have been two; whoever approves is shown the token, and
// adding one of the same name gives it another token and other terms. Each refused call with a token
// that was given is kept, and the admins are told.

import { createHash, randomBytes } from "node:crypto";

import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, namedOperator, type Permission } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { houseFirmId, newId } from "../kernel/ids.ts";
import { rupeesText } from "../kernel/money.ts";
import { isInside } from "../kernel/networks.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { actWithApproval } from "./act-with-approval.ts";
import type { ApprovalKind, Terms } from "./approval-kind.ts";
import {
  type MachineRefusal,
  type MachineTerms,
  refuseAddress,
  refuseBadEnd,
  refuseBadMachine,
  refuseMachine,
  toMachineActorId,
} from "./machine-rules.ts";
import {
  claimTelling,
  findMachine,
  findMachineByToken,
  listMachineRows,
  type MachineRow,
  noteRefused,
  noteUse,
  putMachine,
  setMachineDisabled,
} from "./machine-store.ts";
import { countPeople, firstIsAdmin, refuseAlone } from "./manage-operators.ts";
import { notSignedIn } from "./rules.ts";
import { lockOperators } from "./store.ts";

/** Distinguishes the tokens of machines from those of people, and lets secret scanners find them. */
const machineTokenForm = /^machine_[A-Za-z0-9_-]{43}$/;
/** The admins are told of one machine so often at most. */
const tellEveryMs = 3_600_000;
const validHours = 24;

type AddMachine = MachineTerms & { readonly expires_at: Date };

type AddedMachine = {
  readonly outcome: "proposed" | "added";
  readonly approval_id?: string;
  readonly machine?: MachineView;
  /** Shown once; with a proposal to whoever approves it. */
  readonly token?: string;
};

export async function addMachine(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { expires_at: expiresAt, ...asked }: AddMachine,
): Promise<AddedMachine> {
  refuseBadMachine(asked);
  refuseBadEnd(expiresAt, ctx.now());
  const admins = await countPeople(ctx.db, ["admin"]);
  if (admins === 0) throw firstIsAdmin();
  const people = admins >= 2 ? 2 : 1;
  const { name, day_limit_paise } = asked;
  const permissions = [...new Set(asked.permissions)].toSorted();
  const networks = [...new Set(asked.networks)].toSorted();
  const expires_at = istTimestamp(expiresAt);
  const acted = await actWithApproval(ctx, actor, {
    kind: machineAddition,
    environment: "live",
    subjectId: toMachineActorId(name),
    terms: { name, permissions, networks, day_limit_paise, expires_at, people },
    people,
  });
  if (acted.outcome === "proposed") return acted;
  return { outcome: "added", ...(acted.answer as TokenAnswer) }; // What carrying it out answers.
}

type TokenAnswer = { readonly machine: MachineView; readonly token: string };

type AdditionTerms = Terms & MachineTerms & { readonly expires_at: string; readonly people: 1 | 2 };

export const machineAddition: ApprovalKind<AdditionTerms> = {
  name: "machine.add",
  proposers: ["admin"],
  approvers: ["admin"],
  validHours,
  async prepare(tx, { terms }, now) {
    await lockOperators(tx);
    await refuseAlone(tx, machineAddition, { people: terms.people, role: "viewer" });
    const { people: _people, expires_at, ...asked } = terms;
    const expiresAt = new Date(expires_at);
    refuseBadEnd(expiresAt, now);
    const before = await findMachine(tx, terms.name);
    const again = before ? " anew, and its token ends" : "";
    return {
      summary: `the machine ${asked.name} is let in${again}: ${asked.permissions.join(", ")} from ${asked.networks.join(", ")}, ${rupeesText(asked.day_limit_paise)} rupees a day; whoever approves is shown its token`,
      valuePaise: null,
      facts: { version: before?.version ?? 0 },
      shows: [
        {
          title: "Machine",
          rows: [
            ...(before ? [{ which: "before", ...toTerms(before) }] : []),
            { which: "after", ...asked, expires_at },
          ],
        },
      ],
      async carryOut(actor) {
        const token = `machine_${randomBytes(32).toString("base64url")}`;
        const row: MachineRow = {
          ...asked,
          machine_id: before?.machine_id ?? newId("mch", now),
          token_hash: hashMachineToken(token),
          held_by: actor.id,
          created_by: actor.id,
          created_at: now,
          expires_at: expiresAt,
          disabled_at: null,
          last_used_at: before?.last_used_at ?? null,
          refused_at: before?.refused_at ?? null,
          refused_from: before?.refused_from ?? null,
          refusal: before?.refusal ?? null,
          told_at: before?.told_at ?? null,
          version: (before?.version ?? 0) + 1,
        };
        await putMachine(tx, row);
        const answer: TokenAnswer = { machine: viewMachine(row, now), token };
        return { changes: [buildMachineChange("add", row, now)], answer };
      },
    };
  },
};

function toTerms({ name, permissions, networks, day_limit_paise, expires_at }: MachineRow) {
  return { name, permissions, networks, day_limit_paise, expires_at: istTimestamp(expires_at) };
}

/** One admin suffices, because it may be urgent; adding it anew takes two. */
export async function disableMachine(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  name: string,
): Promise<MachineView> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    await lockOperators(tx);
    const before = await findMachine(tx, name);
    if (!before) throw noMachine(name);
    if (before.disabled_at !== null) return viewMachine(before, now);
    const after: MachineRow = { ...before, disabled_at: now, version: before.version + 1 };
    await setMachineDisabled(tx, after);
    await recordChanges(tx, actor, [buildMachineChange("disable", after, now)], now);
    return viewMachine(after, now);
  });
}

export async function listMachines(ctx: {
  readonly db: Db;
  readonly now: () => Date;
}): Promise<MachineView[]> {
  return (await listMachineRows(ctx.db)).map((row) => viewMachine(row, ctx.now()));
}

type EnteredMachine = Actor & { readonly machine: NonNullable<Actor["machine"]> };

export function isMachineToken(token: string): boolean {
  return machineTokenForm.test(token);
}

/** The machine of a token; a call that is refused although the token was given once is told. */
export async function enterMachine(
  ctx: Pick<Context, "db" | "now">,
  {
    token,
    from,
    requestId,
  }: { readonly token: string; readonly from: string; readonly requestId: string },
): Promise<EnteredMachine> {
  const now = ctx.now();
  const row = await findMachineByToken(ctx.db, hashMachineToken(token));
  if (!row) throw notSignedIn();
  const refusal = findMachineRefusal(row, { from, now });
  if (!refusal) return await admitMachine(ctx, row, { now, requestId });
  await tellRefusal(ctx, row, { refusal, from, requestId });
  throw refusal === "address" ? refuseAddress(from) : notSignedIn();
}

const ownAddress = "127.0.0.1";

/** The service itself acts as a machine that may call from the service's own address. */
export async function enterMachineByName(
  ctx: Pick<Context, "db" | "now">,
  { name, permission }: { readonly name: string; readonly permission: Permission },
): Promise<EnteredMachine> {
  const now = ctx.now();
  const row = await findMachine(ctx.db, name);
  if (!row) throw noMachine(name);
  const refusal = findMachineRefusal(row, { from: ownAddress, now });
  if (refusal === "address") throw refuseAddress(ownAddress);
  if (refusal) throw new Failure("forbidden", `the machine ${name} is ${refusal}`);
  const actor = await admitMachine(ctx, row, { now, requestId: null });
  refuseMachine(actor, { permission, takesMachines: true });
  return actor;
}

async function admitMachine(
  ctx: Pick<Context, "db">,
  row: MachineRow,
  { now, requestId }: { readonly now: Date; readonly requestId: string | null },
): Promise<EnteredMachine> {
  await noteUse(ctx.db, { machineId: row.machine_id, now });
  const { permissions, day_limit_paise: dayLimitPaise, held_by: heldBy } = row;
  return {
    ...namedOperator(toMachineActorId(row.name)),
    requestId,
    // Whatever asks for a role, and knows of no machines, takes it for one who may read.
    role: "viewer",
    machine: { permissions, dayLimitPaise, heldBy },
  };
}

function noMachine(name: string): Failure {
  return new Failure("not_found", `no machine is called ${name}`);
}

function findMachineRefusal(
  { disabled_at, expires_at, networks }: MachineRow,
  { from, now }: { readonly from: string; readonly now: Date },
): MachineRefusal | undefined {
  if (disabled_at !== null) return "disabled";
  if (expires_at <= now) return "expired";
  return isInside(from, networks) ? undefined : "address";
}

async function tellRefusal(
  ctx: Pick<Context, "db" | "now">,
  row: MachineRow,
  {
    refusal,
    from,
    requestId,
  }: { readonly refusal: MachineRefusal; readonly from: string; readonly requestId: string | null },
): Promise<void> {
  const now = ctx.now();
  const refused = { ...row, refused_at: now, refused_from: from, refusal };
  await ctx.db.transaction(async (tx) => {
    await noteRefused(tx, refused);
    const since = new Date(now.getTime() - tellEveryMs);
    if (!(await claimTelling(tx, { machineId: row.machine_id, now, since }))) return;
    const event = {
      name: "machine.refused",
      from: null,
      to: null,
      data: { name: row.name, refusal, last_from: from, held_by: row.held_by },
    };
    const visitor: Actor = { kind: "visitor", id: "sign-in", requestId };
    await recordChanges(
      tx,
      visitor,
      [{ ...buildMachineChange("refuse", refused, now), event }],
      now,
    );
  });
}

/** A machine without its token's hash. */
function viewMachine(row: MachineRow, now: Date) {
  const { disabled_at, expires_at, last_used_at, refused_at } = row;
  return {
    machine_id: row.machine_id,
    name: row.name,
    status: findMachineStatus(row, now),
    permissions: row.permissions,
    networks: row.networks,
    day_limit_paise: row.day_limit_paise,
    held_by: row.held_by,
    created_at: istTimestamp(row.created_at),
    expires_at: istTimestamp(expires_at),
    disabled_at: disabled_at && istTimestamp(disabled_at),
    last_used_at: last_used_at && istTimestamp(last_used_at),
    refused_at: refused_at && istTimestamp(refused_at),
    refused_from: row.refused_from,
    refusal: row.refusal,
  } as const;
}

function findMachineStatus({ disabled_at, expires_at }: MachineRow, now: Date) {
  if (disabled_at !== null) return "disabled";
  return expires_at <= now ? "expired" : "active";
}

type MachineView = ReturnType<typeof viewMachine>;

/** Machines belong to the house, as people do. */
function buildMachineChange(
  action: "add" | "disable" | "refuse",
  after: MachineRow,
  now: Date,
): Change {
  const house = houseFirmId.live;
  return {
    environment: "live",
    deskId: house,
    firmId: house,
    action: `machine.${action}`,
    entity: {
      type: "machine",
      id: after.machine_id,
      version: after.version,
      href: "/ops/machines",
    },
    after: viewMachine(after, now),
  };
}

/** A token has 256 random bits and needs no slow hash. */
function hashMachineToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
