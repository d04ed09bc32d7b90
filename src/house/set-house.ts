// Sets who the house is. Whoever could change its account alone would be paid in its place, so in live
// it takes two people as soon as two may: an admin proposes, and another admin or the settlement desk
// compares every field with the papers and approves.

import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { type IstDay, isCalendarDay, istDay } from "../kernel/time.ts";
import { actWithApproval } from "../operators/act-with-approval.ts";
import { type ApprovalKind, type Prepared, validHoursUsual } from "../operators/approval-kind.ts";
import { countPeople } from "../operators/manage-operators.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { listHouses, toHouseRow } from "./read-house.ts";
import {
  findCurrentHouse,
  findHouseProblems,
  type HouseInLaw,
  type HouseParticulars,
  listChangedParticulars,
  normalizeHouse,
} from "./rules.ts";
import { insertHouse, lockHouse } from "./store.ts";

/** Particulars that are left out stay as in the last version; empty text takes one away. */
export type GivenParticulars = {
  readonly [Name in keyof HouseParticulars]?: HouseParticulars[Name] | undefined;
};

type SetHouse = {
  readonly environment: Environment;
  /** Today when it is left out. */
  readonly from?: IstDay | undefined;
  readonly particulars: GivenParticulars;
};

type SetHouseResult =
  | { readonly outcome: "proposed"; readonly approval_id: string }
  | { readonly outcome: "set"; readonly house: HouseInLaw };

type HouseTerms = { readonly from: IstDay } & HouseParticulars;

export type HouseKind = ApprovalKind<HouseTerms>;

/** Firms that turn out to be the house trade no more; their changes are recorded with the house's. */
type OnHouseSet = (
  tx: Tx,
  house: Pick<HouseInLaw, "environment" | "pan">,
  now: Date,
) => Promise<readonly Change[]>;

const noParticulars: HouseParticulars = {
  legal_name: "",
  iec: null,
  pan: null,
  tan: null,
  gstin: null,
  cin: null,
  address: [],
  state_code: null,
  signatory: null,
  bank: null,
};

export async function setHouse(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  {
    kind,
    environment,
    from = istDay(ctx.now()),
    particulars,
  }: SetHouse & { readonly kind: HouseKind },
): Promise<SetHouseResult> {
  if (!isCalendarDay(from))
    throw unprocessable({ path: "from", problem: "is no day of the calendar" });
  const [last] = await listHouses(ctx.db, environment);
  const changed = Object.entries(particulars).filter(([, value]) => value !== undefined);
  const next = { ...pickParticulars(last), ...Object.fromEntries(changed) };
  const terms = { from, ...normalizeHouse(next) };
  const acted = await actWithApproval(ctx, actor, {
    kind,
    environment,
    subjectId: environment,
    terms,
    people: (await countPeople(ctx.db, ["admin", ...kind.approvers])) >= 2 ? 2 : 1,
  });
  if (acted.outcome === "proposed") {
    return { outcome: "proposed", approval_id: acted.approval_id };
  }
  return { outcome: "set", house: acted.answer as HouseInLaw }; // What the kind answers.
}

/** The kind of this act; a root says what becomes of firms that are the house. */
export function buildHouseKind(onHouseSet: OnHouseSet): HouseKind {
  return {
    name: "house.set",
    proposers: [],
    approvers: ["settlement"],
    validHours: validHoursUsual,
    async prepare(tx, { environment, terms: { from, ...particulars } }, now): Promise<Prepared> {
      await lockHouse(tx, environment);
      const today = istDay(now);
      if (from < today) throw unprocessable({ path: "from", problem: "must not be in the past" });
      const problems = findHouseProblems(particulars);
      if (problems.length > 0) throw unprocessable(...problems);
      const [before, ...former] = await listHouses(tx, environment);
      const changed = listChangedParticulars(before, particulars);
      const inForce = findCurrentHouse(before ? [before, ...former] : [], today);
      if (changed.length === 0 && before?.effective_from === from) throw sameHouse();
      const others = particulars.pan === before?.pan ? "" : "; a client of its PAN trades no more";
      return {
        summary: `from ${from} the house of ${environment} is ${particulars.legal_name}: ${describe(changed)}${others}`,
        valuePaise: null,
        facts: { version: before?.version ?? 0, in_force: inForce?.version ?? 0 },
        shows: [{ title: "What changes", rows: changed }],
        async carryOut(actor, proposedBy) {
          const after: HouseInLaw = {
            ...particulars,
            environment,
            version: (before?.version ?? 0) + 1,
            effective_from: from,
            set_at: now,
            set_by: proposedBy ?? actor.id,
            approved_by: proposedBy === undefined ? null : actor.id,
          };
          await insertHouse(tx, [toHouseRow(after)]);
          const ended = await onHouseSet(tx, after, now);
          return { changes: [buildHouseChange(after), ...ended], answer: after };
        },
      };
    },
  };
}

function describe(changed: ReturnType<typeof listChangedParticulars>): string {
  const each = changed.map(({ field, before, after }) => `${field} ${before} → ${after}`);
  return each.join("; ") || "nothing changes but the day";
}

function sameHouse(): Failure {
  return new Failure("conflict", "the house is set like this already", {
    detail: { reason: "same_house" },
  });
}

function pickParticulars(house: HouseInLaw | undefined): HouseParticulars {
  if (!house) return noParticulars;
  const { environment: _environment, version: _version, effective_from: _from, ...rest } = house;
  const { set_at: _at, set_by: _by, approved_by: _approver, ...particulars } = rest;
  return particulars;
}

function buildHouseChange(after: HouseInLaw): Change {
  const { environment, version } = after;
  const house = houseFirmId[environment];
  return {
    environment,
    deskId: house,
    firmId: house,
    action: "house.set",
    entity: { type: "house", id: environment, version, href: "/ops/house" },
    after: { effective_from: after.effective_from, ...pickParticulars(after) },
  };
}
