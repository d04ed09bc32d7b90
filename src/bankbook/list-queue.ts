import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import type { SealedPlace } from "../platform/master-key.ts";
import { buildDetailsPurpose, openDetails } from "./receive-statement.ts";
import { type BankLineRow, detailsColumn, listQueue as listRows } from "./store.ts";

/** A queued line as operators see it. */
type QueuedLine = {
  readonly line_id: string;
  readonly day: string;
  readonly direction: BankLineRow["direction"];
  readonly paise: number;
  readonly utr: string | null;
  readonly state: BankLineRow["state"];
  readonly reason: string | null;
  /** The line that an earlier file may have had. */
  readonly repeats_line_id: string | null;
  readonly remitter_name: string;
  readonly remitter_account_masked: string;
  readonly narration: string;
};

export async function listQueue(
  ctx: Pick<Context, "db" | "sealKey">,
  {
    environment,
    after,
    limit,
  }: {
    readonly environment: Environment;
    /** Only those that wait behind this one. */
    readonly after?: string | undefined;
    readonly limit: number;
  },
): Promise<QueuedLine[]> {
  const rows = await listRows(ctx.db.planned, { environment, after: after ?? null, limit });
  return rows.map((row) => {
    const { remitterAccount, remitterName, narration } = openDetails(row, ctx.sealKey);
    return {
      line_id: row.line_id,
      day: row.day,
      direction: row.direction,
      paise: row.paise,
      utr: row.utr,
      state: row.state,
      reason: row.reason,
      repeats_line_id: row.repeats_line_id,
      remitter_name: remitterName,
      remitter_account_masked: remitterAccount ? `…${remitterAccount.slice(-4)}` : "",
      narration,
    };
  });
}

/** The sealed texts of bank lines, for a rotation of the master key. */
export function sealedDetails({ db }: Pick<Context, "db">): SealedPlace {
  return {
    name: "bank statement lines",
    list: async (after, limit) => {
      const rows = await detailsColumn.list(db, after, limit);
      return rows.map(({ line_key, ...row }) => ({
        ...row,
        purpose: buildDetailsPurpose(line_key),
      }));
    },
    set: (rows) => detailsColumn.set(db, rows),
  };
}
