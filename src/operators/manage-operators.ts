// Adding or resetting a person takes two admins, and neither can impersonate that person: each holds
// one code, and enrolment needs both. Until there have been two admins, one admin on the machine adds
// people alone, with one code.

import { createHash, randomBytes } from "node:crypto";

import { recordChanges } from "../journal/record-changes.ts";
import {
  type Actor,
  type Change,
  isSamePerson,
  type OperatorRole,
  personKey,
} from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { houseFirmId, newId } from "../kernel/ids.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { type Tx, type Db } from "../platform/postgres/postgres.ts";
import { type Acted, actWithApproval } from "./act-with-approval.ts";
import type { ApprovalKind, Terms } from "./approval-kind.ts";
import { approvalRequired } from "./approval-rules.ts";
import { cleanName, enrolHours } from "./rules.ts";
import {
  findOperator,
  insertOperator,
  listOperatorRows,
  lockOperators,
  type OperatorRow,
  revokeSessions,
  setOperator,
  setRecoveryCodes,
} from "./store.ts";

const codeBytes = 12;
const validHours = 24;

type LetIn = {
  readonly outcome: "proposed" | "added" | "reset";
  readonly approval_id?: string;
  readonly operator?: OperatorView;
  /** For the new person, shown once. The approver gets a second code. */
  readonly code: string;
};

export async function addOperator(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { name: given, role }: { readonly name: string; readonly role: OperatorRole },
): Promise<LetIn> {
  const name = cleanName(given);
  const isFirst = (await listOperatorRows(ctx.db)).length === 0;
  if (isFirst && role !== "admin") throw firstIsAdmin();
  return await letIn(ctx, actor, { kind: operatorAddition, name, role, outcome: "added" });
}

/** New credentials for a person who lost theirs or was disabled. */
export async function resetOperator(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { name: given, role }: { readonly name: string; readonly role?: OperatorRole | undefined },
): Promise<LetIn> {
  const person = await requireOperator(ctx.db, given);
  refuseOwn(actor, person);
  refuseOfDirectory(person);
  const terms = { name: person.name, role: role ?? person.role };
  return await letIn(ctx, actor, { kind: operatorReset, ...terms, outcome: "reset" });
}

type EnrolmentTerms = Terms & {
  readonly name: string;
  readonly role: OperatorRole;
  readonly code_hash: string;
  readonly people: 1 | 2;
};

export const operatorAddition: ApprovalKind<EnrolmentTerms> = {
  name: "operator.add",
  proposers: ["admin"],
  approvers: ["admin"],
  validHours,
  async prepare(tx, { terms }, now) {
    await lockOperators(tx);
    const known = await findOperator(tx, personKey(terms.name));
    if (known) {
      throw new Failure("conflict", `${known.name} is there already`, {
        detail: { reason: "name_taken", operator_id: known.operator_id },
      });
    }
    await refuseAlone(tx, operatorAddition, terms);
    return {
      summary: `${terms.name} becomes ${terms.role}; enrolling takes the code of each of you`,
      valuePaise: null,
      facts: { known: false },
      async carryOut(actor) {
        const codes = issueCodes(terms);
        const { name, role } = terms;
        const person = newOperator({ name, role, created_by: actor.id }, now);
        const row: OperatorRow = { ...person, ...buildEnrolment(codes.hashes, now) };
        await insertOperator(tx, [row]);
        const changes = [buildOperatorChange("add", row)];
        return { changes, answer: toAnswer(row, codes.second) };
      },
    };
  },
};

export const operatorReset: ApprovalKind<EnrolmentTerms> = {
  name: "operator.reset",
  proposers: ["admin"],
  approvers: ["admin"],
  validHours,
  async prepare(tx, { terms }, now) {
    await lockOperators(tx);
    const before = await requireOperator(tx, terms.name);
    await refuseAlone(tx, operatorReset, terms);
    return {
      summary: `${before.name} (${before.role}) loses password, authenticator and sessions and enrols anew as ${terms.role}`,
      valuePaise: null,
      facts: { operator_id: before.operator_id, version: before.version },
      async carryOut() {
        const codes = issueCodes(terms);
        const after: OperatorRow = {
          ...before,
          role: terms.role,
          password_hash: null,
          totp_sealed: null,
          ...buildEnrolment(codes.hashes, now),
          disabled_at: null,
          version: before.version + 1,
        };
        await setOperator(tx, after);
        await setRecoveryCodes(tx, before.operator_id, []);
        await revokeSessions(tx, before.operator_id, { now });
        const changes = [buildOperatorChange("reset", after)];
        return { changes, answer: toAnswer(after, codes.second) };
      },
    };
  },
};

type GrantTerms = Terms & Pick<EnrolmentTerms, "name" | "role" | "people">;

