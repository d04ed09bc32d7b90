import type { Change } from "../kernel/actor.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { Db, Tx } from "../platform/postgres.ts";
import { changeOfFile } from "./change-of-file.ts";
import { fileLifecycle, lineLifecycle } from "./rules.ts";
import {
  type FileLineRow,
  listFileLines,
  listLinesByLead,
  listLinesByReference,
  lockFiles,
  setFile,
  setLineStates,
} from "./store.ts";

/** A line of a file as other slices know it. */
export type KnownLine = Pick<
  FileLineRow,
  "file_id" | "ordinal" | "lead_id" | "firm_id" | "paise" | "reference" | "state"
>;

export async function linesByReference(
  db: Db,
  references: readonly string[],
): Promise<ReadonlyMap<string, KnownLine>> {
  if (references.length === 0) return new Map();
  const lines = await listLinesByReference(db, references);
  return new Map(lines.map((line) => [line.reference, line]));
}

/** By which line the bank was told to pay each of these, voided ones apart. */
export async function countingLines(
  db: Db,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, KnownLine>> {
  if (leadIds.length === 0) return new Map();
  const lines = await listLinesByLead(db, leadIds);
  return new Map(lines.map((line) => [line.lead_id, line]));
}

export type LineAnswer = { readonly leadId: string; readonly outcome: "paid" | "returned" };

/**
 * What the bank said of remittances, for those that left in a file; a file all of whose lines are
 * answered is over. The payouts were locked before; the changes are for the caller to record.
 */
export async function answerLines(
  tx: Tx,
  answers: readonly LineAnswer[],
): Promise<readonly Change[]> {
  if (answers.length === 0) return [];
  const counting = await listLinesByLead(
    tx,
    answers.map(({ leadId }) => leadId),
  );
  const fileIds = [...new Set(counting.map(({ file_id }) => file_id))];
  if (fileIds.length === 0) return [];
  const files = await lockFiles(tx, fileIds);
  const byFile = Map.groupBy(await listFileLines(tx, fileIds), (line) => line.file_id);
  const changes: Change[] = [];
  for (const file of files) {
    const lines = (byFile.get(file.file_id) ?? []).map((line) => {
      const own = answers.filter(
        ({ leadId }) => leadId === line.lead_id && line.state !== "voided",
      );
      const state = own.reduce(
        (at, { outcome }) => advance(lineLifecycle, at, outcome === "paid" ? "pay" : "return"),
        line.state,
      );
      return { line, state };
    });
    const moved = lines.filter(({ line, state }) => state !== line.state);
    if (moved.length === 0) continue;
    await setLineStates(
      tx,
      moved.map(({ line, state }) => ({ ...line, state })),
    );
    const isOver = file.state === "live" && lines.every(({ state }) => state !== "live");
    const state = isOver ? advance(fileLifecycle, file.state, "answer") : file.state;
    const after = { ...file, state, version: file.version + 1 };
    await setFile(tx, after);
    changes.push(changeOfFile("answer", file, after));
  }
  return changes;
}
