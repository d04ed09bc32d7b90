import { createHash } from "node:crypto";

import { openDesk } from "../firms/open-desk.ts";
import { seedClients } from "../firms/seed-clients.ts";
import type { FirmOfDesk } from "../firms/firm-of-desk.ts";
import { newId } from "../kernel/ids.ts";
import { type IstDay, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { seededRow } from "./seeded-row.ts";
import { seedRows } from "./store.ts";
import { type SyntheticExporter, syntheticExporters } from "./synthetic-credits.ts";

export type SeedCredits = {
  readonly deskName: string;
  readonly credits: number;
  readonly seed: string;
  readonly onProgress?: (made: number) => void;
};

const creditsPerSet = 5_000;
/** The next set is made while the last ones are being written. */
const writersMax = 3;

/**
 * Synthetic client firms and credits on a sandbox desk, in sets of thousands. The same seed makes
 * the same data, and seeding twice makes it once. It is a fixture and no trade: nothing is told of
 * it and no audit row is written.
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
  for (const set of setsOf(syntheticExporters(seed, credits, today))) {
    // Each set's ids begin after those of the last, so that it goes to the end of their index.
    const idsFrom = new Date(now.getTime() + sets++);
    const prepared = prepare(set, { desk, today, now, idsFrom });
    firms += prepared.clients.length;
    made += prepared.rows.length;
    if (underWay.size === writersMax) await Promise.race(underWay);
    const writing = write(ctx, prepared, { desk, now }).then(() => {
      underWay.delete(writing);
      written += prepared.rows.length;
      onProgress(written);
    });
    underWay.add(writing);
  }
  await Promise.all(underWay);
  return { firm_id: desk.firm_id, firms, credits: made };
}

type Prepared = ReturnType<typeof prepare>;

async function write(
  ctx: Pick<Context, "db">,
  { clients, rows }: Prepared,
  { desk, now }: { desk: FirmOfDesk; now: Date },
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await seedClients(tx, desk, clients, now);
    await seedRows(tx, { environment: desk.environment, deskId: desk.firm_id, now }, rows);
  });
}

function prepare(
  exporters: readonly SyntheticExporter[],
  { desk, today, now, idsFrom }: { desk: FirmOfDesk; today: IstDay; now: Date; idsFrom: Date },
) {
  const clients = exporters.map((exporter) => ({
    firmId: firmIdFrom(desk, exporter),
    seed: exporter.seed,
    name: `Exporter ${String(exporter.number).padStart(6, "0")} Private Limited`,
  }));
  const rows = exporters.flatMap(({ credits }, index) =>
    credits.map((credit) => ({
      ...seededRow(credit, {
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
 * Firms of a seed have the same ids each time, so that seeding again finds them, and ids in a row,
 * so that they and their credits go to the end of each index.
 */
function firmIdFrom(desk: FirmOfDesk, { seed, number }: SyntheticExporter): string {
  const bytes = createHash("sha256").update(`${desk.firm_id} ${seed}`).digest();
  const random = Array.from(bytes.subarray(0, 10), (byte) => alphabet[byte & 31]).join("");
  return `${desk.firm_id.slice(0, 13)}z${String(number).padStart(6, "0")}${random}`;
}

function* setsOf(exporters: Iterable<SyntheticExporter>): Generator<SyntheticExporter[]> {
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
