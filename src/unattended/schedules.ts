import { istTimestamp } from "../kernel/time.ts";
import { describeFreezing } from "../reports/freeze-statements.ts";
import type { Context } from "../platform/context.ts";
import type { DroppedOutcome } from "./drop-rules.ts";
import { listDroppedRows, listScheduleRows } from "./store.ts";

/** What the service does by itself, when it last did, and when it does next. */
export async function listSchedules(ctx: Pick<Context, "db" | "now">) {
  const { lastAt, nextAt } = await describeFreezing(ctx);
  const statements = {
    name: "statements",
    times: "when a month is closed",
    next_at: nextAt,
    last_at: lastAt,
    outcome: lastAt && ("done" as const),
    said: lastAt && "each firm has its statement",
  };
  return [...(await listScheduleRows(ctx.db)), statements].map(({ next_at, last_at, ...row }) => ({
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
