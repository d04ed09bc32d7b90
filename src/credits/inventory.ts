// The credits that the house sells. An operator adds them without a check by the registry, so a
// large sum needs a second operator.
//
// The book keeps a copy: it reads all pages once, then the changes since a horizon. A change is
// found by the id of its transaction. All transactions below the horizon have ended, so the next
// read from there misses nothing; committed changes above it are returned now and again by the next
// read.

import { createHash } from "node:crypto";

import { type FirmOfDesk, requireFirmOfDesk } from "../firms/find-firms.ts";
import { type Actor, operator } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { canonicalJson } from "../kernel/json.ts";
import { asAmount, sumPaise, rupeesText } from "../kernel/money.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { istDay } from "../kernel/time.ts";
import { actWithApproval } from "../operators/act-with-approval.ts";
import { type ApprovalKind, type Terms, validHoursUsual } from "../operators/approval-kind.ts";
import { aloneLimitFactor, twoPeopleFromPaise } from "../operators/approval-rules.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { readReport } from "./read-report.ts";
import { openReport, type ReportFile } from "./read-workbook.ts";
import type { ReportSheet, ReportSource } from "./report-rules.ts";
import { parseRow, toResult, countResults, importReport, listRows } from "./declare-credits.ts";
import { openView } from "./read-credits.ts";
import {
  type HouseChangeRow,
  type HouseCreditRow,
  listHouseChanges,
  listHouseCredits,
} from "./store.ts";
import { type CreditFacts, type Declaration, deriveIssueDay } from "./rules.ts";
import { reportRowsMax, type DeclarationResults, type ImportResults } from "./schema.ts";
import { previewDeclarations, takeDeclarations } from "./take-declarations.ts";

/** A credit of the house; its issue day is derived from its expiry when left out. */
export type InventoryItem = Omit<Declaration, "issued_on"> & {
  readonly issued_on?: string | undefined;
};

/**
 * Adds credits for the house to sell. The operator vouches for them, so they are listed at once,
 * and claims of others to their numbers are rejected. Each item has its own result.
 */
export async function addInventory(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  { environment, items }: { environment: Environment; items: readonly InventoryItem[] },
): Promise<DeclarationResults> {
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => await takeInventory(tx, actor, { environment, items, now }),
  );
}

/** The same from a report of the customs portal. */
export async function importInventoryReport(
  tx: Tx,
  actor: Actor,
  {
    environment,
    report,
    now,
  }: { readonly environment: Environment; report: ReportSource; now: Date },
): Promise<ImportResults> {
  const firm = await loadHouse(tx, environment);
  return await importReport(tx, { firm, actor, vouched: true, now }, report);
}

/** Items, or a report of the customs portal. */
type Inventory = { readonly items: readonly InventoryItem[] } | ReportFile;

/** A workbook is kept as its rows, so that it is unpacked once, and by a thread. */
type InventoryTerms = Terms & {
  readonly items?: readonly InventoryItem[];
  readonly csv?: string;
  readonly sheet?: ReportSheet;
};

export type AddedInventory =
  | { readonly outcome: "proposed"; readonly approval_id: string }
  | { readonly outcome: "done"; readonly results: DeclarationResults | ImportResults };

export async function addInventoryWithApproval(
  ctx: Pick<Context, "db" | "now" | "heavy">,
  actor: Actor,
  {
    environment,
    inventory,
    twoFromPaise = twoPeopleFromPaise,
  }: {
    readonly environment: Environment;
    readonly inventory: Inventory;
    readonly twoFromPaise?: number;
  },
): Promise<AddedInventory> {
  const by = { environment, deskId: houseFirmId[environment] };
  const terms: InventoryTerms =
    "items" in inventory ? { ...inventory } : await openReport(ctx.heavy, inventory, { by });
  const value = await ctx.db.transaction(async (tx) => {
    const { facePaise } = await previewInventory(tx, { environment, terms, now: ctx.now() });
    return facePaise;
  });
  const acted = await actWithApproval(ctx, actor, {
    kind: inventoryAddition,
    environment,
    subjectId: createHash("sha256").update(canonicalJson(terms)).digest("hex").slice(0, 40),
    terms,
    people: value >= twoFromPaise ? 2 : 1,
    alonePerDayPaise: twoFromPaise * aloneLimitFactor,
  });
  if (acted.outcome === "proposed") {
    return { outcome: "proposed", approval_id: acted.approval_id };
  }
  // The answer of `inventoryAddition`.
  const results = acted.answer as DeclarationResults | ImportResults;
  return { outcome: "done", results };
}

export const inventoryAddition: ApprovalKind<InventoryTerms> = {
  name: "inventory.add",
  proposers: ["dealer", "settlement"],
  approvers: ["dealer", "settlement"],
  validHours: validHoursUsual,
  async prepare(tx, { environment, terms }, now) {
    const { facePaise, isNew } = await previewInventory(tx, { environment, terms, now });
    const numbers = isNew.map(({ scrip_no }) => scrip_no);
    const some = numbers.slice(0, 5).join(", ") + (numbers.length > 5 ? ", …" : "");
    return {
      summary: `${numbers.length} credits of ${rupeesText(facePaise)} rupees of face become the house's to sell: ${some}`,
      valuePaise: facePaise,
      facts: { numbers, facePaise },
      shows: [{ title: "Credits", rows: isNew.map(showItem) }],
      async carryOut(actor) {
        const report = findReport(terms);
        const taken = report
          ? await importInventoryReport(tx, actor, { environment, report, now })
          : await takeInventory(tx, actor, { environment, items: terms.items ?? [], now });
        return { changes: [], answer: taken };
      },
    };
  },
};