/** Another role for a person; whom the directory signs in and was disabled is let in again by it. */
export async function grantRole(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { name: given, role }: { readonly name: string; readonly role: OperatorRole },
): Promise<Granted> {
  const person = await requireOperator(ctx.db, given);
  refuseOwn(actor, person);
  const { name } = person;
  const people = (await countPeople(ctx.db, ["admin"])) >= 2 ? 2 : 1;
  const acted = await actWithApproval(ctx, actor, {
    kind: operatorGrant,
    environment: "live",
    subjectId: personKey(name),
    terms: { name, role, people },
    people,
  });
  if (acted.outcome === "proposed") return acted;
  return { outcome: "granted", ...(acted.answer as { readonly operator: OperatorView }) }; // Its answer.
}

type Granted = {
  readonly outcome: "proposed" | "granted";
  readonly approval_id?: string;
  readonly operator?: OperatorView;
};

export const operatorGrant: ApprovalKind<GrantTerms> = {
  name: "operator.grant",
  proposers: ["admin"],
  approvers: ["admin"],
  validHours,
  async prepare(tx, { terms }) {
    await lockOperators(tx);
    const before = await requireOperator(tx, terms.name);
    await refuseAlone(tx, operatorGrant, terms);
    if (before.disabled_at !== null && before.directory_subject === null) {
      throw new Failure("conflict", `${before.name} is disabled: a reset lets them in again`, {
        detail: { reason: "disabled" },
      });
    }
    if (terms.role !== "admin") refuseLastAdmin(before, await listOperatorRows(tx));
    const again = before.disabled_at === null ? "" : " and can sign in again";
    return {
      summary: `${before.name} (${before.role}${before.directory_subject === null ? "" : ", by the directory"}) becomes ${terms.role}${again}`,
      valuePaise: null,
      facts: { operator_id: before.operator_id, version: before.version },
      async carryOut(actor) {
        refuseOwn(actor, before);
        const { role } = terms;
        const version = before.version + 1;
        const after: OperatorRow = { ...before, role, disabled_at: null, version };
        await setOperator(tx, after);
        const answer = { operator: viewOperator(after) };
        return { changes: [buildOperatorChange("grant", after)], answer };
      },
    };
  },
};

/** Somebody who cannot sign in yet. */
export function newOperator(
  given: Pick<OperatorRow, "name" | "role" | "created_by">,
  now: Date,
): OperatorRow {
  return {
    ...given,
    operator_id: newId("opr", now),
    name_key: personKey(given.name),
    password_hash: null,
    totp_sealed: null,
    totp_step: 0,
    enrol_hashes: null,
    enrol_until: null,
    recovery_hashes: [],
    directory_issuer: null,
    directory_subject: null,
    created_at: now,
    disabled_at: null,
    recovered_at: null,
    version: 1,
  };
}

/** A code has 96 random bits and needs no slow hash. */
export function hashCode(code: string): Buffer {
  return createHash("sha256").update(code.trim().toLowerCase()).digest();
}

/**
 * Disables a person and revokes their sessions. One admin suffices, because it may be urgent; a reset
 * takes two.
 */
export async function disableOperator(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  name: string,
): Promise<OperatorView> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    await lockOperators(tx);
    const before = await requireOperator(tx, name);
    if (before.disabled_at !== null) return viewOperator(before);
    refuseLastAdmin(before, await listOperatorRows(tx));
    const after: OperatorRow = {
      ...before,
      enrol_hashes: null,
      enrol_until: null,
      disabled_at: now,
      version: before.version + 1,
    };
    await setOperator(tx, after);
    await revokeSessions(tx, before.operator_id, { now });
    await recordChanges(tx, actor, [buildOperatorChange("disable", after)], now);
    return viewOperator(after);
  });
}

export async function listOperators({ db }: { readonly db: Db }): Promise<OperatorView[]> {
  return (await listOperatorRows(db)).map(viewOperator);
}

/**
 * How many people there are, or were, in these roles. Who was disabled counts: otherwise one person
 * could disable the others and act alone.
 */
export async function countPeople(db: Db, roles: readonly OperatorRole[]): Promise<number> {
  return (await listOperatorRows(db)).filter(({ role }) => roles.includes(role)).length;
}

/** A person without credentials or their hashes. */
export function viewOperator(row: OperatorRow) {
  return {
    operator_id: row.operator_id,
    name: row.name,
    role: row.role,
    status: findPersonStatus(row),
    directory: row.directory_subject !== null,
    created_by: row.created_by,
    created_at: istTimestamp(row.created_at),
    disabled_at: row.disabled_at && istTimestamp(row.disabled_at),
    recovered_at: row.recovered_at && istTimestamp(row.recovered_at),
  };
}

export type OperatorView = ReturnType<typeof viewOperator>;

