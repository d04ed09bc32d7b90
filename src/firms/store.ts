import { Type } from "typebox";

import { exactJson } from "../kernel/json.ts";
import type { Environment } from "../kernel/caller.ts";
import type { DeskSearch } from "../kernel/desk-search.ts";
import { houseFirmId } from "../kernel/ids.ts";
import type { PageRequest } from "../kernel/page.ts";
import type { ClockAdvance, Cursor } from "../kernel/clock-advance.ts";
import type { IstDay } from "../kernel/time.ts";
import { closedEnum } from "../platform/http/wire.ts";
import { equals, list } from "../platform/postgres/list.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import { type Db, type Query, query, sql, type Tx } from "../platform/postgres/postgres.ts";
import {
  bytes,
  day,
  int,
  json,
  type RowOf,
  table,
  text,
  time,
} from "../platform/postgres/table.ts";
import type { FirmHoldReason } from "./hold-rules.ts";
import { normalizeIdentifier } from "../kernel/identifiers.ts";
import {
  type FirmCheck,
  type FirmRole,
  firmRoles,
  type FirmState,
  firmStates,
  type Mandate,
} from "./rules.ts";

const firms = table("firms", {
  firm_id: text(),
  environment: text<Environment>(),
  desk_id: text(),
  legal_name: text(),
  iec: text().orNull,
  pan: text().orNull,
  gstin: text().orNull,
  cin: text().orNull,
  email: text().orNull,
  phone: text().orNull,
  role: text<FirmRole>(),
  bank_sealed: bytes().orNull,
  bank_last4: text().orNull,
  bank_ifsc: text().orNull,
  bank_name: text().orNull,
  /** Names the account as the bank is asked about it; another one when anything of that changes. */
  account_id: text().orNull,
  /** Since when the bank has confirmed this account; null while it has not. */
  account_confirmed_at: time().orNull,
  group_id: text().orNull,
  external_id: text().orNull,
  connection_state: text<FirmState>(),
  checks: json<readonly FirmCheck[]>(),
  checked_at: time().orNull,
  mandate: json<Mandate>().orNull,
  /** The day of the next warning that the mandate ends. */
  mandate_due_on: day().orNull,
  /** When the current authorization began; suspension keeps it. */
  authorized_at: time().orNull,
  hold_reason: text<FirmHoldReason>().orNull,
  hold_until: time().orNull,
  suspended_by: text<"desk" | "operator">().orNull,
  suspension_reason: text().orNull,
  version: int(),
  created_at: time(),
  updated_at: time(),
});
export type FirmRow = RowOf<typeof firms>;

/** Default columns of a firm that has only a name. */
export const blankFirm = {
  iec: null,
  pan: null,
  gstin: null,
  cin: null,
  email: null,
  phone: null,
  role: "both",
  bank_sealed: null,
  bank_last4: null,
  bank_ifsc: null,
  bank_name: null,
  account_id: null,
  account_confirmed_at: null,
  group_id: null,
  external_id: null,
  connection_state: "registered",
  checks: [],
  checked_at: null,
  mandate: null,
  mandate_due_on: null,
  authorized_at: null,
  hold_reason: null,
  hold_until: null,
  suspended_by: null,
  suspension_reason: null,
  version: 1,
} as const satisfies Partial<FirmRow>;

const firmColumns = firms.columns;

/** False when a unique constraint refuses it: a desk of that name, or the IEC on this desk. */
export async function insertFirm(tx: Tx, firm: FirmRow): Promise<boolean> {
  const inserted = await tx.rows(sql`
    insert into firms (${firmColumns})
    values (
      ${firm.firm_id}, ${firm.environment}, ${firm.desk_id}, ${firm.legal_name}, ${firm.iec},
      ${firm.pan}, ${firm.gstin}, ${firm.cin}, ${firm.email}, ${firm.phone}, ${firm.role},
      ${firm.bank_sealed}, ${firm.bank_last4}, ${firm.bank_ifsc}, ${firm.bank_name},
      ${firm.account_id}, ${firm.account_confirmed_at},
      ${firm.group_id}, ${firm.external_id}, ${firm.connection_state},
      ${exactJson(firm.checks)}::jsonb, ${firm.checked_at},
      ${firm.mandate && exactJson(firm.mandate)}::jsonb, ${firm.mandate_due_on},
      ${firm.authorized_at},
      ${firm.hold_reason}, ${firm.hold_until}, ${firm.suspended_by}, ${firm.suspension_reason}, ${firm.version},
      ${firm.created_at}, ${firm.updated_at}
    )
    on conflict do nothing
    returning 1`);
  return inserted.length > 0;
}

export async function findDeskByName(
  db: Db,
  environment: Environment,
  legalName: string,
): Promise<FirmRow | undefined> {
  const [row] = await db.rows<FirmRow>(sql`
    select ${firmColumns}
    from firms
    where environment = ${environment} and legal_name = ${legalName} and desk_id = firm_id`);
  return row;
}

