// When the database was backed up, in a file of DATA_DIR. The service's own command notes it, or the
// operator after another program has made one; nothing is looked for by itself.

import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { unprocessable } from "../kernel/failure.ts";
import { istTimestamp, parseInstant } from "../kernel/time.ts";
import { measureOnDemand, type Metrics } from "./metrics.ts";

const fileName = "last-backup";

/** An earlier one than the newest changes nothing. */
export async function noteBackup(dataDir: string, madeAt: Date, now: Date): Promise<void> {
  if (madeAt > now) throw unprocessable({ path: "at", problem: "must not be in the future" });
  const last = await findBackup(dataDir);
  if (last && last >= madeAt) return;
  const path = join(dataDir, fileName);
  const next = `${path}.${process.pid}`;
  await writeFile(next, `${istTimestamp(madeAt)}\n`, { flush: true });
  await rename(next, path);
}

/** The newest; undefined before the first. */
async function findBackup(dataDir: string): Promise<Date | undefined> {
  const text = await readFile(join(dataDir, fileName), "utf8").catch(() => "");
  return parseInstant(text.trim()) ?? undefined;
}

export function measureBackup(dataDir: string, metrics: Metrics): void {
  measureOnDemand(metrics, {
    name: "scripdesk_backup_timestamp_seconds",
    help: "When the newest backup was made that DATA_DIR tells of; 0 before the first",
    read: async () => ((await findBackup(dataDir)) ?? new Date(0)).getTime() / 1_000,
  });
}
