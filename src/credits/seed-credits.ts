import { createHash } from "node:crypto";

import type { FirmOfDesk } from "../firms/find-firms.ts";
import { openDesk, seedClients } from "../firms/register-firm.ts";
import type { Environment } from "../kernel/caller.ts";
import { houseFirmId, newId } from "../kernel/ids.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";
import { addDays, type IstDay, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import {
  countDaysLeft,
  findExpiryDueDay,
  findWarning,
  sellableDaysMin,
  shelfPrefix,
} from "./rules.ts";
import { countOffered, findLastShelved } from "./operator-store.ts";
import { type CreditRow, findCredit, lockStocking, seedRows } from "./store.ts";
import {
  toInventoryNo,
  type SyntheticCredit,
  type SyntheticExporter,
  makeExporters,
  makeInventory,
} from "./synthetic-credits.ts";

type SeedCredits = {
  readonly deskName: string;
  readonly credits: number;
  readonly seed: string;
  readonly onProgress?: (made: number) => void;
};

const creditsPerSet = 5_000;
/** Sets that are written at the same time. */
const writersMax = 3;

/**
 * Inserts synthetic client firms and credits on a sandbox desk, in sets of thousands. The same seed
 * gives the same data, and seeding again inserts nothing. No events and no audit records are
 * written.
 */
export async function seedCredits(
  ctx: Pick<Context, "db" | "now">,
  { deskName, credits, seed, onProgress = () => {} }: SeedCredits,
): Promise<{ firm_id: string; firms: number; credits: number }> {
  const now = ctx.now();
  const today = istDay(now);
  const { desk } = await ctx.db.transaction(
    async (tx) => await openDesk(tx, { legalName: deskName, environment: "sandbox" }, now),
  );
  let sets = 0;
  let firms = 0;
  let made = 0;
  let written = 0;
  const underWay = new Set<Promise<void>>();
  onProgress(0);
  for (const set of splitIntoSets(makeExporters(seed, credits, today))) {
    // Ids rise from set to set, so that inserts go to the end of the index.
    const idsFrom = new Date(now.getTime() + sets++);
    const prepared = prepareSet(set, { desk, today, now, idsFrom });
    firms += prepared.clients.length;
    made += prepared.rows.length;
    if (underWay.size === writersMax) await Promise.race(underWay);
    const writing = writeSet(ctx, prepared, { desk, now }).then(() => {
      underWay.delete(writing);
      written += prepared.rows.length;
      onProgress(written);
    });
    underWay.add(writing);
  }
  await Promise.all(underWay);
  return { firm_id: desk.firm_id, firms, credits: made };
}

type Prepared = ReturnType<typeof prepareSet>;

async function writeSet(
  ctx: Pick<Context, "db">,
  { clients, rows }: Prepared,
  { desk, now }: { desk: FirmOfDesk; now: Date },
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await seedClients(tx, desk, clients, now);
    await seedRows(tx, { environment: desk.environment, deskId: desk.firm_id, now }, rows);
  });
}

function prepareSet(
  exporters: readonly SyntheticExporter[],
  { desk, today, now, idsFrom }: { desk: FirmOfDesk; today: IstDay; now: Date; idsFrom: Date },
) {
  const clients = exporters.map((exporter) => ({
    firmId: makeFirmId(desk, exporter),
    seed: exporter.seed,
    name: `Exporter ${String(exporter.number).padStart(6, "0")} Private Limited`,
  }));
  const rows = exporters.flatMap(({ credits }, index) =>
    credits.map((credit) => ({
      ...buildSeededRow(credit, {
        environment: desk.environment,
        deskId: desk.firm_id,
        firmId: clients[index]?.firmId ?? "",
        today,
        now,
      }),
      credit_id: newId("crd", idsFrom),
    })),
  );
  return { clients, rows };
}

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * The same seed gives the same firm ids, so that seeding again finds them. The ids are consecutive,
 * so that inserts go to the end of each index.
 */
function makeFirmId(desk: FirmOfDesk, { seed, number }: SyntheticExporter): string {
  const bytes = createHash("sha256").update(`${desk.firm_id} ${seed}`).digest();
  const random = Array.from(bytes.subarray(0, 10), (byte) => alphabet[byte & 31]).join("");
  return `${desk.firm_id.slice(0, 13)}z${String(number).padStart(6, "0")}${random}`;
}

function* splitIntoSets(exporters: Iterable<SyntheticExporter>): Generator<SyntheticExporter[]> {
  let set: SyntheticExporter[] = [];
  let size = 0;
  for (const exporter of exporters) {
    set.push(exporter);
    size += exporter.credits.length;
    if (size < creditsPerSet) continue;
    yield set;
    set = [];
    size = 0;
  }
  if (set.length > 0) yield set;
}

/**
 * Inserts synthetic credits for one sandbox firm and returns their numbers. The same seed gives the
 * same credits; existing ones stay unchanged. No events are written.
 */
