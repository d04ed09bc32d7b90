import { requireVisibleFirm, requireFirmOfDesk } from "../firms/find-firms.ts";
import type { Change } from "../kernel/actor.ts";
import type { Caller, Environment } from "../kernel/caller.ts";
import { type DayBand, listDayBands } from "../kernel/money.ts";
import type { ListSearch } from "../kernel/desk-search.ts";
import { notFound } from "../kernel/failure.ts";
import { firstId, isId } from "../kernel/ids.ts";
import { allowedActions } from "../kernel/lifecycle.ts";
import { type Leaf, readLeaf } from "../kernel/page.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { type IstDay, istDay, istTimestamp } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { deskPages } from "../platform/sheets/list-file.ts";
import {
  creditLifecycle,
  type CreditUse,
  countDaysLeft,
  findUsedElsewhere,
  normalizeScripNo,
  findNotSellableReason,
} from "./rules.ts";
import {
  listAllCreditRows,
  listCreditRowsByNumber,
  listCreditRowsOfFirm,
  sumOfferedByDaysLeft,
} from "./operator-store.ts";
import { Credit, FirmParams } from "./schema.ts";
import {
  creditList,
  type CreditRow,
  findCredit,
  findCreditById,
  listUses,
  findAnyCredit,
} from "./store.ts";

export async function readCredit(ctx: Context, caller: Caller, name: string): Promise<Credit> {
  const row = await findNamedCredit(ctx.db, caller, name);
  if (!row) throw notFound("scrip_no");
  const firm = await requireFirmOfDesk(ctx.db, caller.deskId, row.firm_id);
  return viewCredit(row, await openView(ctx.db, firm, [row], istDay(ctx.now())));
}

/** What a view of a firm's credits needs beside their rows. */
export type CreditView = {
  readonly firmState: string;
  readonly today: IstDay;
  /** By credit. */
  readonly uses: ReadonlyMap<string, readonly CreditUse[]>;
};

/** Only a credit with less than it was issued with can have been used. */
export async function openView(
  db: Db,
  { connection_state: firmState }: { readonly connection_state: string },
  rows: readonly CreditRow[],
  today: IstDay,
): Promise<CreditView> {
  const used = rows.filter((row) => row.face_paise < row.issued_paise);
  const told = used.length > 0 ? await listUses(db, used) : [];
  const byNumber = Map.groupBy(told, (use) => use.scrip_no);
  const uses = new Map(used.map((row) => [row.credit_id, byNumber.get(row.scrip_no) ?? []]));
  return { firmState, today, uses };
}

/** By its credit_id, or by a number: the live holding that the caller sees, otherwise the latest. */
export async function findNamedCredit(
  db: Db,
  caller: Caller,
  name: string,
): Promise<CreditRow | undefined> {
  const visible = visibleTo(caller);
  const number = normalizeScripNo(name);
  if (number !== undefined) return await findCredit(db, visible, number);
  return isId("crd", name) ? await findCreditById(db, visible, name) : undefined;
}

export const creditsOfFirm = deskPages({
  name: "credits",
  params: FirmParams,
  query: creditList.parameters,
  of: Credit,
  order: "Newest first.",
  read: async (ctx, caller, { firm_id: firmId, ...query }) => {
    const firm = await requireVisibleFirm(ctx.db, caller, firmId);
    const page = await creditList.read(ctx, { deskId: firm.desk_id, firmId }, query);
    const view = await openView(ctx.db, firm, page.rows, istDay(ctx.now()));
    return { ...page, rows: await mapPaced(page.rows, (row) => viewCredit(row, view), openPace()) };
  },
});

type CreditNarrower = {
  readonly scripNo: string;
  readonly scheme: Scheme;
  readonly status: string;
};

/** Of one number; nobody holds more of it. */
const ofNumberMax = 1_000;

/** Bounds of days left: about a month, a quarter and half a year. */
const daysLeftBounds = [30, 91, 183];

/** Everything that the house offers, by how soon it expires. */
export async function sumStockByExpiry(
  { db, now }: Pick<Context, "db" | "now">,
  environment: Environment,
): Promise<DayBand[]> {
  const asked = { today: istDay(now()), bounds: daysLeftBounds };
  return listDayBands(daysLeftBounds, await sumOfferedByDaysLeft(db.planned, environment, asked));
}