export type HouseCredit = HouseCreditRow;

/** The id of the oldest running transaction. */
type Horizon = string;

type HouseChange = {
  readonly scripNo: string;
  readonly scheme: Scheme;
  /** Undefined when the house no longer sells it. */
  readonly listed: HouseCredit | undefined;
};

const pageSize = 5_000;

/** All credits that the house sells, in pages. */
export async function* readHouseCredits(
  db: Db,
  environment: Environment,
): AsyncGenerator<readonly HouseCredit[]> {
  let page: readonly HouseCredit[] = [];
  do {
    page = await listHouseCredits(db, environment, { after: page.at(-1), limit: pageSize });
    yield page;
  } while (page.length === pageSize);
}

type HouseChanges = {
  readonly horizon: Horizon;
  /** Undefined when there are so many that a full read is cheaper. */
  readonly changes: readonly HouseChange[] | undefined;
};

/** The changes since a horizon; none when it is null. */
export async function readHouseChanges(
  db: Db,
  environment: Environment,
  since: Horizon | null,
): Promise<HouseChanges> {
  const look = { horizon: since, limit: pageSize + 1 };
  const rows = await listHouseChanges(db, environment, look);
  const [first] = rows;
  if (!first) throw new Error("there is always a horizon");
  const isTold = rows.length <= pageSize;
  const changes = isTold ? rows.flatMap((row) => toHouseChange(row) ?? []) : undefined;
  return { horizon: first.horizon, changes };
}

async function takeInventory(
  tx: Tx,
  actor: Actor,
  {
    environment,
    items,
    now,
  }: { readonly environment: Environment; items: readonly InventoryItem[]; now: Date },
): Promise<DeclarationResults> {
  const today = istDay(now);
  const firm = await loadHouse(tx, environment);
  const outcomes = await takeDeclarations(
    tx,
    { firm, actor, vouched: true, mode: { followsBalance: false }, now },
    parseItems(items, today),
  );
  const view = await openView(tx, firm, listRows(outcomes), today);
  const results = outcomes.map((outcome, index) => ({
    index,
    ...toResult(outcome, view, actor.requestId ?? ""),
  }));
  return { results, ...countResults(results) };
}

async function loadHouse(db: Db, environment: Environment): Promise<FirmOfDesk> {
  return await requireFirmOfDesk(db, houseFirmId[environment], houseFirmId[environment]);
}

function parseItems(items: readonly InventoryItem[], today: string): (CreditFacts | Failure)[] {
  return items.map((item) =>
    parseRow(
      { ...item, issued_on: item.issued_on ?? deriveIssueDay(item.expires_on, today) },
      today,
    ),
  );
}

type InventoryPreview = {
  readonly environment: Environment;
  readonly terms: InventoryTerms;
  readonly now: Date;
};

/** The credits that the house does not have yet; writes nothing. */
async function previewInventory(tx: Tx, { environment, terms, now }: InventoryPreview) {
  const firm = await loadHouse(tx, environment);
  const declared = await parseInventory(terms, now);
  const taking = {
    firm,
    actor: operator,
    vouched: true,
    mode: { followsBalance: true },
    now,
  } as const;
  const outcomes = await previewDeclarations(tx, taking, declared);
  const isNew = declared.filter(
    (facts, index): facts is CreditFacts =>
      !(facts instanceof Failure) && outcomes[index]?.kind !== "known",
  );
  const faces = isNew.map(({ face_paise }) => face_paise);
  return { isNew, facePaise: asAmount(sumPaise(faces)) };
}

function findReport({ csv, sheet }: InventoryTerms): ReportSource | undefined {
  if (sheet !== undefined) return { sheet };
  return csv === undefined ? undefined : { csv };
}

async function parseInventory(
  terms: InventoryTerms,
  now: Date,
): Promise<(CreditFacts | Failure)[]> {
  const today = istDay(now);
  const report = findReport(terms);
  if (!report) return parseItems(terms.items ?? [], today);
  const pace = openPace();
  const { rows } = await readReport(report, { iec: undefined, rowsMax: reportRowsMax, pace });
  return await mapPaced(rows, ({ declared }) => parseRow(declared, today), pace);
}

function toHouseChange({ scrip_no, scheme, face_paise, expires_on }: HouseChangeRow) {
  if (scrip_no === null) return undefined;
  const listed = face_paise === null ? undefined : { scrip_no, scheme, face_paise, expires_on };
  return { scripNo: scrip_no, scheme, listed };
}

function showItem({ scheme, scrip_no, face_paise, issued_on, expires_on }: CreditFacts) {
  return { scheme, scrip_no, face_paise, issued_on, expires_on };
}
