import type { Caller, Environment } from "../kernel/caller.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { closePage, countOnce, openPage, type Page } from "../kernel/page.ts";
import { istTimestamp } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import { listPortStatus } from "../outside/ask.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import { requireVisibleFirm } from "./find-firms.ts";
import {
  firmLifecycle,
  type FirmState,
  listHolds,
  maskAccountNo,
  normalizeIdentifier,
} from "./rules.ts";
import type { Connection, Firm, ListFirmsQuery } from "./schema.ts";
import {
  countDesks as countRows,
  countFirms,
  type FirmFilter,
  type FirmRow,
  listAllFirmRows,
  listFirmRows,
} from "./store.ts";

export async function readFirm(ctx: Context, caller: Caller, firmId: string): Promise<Firm> {
  return viewFirm(await requireVisibleFirm(ctx.db, caller, firmId), ctx.now());
}

export async function listFirms(
  ctx: Context,
  caller: Caller,
  query: ListFirmsQuery,
): Promise<Page<Firm>> {
  const now = ctx.now();
  const filter: FirmFilter = {
    connectionState: query.connection_state ?? null,
    role: query.role ?? null,
    groupId: query.group_id ?? null,
    externalId: query.external_id ?? null,
    iec: query.iec === undefined ? null : normalizeIdentifier(query.iec),
    firmId: visibleTo(caller).firmId,
  };
  const question = { list: "firms", desk: caller.deskId, ...toQuestion(filter) };
  const request = openPage(query, question, ctx.cursorKey);
  const rows = await listFirmRows(ctx.db.planned, caller.deskId, filter, request);
  const page = closePage(request, rows, {
    question,
    signingKey: ctx.cursorKey,
    total: await countOnce(request, () => countFirms(ctx.db.planned, caller.deskId, filter)),
    toPosition: (row) => ({ at: row.created_at, id: row.firm_id }),
  });
  return { ...page, rows: await mapPaced(page.rows, (row) => viewFirm(row, now), openPace()) };
}

function toQuestion(filter: FirmFilter): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(filter).map(([name, value]) => [name, value ?? undefined]),
  );
}

/** Every desk's firms, for the operator. */
export async function listAllFirms(
  ctx: Pick<Context, "db" | "now">,
  filter: {
    readonly environment: Environment | null;
    readonly connectionState: FirmState | null;
    readonly limit: number;
  },
): Promise<{ desk_name: string; firm: Firm }[]> {
  const now = ctx.now();
  const rows = await listAllFirmRows(ctx.db, filter);
  return rows.map((row) => ({ desk_name: row.desk_name, firm: viewFirm(row, now) }));
}

/** A firm as its desk sees it; the account number is masked. */
export function viewFirm(row: FirmRow, now: Date): Firm {
  return {
    firm_id: row.firm_id,
    environment: row.environment,
    legal_name: row.legal_name,
    iec: row.iec,
    pan: row.pan,
    gstin: row.gstin,
    cin: row.cin,
    email: row.email,
    phone: row.phone,
    role: row.role,
    bank: viewBank(row),
    group_id: row.group_id,
    external_id: row.external_id,
    ...viewState(row, now),
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
  };
}

/** The fields that a firm and its connection share. */
function viewState(row: FirmRow, now: Date): Omit<Connection, "firm_id" | "ports" | "as_of"> {
  return {
    connection_state: row.connection_state,
    checks: [...row.checks],
    holds: listHolds(row, now).map(({ on, reason, until }) => ({
      on,
      reason: reason as Connection["holds"][number]["reason"], // An open set.
      until: until && istTimestamp(until),
    })),
    mandate: row.mandate,
    suspension:
      row.suspended_by === null
        ? null
        : { by: row.suspended_by, reason: row.suspension_reason ?? "" },
    version: row.version,
    allowed_actions: allowedActions(firmLifecycle, row.connection_state),
  };
}

function viewBank({ bank_last4, bank_ifsc, bank_name }: FirmRow): Firm["bank"] {
  if (bank_last4 === null || bank_ifsc === null || bank_name === null) return null;
  return { account_no_masked: maskAccountNo(bank_last4), ifsc: bank_ifsc, name: bank_name };
}

export async function readConnection(
  ctx: Context,
  caller: Caller,
  firmId: string,
): Promise<Connection> {
  const now = ctx.now();
  const firm = await requireVisibleFirm(ctx.db, caller, firmId);
  return {
    firm_id: firm.firm_id,
    ...viewState(firm, now),
    ports: await listPortStatus(ctx.db, firm.environment),
    as_of: istTimestamp(now),
  };
}

export async function countDesks({ db }: Pick<Context, "db">): Promise<number> {
  return await countRows(db);
}
