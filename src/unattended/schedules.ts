import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { DroppedOutcome } from "./drop-rules.ts";
import { listDroppedRows, listScheduleRows } from "./store.ts";

/** What the service does by itself, when it last did, and when it does next. */
export async function listSchedules({ db }: Pick<Context, "db">) {
  return (await listScheduleRows(db)).map(({ next_at, last_at, ...row }) => ({
    ...row,
    next_at: next_at && istTimestamp(next_at),
    last_at: last_at && istTimestamp(last_at),
  }));
}

/** The files that were found in the drop folder, the newest first. */
export async function listDroppedFiles(
  { db }: Pick<Context, "db">,
  search: {
    readonly before: string | undefined;
    readonly outcome: DroppedOutcome | undefined;
    readonly limit: number;
  },
) {
  const { before = null, outcome = null, limit } = search;
  const rows = await listDroppedRows(db, { before, outcome, limit });
  return rows.map(({ sha256, at, ...row }) => ({
    ...row,
    sha256: sha256 && sha256.toString("hex"),
    at: istTimestamp(at),
  }));
}