/** Credits of every desk, or of one, newest first, for the operator. */
export async function listAllCredits(
  ctx: Pick<Context, "db" | "cursorKey">,
  search: ListSearch<CreditNarrower>,
): Promise<Leaf<CreditRow>> {
  const { scripNo, scheme = null, status = null, environment, firmId, from, to } = search;
  if (scripNo !== undefined) {
    const found = await listCreditRowsByNumber(
      ctx.db,
      normalizeScripNo(scripNo) ?? "",
      ofNumberMax,
    );
    const rows = found.filter(
      (row) =>
        (environment === null || row.environment === environment) &&
        (firmId === null || row.firm_id === firmId) &&
        (status === null || row.state === status),
    );
    return { rows, nextCursor: null };
  }
  return await readLeaf<CreditRow>(ctx, ["credits", "credit_id"], search, async (request) => {
    const filter = { ...search, scheme, status };
    if (firmId !== null) return await listCreditRowsOfFirm(ctx.db.planned, filter, request);
    const fromId = from && firstId("crd", from);
    const toId = to && firstId("crd", to);
    return await listAllCreditRows(ctx.db.planned, { ...filter, fromId, toId }, request);
  });
}

/** A credit of any desk, with what it paid. */
export async function readAnyCredit(db: Db, creditId: string) {
  const row = await findAnyCredit(db, creditId);
  if (!row) throw notFound("credit_id");
  const told = await listUses(db, [row]);
  return {
    ...row,
    uses: told.map(viewUse),
    used_elsewhere_paise: findUsedElsewhere(row, told),
  };
}

/** A credit as its desk sees it. Whether it is sellable also depends on its firm and the day. */
export function viewCredit(row: CreditRow, { firmState, today, uses }: CreditView): Credit {
  const told = uses.get(row.credit_id) ?? [];
  const reason = findNotSellableReason(row, { firmState, today });
  return {
    credit_id: row.credit_id,
    scrip_no: row.scrip_no,
    scheme: row.scheme,
    firm_id: row.firm_id,
    issued_paise: row.issued_paise,
    face_paise: row.face_paise,
    port_code: row.port_code,
    issued_on: row.issued_on,
    expires_on: row.expires_on,
    days_left: Math.max(0, countDaysLeft(row.expires_on, today)),
    status: row.state,
    sellable: reason === null,
    not_sellable_reason: reason,
    uses: told.map(viewUse),
    used_elsewhere_paise: findUsedElsewhere(row, told),
    balance_shown_on: row.balance_shown_on,
    as_of: istTimestamp(row.as_of),
    version: row.version,
    allowed_actions: allowedActions(creditLifecycle, row.state),
  };
}

function viewUse({ bill_of_entry, used_on, port_code, amount_paise, balance_paise }: CreditUse) {
  return { bill_of_entry, used_on, port: port_code, amount_paise, balance_paise };
}

/** A change of a credit for the audit trail and its event. */
export function buildCreditChange({
  action,
  before,
  after,
  event,
  data = {},
}: {
  readonly action: string;
  readonly before: CreditRow | null;
  readonly after: CreditRow;
  readonly event?:
    | "credit.listed"
    | "credit.withdrawn"
    | "credit.expiring"
    | "credit.expired"
    | "credit.suspended"
    | "credit.used";
  readonly data?: object;
}): Change {
  return {
    environment: after.environment,
    deskId: after.desk_id,
    firmId: after.firm_id,
    action: `credit.${action}`,
    entity: {
      type: "credit",
      id: after.credit_id,
      version: after.version,
      href: `/v1/credits/${encodeURIComponent(after.scrip_no)}`,
    },
    after: describeCredit(after),
    event: event && {
      name: event,
      from: before?.state ?? "declared",
      to: after.state,
      data: {
        scrip_no: after.scrip_no,
        scheme: after.scheme,
        face_paise: after.face_paise,
        expires_on: after.expires_on,
        ...data,
      },
    },
  };
}

/** What the event of a part tells of it; a report and news of customs name no bill. */
export function describeUse(before: CreditRow, after: CreditRow, use?: CreditUse) {
  return {
    amount_paise: before.face_paise - after.face_paise,
    bill_of_entry: use?.bill_of_entry ?? null,
    used_on: use?.used_on ?? null,
    port: use?.port_code ?? null,
  };
}

function describeCredit(row: CreditRow): object {
  return {
    scrip_no: row.scrip_no,
    scheme: row.scheme,
    firm_id: row.firm_id,
    issued_paise: row.issued_paise,
    face_paise: row.face_paise,
    balance_shown_on: row.balance_shown_on,
    port_code: row.port_code,
    issued_on: row.issued_on,
    expires_on: row.expires_on,
    state: row.state,
    reserved_for: row.reserved_for,
    reason: row.reason,
    version: row.version,
  };
}