export async function seedFirmCredits(
  tx: Tx,
  firm: FirmOfDesk,
  {
    count,
    seed,
    scheme,
    now,
  }: {
    readonly count: number;
    readonly seed: string;
    readonly scheme?: Scheme | undefined;
    readonly now: Date;
  },
): Promise<string[]> {
  const today = istDay(now);
  const { environment, desk_id: deskId, firm_id: firmId } = firm;
  const exporters = makeExporters(`${firmId} ${seed}`, count, today);
  const rows = [...exporters].flatMap(({ credits }) =>
    credits.map((credit) => ({
      ...buildSeededRow(
        { ...renewShort(credit, today), scheme: scheme ?? credit.scheme, suspended: false },
        { environment, deskId, firmId, today, now },
      ),
      credit_id: newId("crd", now),
    })),
  );
  await seedRows(tx, { environment, deskId, now }, rows);
  return rows.map((row) => row.scrip_no);
}

/** Longer than a sale needs, so that a desk may advance its clock by a month. */
const seededDaysMin = 2 * sellableDaysMin;

/** A credit that is about to lapse begins today instead: whoever seeds credits wants to sell them. */
function renewShort(credit: SyntheticCredit, today: IstDay): SyntheticCredit {
  if (countDaysLeft(credit.expires_on, today) >= seededDaysMin) return credit;
  const validDays = countDaysLeft(credit.expires_on, credit.issued_on);
  return { ...credit, issued_on: today, expires_on: addDays(today, validDays) };
}

const creditsPerScheme = 300;

const environment = "sandbox";
const house = houseFirmId[environment];

/**
 * Stocks the house of the sandbox once per database. No events and no audit records are written.
 * Returns the number of credits.
 */
export async function seedInventory(ctx: Pick<Context, "db" | "now">): Promise<number> {
  if (await isStocked(ctx.db)) return 0;
  const now = ctx.now();
  const today = istDay(now);
  return await ctx.db.transaction(async (tx) => {
    await lockStocking(tx);
    if (await isStocked(tx)) return 0;
    const made = schemes.flatMap((scheme) =>
      makeInventory({ scheme, count: creditsPerScheme }, today),
    );
    return await shelve(tx, made, now);
  });
}

/**
 * Replaces what was sold of the stock, so that whoever buys next finds as much as before. A house that
 * was never stocked is left alone. Returns the number of credits.
 */
export async function topUpShelf(ctx: Pick<Context, "db" | "now">): Promise<number> {
  const low = await listLowShelves(ctx.db);
  if (low.length === 0 || !(await isStocked(ctx.db))) return 0;
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    await lockStocking(tx);
    const made: SyntheticCredit[] = [];
    for (const { scheme, missing } of await listLowShelves(tx)) {
      const from = await findLastShelved(tx, house, `${shelfPrefix}${scheme}/`);
      made.push(...makeInventory({ scheme, count: missing, from }, istDay(now)));
    }
    return await shelve(tx, made, now);
  });
}

async function listLowShelves(db: Db) {
  const offered = await countOffered(db, environment, creditsPerScheme);
  return schemes.flatMap((scheme) => {
    const missing = creditsPerScheme - (offered.get(scheme) ?? 0);
    return missing > 0 ? [{ scheme, missing }] : [];
  });
}

async function shelve(tx: Tx, made: readonly SyntheticCredit[], now: Date): Promise<number> {
  const today = istDay(now);
  const rows = made.map((credit) => ({
    ...buildSeededRow(credit, { environment, deskId: house, firmId: house, today, now }),
    credit_id: newId("crd", now),
  }));
  await seedRows(tx, { environment, deskId: house, now }, rows);
  return rows.length;
}

/** Whether the first credit of the seed exists, in any state. */
async function isStocked(db: Db): Promise<boolean> {
  const first = toInventoryNo(schemes[0], 1);
  return (await findCredit(db, { deskId: house, firmId: house }, first)) !== undefined;
}

/** A synthetic credit as a row of a firm, without its id. */
function buildSeededRow(
  { suspended, ...facts }: SyntheticCredit,
  {
    environment,
    deskId,
    firmId,
    today,
    now,
  }: {
    readonly environment: Environment;
    readonly deskId: string;
    readonly firmId: string;
    readonly today: IstDay;
    readonly now: Date;
  },
): Omit<CreditRow, "credit_id"> {
  // Past warnings count as sent, so that seeding triggers no events.
  const told = findWarning(facts.expires_on, today) ?? null;
  return {
    ...facts,
    environment,
    desk_id: deskId,
    firm_id: firmId,
    state: suspended ? "suspended" : "listed",
    state_before_suspension: suspended ? "listed" : null,
    reserved_for: null,
    reason: suspended ? "seeded" : null,
    as_of: now,
    balance_shown_on: null,
    expiry_told: told,
    expiry_due_on: findExpiryDueDay(facts.expires_on, told),
    version: 1,
    created_at: now,
    updated_at: now,
  };
}
