import { Failure } from "../kernel/failure.ts";
import type { Context } from "../platform/context.ts";
import { type ExplainedPayout, explainPayouts } from "../payouts/explain-payouts.ts";
import type { FileState } from "./rules.ts";
import {
  type FileLineRow,
  type FileRow,
  findFile,
  listFileItems,
  listFileLines,
  listFiles as listRows,
} from "./store.ts";

/** Files, newest first, without what is in them. */
export async function listFiles(
  ctx: Pick<Context, "db">,
  { state, limit }: { readonly state?: FileState | undefined; readonly limit: number },
): Promise<FileRow[]> {
  return await listRows(ctx.db, { state: state ?? null }, limit);
}

export type ShownLine = Omit<FileLineRow, "account_sealed"> & {
  readonly payout_ids: readonly string[];
  /** What each paisa of it comes from, to the order. */
  readonly payouts: readonly ExplainedPayout[];
};

/** One file with its lines and what each is made of; account numbers stay sealed. */
export async function showFile(
  ctx: Pick<Context, "db">,
  fileId: string,
): Promise<FileRow & { readonly lines: readonly ShownLine[] }> {
  const file = await findFile(ctx.db, fileId);
  if (!file) throw new Failure("not_found", `no payout file ${fileId}`);
  const lines = await listFileLines(ctx.db, [fileId]);
  const items = await listFileItems(ctx.db, fileId);
  const explained = await explainPayouts(
    ctx.db,
    items.map(({ payout_id }) => payout_id),
  );
  const byLine = Map.groupBy(items, ({ ordinal }) => ordinal);
  return {
    ...file,
    lines: lines.map(({ account_sealed: _sealed, ...line }) => {
      const ids = (byLine.get(line.ordinal) ?? []).map(({ payout_id }) => payout_id);
      const payouts = ids.flatMap((id) => explained.get(id) ?? []);
      return { ...line, payout_ids: ids, payouts };
    }),
  };
}
