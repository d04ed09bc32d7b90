// Who gets notices. A removed address is kept with what it does not want: when it is added again, that
// still holds, until somebody sets it otherwise.

import { requireAnyFirm } from "../firms/find-firms.ts";
import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, personKey } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure, unprocessable } from "../kernel/failure.ts";
import { houseFirmId, isHouse, newId } from "../kernel/ids.ts";
import { listOperators } from "../operators/manage-operators.ts";
import type { Context } from "../platform/context.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import {
  type AddressFilter,
  type AddressRow,
  closeCursor,
  countAddresses,
  findAddress,
  findByEmail,
  insertAddress,
  listAddressRows,
  lockAddress,
  lockCursor,
  openCursor,
  setAddress,
} from "./address-store.ts";
import {
  addressesPerOwnerMax,
  deskOccasions,
  findAddressProblem,
  normalizeEmail,
  type Occasion,
  personOccasions,
} from "./rules.ts";

/** A desk by its id, or a person by their name. */
type Owner = { readonly deskId?: string | undefined; readonly person?: string | undefined };

export async function addNoticeAddress(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { email: given, ...owner }: Owner & { readonly email: string },
): Promise<AddressView> {
  const now = ctx.now();
  const email = normalizeEmail(given);
  const problem = findAddressProblem(email);
  if (problem !== undefined) throw unprocessable({ path: "email", problem });
  const of = await findOwner(ctx.db, owner);
  return await ctx.db.transaction(async (tx) => {
    const after_sequence = await openCursor(tx, of.desk_id);
    const before = await findByEmail(tx, { ...of, email });
    if (before && !before.removed_at) return await viewAddress(tx, before);
    await refuseTooMany(tx, of);
    const added: AddressRow = before
      ? {
          ...before,
          removed_at: null,
          after_sequence,
          version: before.version + 1,
          updated_at: now,
        }
      : {
          ...of,
          address_id: newId("nad", now),
          email,
          opted_out: [],
          after_sequence,
          removed_at: null,
          created_by: actor.id,
          version: 1,
          created_at: now,
          updated_at: now,
        };
    await (before ? setAddress(tx, added) : insertAddress(tx, [added]));
    await recordChanges(tx, actor, [describeAddressChange("add", added)], now);
    return await viewAddress(tx, added);
  });
}

export async function removeNoticeAddress(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  addressId: string,
): Promise<AddressView> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    // The cursor is locked before the address, as by whoever adds one.
    const known = await findAddress(tx, addressId);
    if (known) await lockCursor(tx, known.desk_id);
    const before = await requireAddress(tx, addressId);
    const after = { ...before, removed_at: now, version: before.version + 1, updated_at: now };
    await setAddress(tx, after);
    await closeCursor(tx, before.desk_id);
    await recordChanges(tx, actor, [describeAddressChange("remove", after)], now);
    return await viewAddress(tx, after);
  });
}

/** Sets what an address is not told of; everything else it is told of from now on. */
export async function setNoticeOptOuts(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { addressId, optedOut }: { readonly addressId: string; readonly optedOut: readonly Occasion[] },
): Promise<AddressView> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const before = await requireAddress(tx, addressId);
    const known = listOccasions(before);
    const foreign = optedOut.find((occasion) => !known.includes(occasion));
    if (foreign !== undefined) {
      const problem = `has ${foreign}, of which this address is never told`;
      throw unprocessable({ path: "opted_out", problem });
    }
    const opted_out = known.filter((occasion) => optedOut.includes(occasion));
    const after = { ...before, opted_out, version: before.version + 1, updated_at: now };
    await setAddress(tx, after);
    await recordChanges(tx, actor, [describeAddressChange("set", after)], now);
    return await viewAddress(tx, after);
  });
}

export async function listNoticeAddresses(
  { db }: Pick<Context, "db">,
  filter: Partial<AddressFilter> & Pick<AddressFilter, "limit">,
): Promise<AddressView[]> {
  const all = { environment: null, deskId: null, of: null, before: null };
  const rows = await listAddressRows(db.planned, { ...all, ...filter });
  const names = await namePeople(db, rows);
  return rows.map((row) => toView(row, names));
}