/** A firm of this desk: its own or a client firm. */
export async function findFirm(
  db: Db,
  deskId: string,
  firmId: string,
): Promise<FirmRow | undefined> {
  const [row] = await db.rows<FirmRow>(sql`
    select ${firmColumns}
    from firms
    where desk_id = ${deskId} and firm_id = ${firmId}`);
  return row;
}

/** `for no key update`: rows that reference the firm can still be inserted. */
export async function lockFirm(
  tx: Tx,
  deskId: string,
  firmId: string,
): Promise<FirmRow | undefined> {
  const [row] = await tx.rows<FirmRow>(sql`
    select ${firmColumns}
    from firms
    where desk_id = ${deskId} and firm_id = ${firmId}
    for no key update`);
  return row;
}

/** Firms of any desk, in the order of their ids. */
export async function lockFirms(tx: Tx, firmIds: readonly string[]): Promise<FirmRow[]> {
  return await tx.rows(sql`
    select ${firmColumns}
    from firms
    where firm_id = any(${firmIds}::text[])
    order by firm_id
    for no key update`);
}

/** The firms of a PAN that are here, of any desk. */
export async function listFirmsOfPan(
  db: Db,
  environment: Environment,
  pan: string,
): Promise<FirmRow[]> {
  return await db.rows(sql`
    select ${firmColumns}
    from firms
    where environment = ${environment} and pan = ${pan} and connection_state <> 'offboarded'
    order by firm_id`);
}

/** Firms of any desk that are about to trade; a suspension waits for the share lock. */
export function lockFirmsForShare(firmIds: readonly string[]): Query<FirmRow[]> {
  return query(sql`
    select ${firmColumns}
    from firms
    where firm_id = any(${firmIds}::text[])
    order by firm_id
    for share`);
}

export async function listFirmsById(db: Db, firmIds: readonly string[]): Promise<FirmRow[]> {
  return await db.run(findFirmsById(firmIds));
}

/** Firms of any desk. */
export function findFirmsById(firmIds: readonly string[]): Query<FirmRow[]> {
  return query(sql`
    select ${firmColumns}
    from firms
    where firm_id = any(${firmIds}::text[])`);
}

export function listIdentities(
  firmIds: readonly string[],
): Query<Pick<FirmRow, "firm_id" | "iec" | "pan" | "legal_name">[]> {
  return query(sql`
    select firm_id, iec, pan, legal_name
    from firms
    where firm_id = any(${firmIds}::text[])`);
}

/** The firms of these that initiate their transfers at customs themselves. */
export function listSelfInitiating(firmIds: readonly string[]): Query<{ firm_id: string }[]> {
  return query(sql`
    select firm_id
    from firms
    where firm_id = any(${firmIds}::text[]) and mandate ->> 'transfers' = 'firm'`);
}

/** The desk of a firm, for the operator. */
export async function findDeskOfFirm(db: Db, firmId: string): Promise<string | undefined> {
  const [row] = await db.rows<{ desk_id: string }>(sql`
    select desk_id
    from firms
    where firm_id = ${firmId}`);
  return row?.desk_id;
}

/** Another firm of the desk with this IEC or external id. */
export async function findDuplicate(
  db: Db,
  firm: Pick<FirmRow, "desk_id" | "firm_id" | "iec" | "external_id">,
): Promise<Pick<FirmRow, "firm_id" | "iec" | "external_id"> | undefined> {
  const [row] = await db.rows<Pick<FirmRow, "firm_id" | "iec" | "external_id">>(sql`
    select firm_id, iec, external_id
    from firms
    where desk_id = ${firm.desk_id} and firm_id <> ${firm.firm_id}
      and connection_state <> 'offboarded'
      and (iec = ${firm.iec} or external_id = ${firm.external_id})
    order by (iec = ${firm.iec}) desc nulls last
    limit 1`);
  return row;
}

const fixedColumns: readonly string[] = ["firm_id", "environment", "desk_id", "created_at"];
const changedColumns = firms.all.filter((name) => !fixedColumns.includes(name));
const setChangedColumns = firms.assign(changedColumns);

/** Sets every column that can change. The rows are locked before. */
export async function setFirms(tx: Tx, rows: readonly FirmRow[]): Promise<void> {
  await tx.rows(sql`
    update firms
    set ${setChangedColumns}
    from ${firms.rows(["firm_id", ...changedColumns], rows)} as r
    where firms.firm_id = r.firm_id`);
}

/** Newest first. */
const textUpTo = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ maxLength, description }));

export const firmList = list(firms, {
  name: "firms",
  within: ["desk_id", "firm_id"],
  newestFirst: ["created_at", "firm_id"],
  filters: {
    connection_state: equals(
      "connection_state",
      Type.Optional(closedEnum(firmStates, { description: "Only in this state." })),
    ),
    role: equals(
      "role",
      Type.Optional(closedEnum(firmRoles, { description: "Only of this role." })),
    ),
    group_id: equals("group_id", textUpTo(64, "Only of this group.")),
    external_id: equals("external_id", textUpTo(100, "The firm you call by this name.")),
    iec: equals("iec", textUpTo(40, "The firm of this IEC."), { parse: normalizeIdentifier }),
  },
});