/** People belong to the house: their changes are recorded on its desk. */
export function buildOperatorChange(
  action:
    | "add"
    | "enrol"
    | "disable"
    | "reset"
    | "recover"
    | "grant"
    | "sign_in"
    | "sign_in_failing"
    | "sign_out"
    | "use_recovery_code"
    | "make_recovery_codes"
    | "offer_authenticator"
    | "replace_authenticator",
  after: OperatorRow,
): Change {
  const house = houseFirmId.live;
  return {
    environment: "live",
    deskId: house,
    firmId: house,
    action: `operator.${action}`,
    entity: {
      type: "operator",
      id: after.operator_id,
      version: after.version,
      href: `/ops/operators/${after.operator_id}`,
    },
    after: viewOperator(after),
  };
}

type EnrolmentAnswer = { readonly operator: OperatorView; readonly code?: string };

async function letIn(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  {
    kind,
    name,
    role,
    outcome,
  }: {
    readonly kind: ApprovalKind<EnrolmentTerms>;
    readonly name: string;
    readonly role: OperatorRole;
    readonly outcome: "added" | "reset";
  },
): Promise<LetIn> {
  const code = newCode();
  const people = (await countPeople(ctx.db, ["admin"])) >= 2 ? 2 : 1;
  const acted: Acted = await actWithApproval(ctx, actor, {
    kind,
    environment: "live",
    subjectId: personKey(name),
    terms: { name, role, code_hash: hashCode(code).toString("hex"), people },
    people,
  });
  if (acted.outcome === "proposed") {
    return { outcome: "proposed", approval_id: acted.approval_id, code };
  }
  const { operator: person } = acted.answer as EnrolmentAnswer; // What carrying it out answers.
  return { outcome, operator: person, code };
}

export function newCode(): string {
  return randomBytes(codeBytes).toString("hex").match(/.{6}/g)?.join("-") ?? "";
}

async function requireOperator(db: Db, name: string): Promise<OperatorRow> {
  const person = await findOperator(db, personKey(name));
  if (!person) throw new Failure("not_found", `nobody is called ${name}`);
  return person;
}

export function firstIsAdmin(): Failure {
  return new Failure("conflict", "the first person must be an admin, who lets the others in", {
    detail: { reason: "first_is_admin" },
  });
}

/** Checked again under the lock: a second admin may have been added since. */
export async function refuseAlone(
  tx: Tx,
  kind: Pick<ApprovalKind<never>, "name">,
  { people, role }: Pick<EnrolmentTerms, "people" | "role">,
): Promise<void> {
  if (people === 2) return;
  const everybody = await listOperatorRows(tx);
  const admins = everybody.filter((person) => person.role === "admin");
  const isFirst = everybody.length === 0;
  if (admins.length < 2 && (!isFirst || role === "admin")) return;
  throw approvalRequired("this takes two people now: try again", kind.name);
}

function issueCodes({ code_hash, people }: EnrolmentTerms): {
  readonly hashes: readonly Buffer[];
  readonly second: string | undefined;
} {
  const first = Buffer.from(code_hash, "hex");
  if (people === 1) return { hashes: [first], second: undefined };
  const second = newCode();
  return { hashes: [first, hashCode(second)], second };
}

export function buildEnrolment(hashes: readonly Buffer[], now: Date, hours = enrolHours) {
  const enrol_until = new Date(now.getTime() + hours * 3_600_000);
  return { enrol_hashes: hashes, enrol_until };
}

function toAnswer(row: OperatorRow, code: string | undefined): EnrolmentAnswer {
  return { operator: viewOperator(row), ...(code !== undefined && { code }) };
}

/** Whoever acts for an admin who is signed in would keep what they took: a new password and a new role. */
function refuseOwn(actor: Actor, { name }: OperatorRow): void {
  if (!isSamePerson(actor.id, name)) return;
  throw new Failure(
    "forbidden",
    "somebody else does this to you; under My sign-in you change your authenticator",
    {
      detail: { reason: "own_sign_in" },
    },
  );
}

export function refuseOfDirectory({ name, directory_subject }: OperatorRow): void {
  if (directory_subject === null) return;
  throw new Failure("conflict", `the directory signs ${name} in: there is nothing here to reset`, {
    detail: { reason: "of_directory" },
  });
}

/** Without an admin no person could be added any more. */
function refuseLastAdmin(person: OperatorRow, everybody: readonly OperatorRow[]): void {
  if (!isAdmin(person) || everybody.filter(isAdmin).length > 1) return;
  throw new Failure("conflict", `${person.name} is the last admin`, {
    detail: { reason: "last_admin" },
  });
}

/** Whether this admin can sign in. */
export function isAdmin(person: OperatorRow): boolean {
  return person.role === "admin" && findPersonStatus(person) === "enrolled";
}

type PersonStatus = "enrolling" | "enrolled" | "disabled";

function findPersonStatus(person: OperatorRow): PersonStatus {
  if (person.disabled_at !== null) return "disabled";
  const isEnrolled = person.password_hash !== null || person.directory_subject !== null;
  return isEnrolled ? "enrolled" : "enrolling";
}