type AddressView = {
  readonly address_id: string;
  readonly environment: Environment;
  /** Null for a person. */
  readonly desk_id: string | null;
  readonly person: string | null;
  readonly email: string;
  readonly occasions: readonly Occasion[];
  readonly opted_out: readonly Occasion[];
  readonly created_by: string;
  readonly created_at: Date;
  readonly removed_at: Date | null;
};

async function viewAddress(db: Db, row: AddressRow): Promise<AddressView> {
  return toView(row, await namePeople(db, [row]));
}

function toView(row: AddressRow, names: ReadonlyMap<string, string>): AddressView {
  const { operator_id, opted_out } = row;
  return {
    address_id: row.address_id,
    environment: row.environment,
    desk_id: operator_id === null ? row.desk_id : null,
    person: operator_id === null ? null : (names.get(operator_id) ?? operator_id),
    email: row.email,
    occasions: listOccasions(row).filter((occasion) => !opted_out.includes(occasion)),
    opted_out,
    created_by: row.created_by,
    created_at: row.created_at,
    removed_at: row.removed_at,
  };
}

async function namePeople(
  db: Db,
  rows: readonly AddressRow[],
): Promise<ReadonlyMap<string, string>> {
  if (rows.every(({ operator_id }) => operator_id === null)) return new Map();
  return new Map((await listOperators({ db })).map(({ operator_id, name }) => [operator_id, name]));
}

function listOccasions({ operator_id }: Pick<AddressRow, "operator_id">): readonly Occasion[] {
  return operator_id === null ? deskOccasions : personOccasions;
}

type OwnerColumns = Pick<AddressRow, "environment" | "desk_id" | "operator_id" | "firm_id">;

async function findOwner(db: Db, { deskId, person }: Owner): Promise<OwnerColumns> {
  if ((deskId === undefined) === (person === undefined)) {
    throw unprocessable({ path: "desk_id", problem: "or person is given, and not both" });
  }
  if (person === undefined) {
    const firm = await requireAnyFirm(db, deskId ?? "");
    if (firm.firm_id !== firm.desk_id || isHouse(firm.firm_id)) {
      throw unprocessable({
        path: "desk_id",
        problem: "must be a desk, not a client or the house",
      });
    }
    const { environment, desk_id } = firm;
    return { environment, desk_id, operator_id: null, firm_id: null };
  }
  const known = (await listOperators({ db })).find(
    ({ name }) => personKey(name) === personKey(person),
  );
  if (!known) throw unprocessable({ path: "person", problem: "must be somebody who is let in" });
  const { operator_id } = known;
  return { environment: "live", desk_id: houseFirmId.live, operator_id, firm_id: null };
}

async function refuseTooMany(tx: Tx, owner: OwnerColumns): Promise<void> {
  if ((await countAddresses(tx, owner)) < addressesPerOwnerMax) return;
  const message = `a desk or a person has at most ${addressesPerOwnerMax} addresses`;
  throw new Failure("conflict", message, {
    detail: { reason: "too_many_addresses", addresses_max: addressesPerOwnerMax },
  });
}

async function requireAddress(tx: Tx, addressId: string): Promise<AddressRow> {
  const [row] = await lockAddress(tx, [addressId]);
  if (row && !row.removed_at) return row;
  throw new Failure("not_found", `no address ${addressId}`);
}

export function describeAddressChange(
  action: "add" | "remove" | "set" | "opt_out",
  after: AddressRow,
): Change {
  return {
    environment: after.environment,
    deskId: after.desk_id,
    firmId: after.desk_id,
    action: `notice_address.${action}`,
    entity: {
      type: "notice_address",
      id: after.address_id,
      version: after.version,
      href: `/ops/notice-addresses/${after.address_id}`,
    },
    after: toView(after, new Map()),
  };
}