export type FirmOfDeskRow = FirmRow & { readonly desk_name: string };

/** Firms of every desk with the desk's name, newest first, for the operator. */
export async function listAllFirmRows(
  db: Db,
  filter: DeskSearch & { readonly connectionState: FirmState | null },
  { after, fetch }: Pick<PageRequest, "after" | "fetch">,
): Promise<FirmOfDeskRow[]> {
  return await db.rows(sql`
    select f.*, desks.legal_name as desk_name
    from (
      select ${firmColumns}
      from firms
      where (${after?.at ?? null}::timestamptz is null
          or (created_at, firm_id) < (${after?.at ?? null}::timestamptz, ${after?.id ?? null}::text))
        and (${filter.environment}::text is null or environment = ${filter.environment})
        and (${filter.connectionState}::text is null or connection_state = ${filter.connectionState})
        and (${filter.deskId}::text is null or desk_id = ${filter.deskId})
        and (${filter.firmId}::text is null or firm_id = ${filter.firmId})
        and (${filter.from}::timestamptz is null or created_at >= ${filter.from})
        and (${filter.to}::timestamptz is null or created_at < ${filter.to})
        and firm_id <> all(${Object.values(houseFirmId)}::text[])
      order by created_at desc, firm_id desc
      limit ${fetch}
    ) as f
    join firms as desks on desks.firm_id = f.desk_id
    order by f.created_at desc, f.firm_id desc`);
}

/** A random sample of draining firms, so that firms with blockers cannot fill every batch. */
export async function listOffboardingFirms(
  db: Db,
  { limit, except }: Pick<Choice, "except"> & { readonly limit: number },
): Promise<Pick<FirmRow, "firm_id" | "desk_id">[]> {
  return await db.rows(sql`
    select firm_id, desk_id
    from firms
    where connection_state = 'offboarding' and firm_id <> all(${except}::text[])
    order by random()
    limit ${limit}`);
}

/** Claims firms whose mandate is to be warned about by this day. */
export async function claimMandatesDue(
  tx: Tx,
  today: IstDay,
  { limit, only, except }: Choice & { readonly limit: number },
): Promise<FirmRow[]> {
  return await tx.rows(sql`
    select ${firmColumns}
    from firms
    where mandate_due_on <= ${today}::date
      and (${only}::text[] is null or firm_id = any(${only}::text[]))
      and firm_id <> all(${except}::text[])
    order by mandate_due_on, firm_id
    limit ${limit}
    for no key update skip locked`);
}

/** Counts desks without the house. */
export async function countDesks(db: Db): Promise<number> {
  const [row] = await db.rows<{ total: number }>(sql`
    select count(*) as total
    from firms
    where desk_id = firm_id and firm_id <> all(${Object.values(houseFirmId)}::text[])`);
  return row?.total ?? 0;
}

/** Inserts client firms in bulk, for seeding; existing ones stay. */
export async function insertClients(tx: Tx, rows: readonly FirmRow[]): Promise<void> {
  const clients = firms.values(
    {
      firm_id: ({ firm_id }: FirmRow) => firm_id,
      environment: ({ environment }) => environment,
      desk_id: ({ desk_id }) => desk_id,
      legal_name: ({ legal_name }) => legal_name,
      iec: ({ iec }) => iec,
      pan: ({ iec }) => iec,
      connection_state: ({ connection_state }) => connection_state,
      authorized_at: ({ created_at }) => created_at,
      created_at: ({ created_at }) => created_at,
      updated_at: ({ created_at }) => created_at,
    },
    rows,
  );
  await tx.rows(sql`
    insert into firms ${clients}
    on conflict do nothing`);
}

export async function listOwnerships(
  db: Db,
  firmIds: readonly string[],
): Promise<Pick<FirmRow, "firm_id" | "pan" | "group_id">[]> {
  return await db.rows(sql`
    select firm_id, pan, group_id
    from firms
    where firm_id = any(${firmIds}::text[])`);
}

/** Moves the ends of holds on a desk's firms earlier; returns their ids. No index has their order. */
export async function moveHoldsEarlier(
  tx: Tx,
  { environment, deskId, seconds, now }: ClockAdvance,
  { after, limit }: Cursor,
): Promise<string[]> {
  const rows = await tx.rows<{ firm_id: string }>(sql`
    update firms
    set hold_until = hold_until - make_interval(secs => ${seconds}), version = version + 1,
      updated_at = ${now}
    where firm_id = any(array(
      select firm_id
      from firms
      where environment = ${environment} and desk_id = ${deskId} and hold_until > ${now}
        and firm_id || '' > ${after}
      order by firm_id || ''
      limit ${limit}
      for update
    ))
    returning firm_id`);
  return rows.map(({ firm_id }) => firm_id).toSorted();
}
