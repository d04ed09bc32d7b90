import type { FirmOfDesk } from "../firms/firm-of-desk.ts";
import { newId } from "../kernel/ids.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { istDay } from "../kernel/time.ts";
import type { Tx } from "../platform/postgres.ts";
import { seededRow } from "./seeded-row.ts";
import { seedRows } from "./store.ts";
import { syntheticExporters } from "./synthetic-credits.ts";

/**
 * Synthetic credits of one sandbox firm, and their numbers. The same seed makes the same credits, and
 * those that the firm has already stay as they are. A fixture like every seed: nothing is told of it.
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
  const exporters = syntheticExporters(`${firmId} ${seed}`, count, today);
  const rows = [...exporters].flatMap(({ credits }) =>
    credits.map((credit) => ({
      ...seededRow(
        { ...credit, scheme: scheme ?? credit.scheme, suspended: false },
        { environment, deskId, firmId, today, now },
      ),
      credit_id: newId("crd", now),
    })),
  );
  await seedRows(tx, { environment, deskId, now }, rows);
  return rows.map((row) => row.scrip_no);
}
