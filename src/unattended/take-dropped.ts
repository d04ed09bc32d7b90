// Takes files from the drop folder as a machine: each is imported once, by its bytes, and moved to done
// or failed. A crash in between leaves it where it was, and importing it again changes nothing.

import { createHash } from "node:crypto";
import { join } from "node:path";

import { findStatementForm } from "../bankforms/forms.ts";
import { importStatement } from "../bankbook/import-statement.ts";
import { importCreditsAsOperator } from "../credits/declare-credits.ts";
import { requireAnyFirm } from "../firms/find-firms.ts";
import type { Actor } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import { enterMachineByName } from "../operators/machines.ts";
import type { Context } from "../platform/context.ts";
import { listDropped, moveDropped, openDropFolder, readDropped } from "./read-folder.ts";
import { isWorkbook } from "../platform/sheets/read-xlsx.ts";
import {
  type DropFolder,
  dropFolders,
  type DroppedOutcome,
  findNamedFirm,
  nameTaken,
  permissionsOfFolders,
} from "./drop-rules.ts";
import { tellFailure } from "./run-schedules.ts";
import { insertDropped, isTaken, putSchedule } from "./store.ts";

type DropOptions = {
  readonly dir: string;
  /** The machine that imports. */
  readonly machine: string;
  /** The saved form of the bank's statements; the generic one unless given. */
  readonly form: string | undefined;
  readonly twoFromPaise: number;
};

type DropContext = Pick<Context, "db" | "now" | "sealKey" | "heavy" | "log">;

const name = "drop-folder";
const times = "every 15 s";
/** An error that is ours is tried again so often before the file is put aside. */
const triesMax = 3;
/** When nothing happens, that it was looked is noted so often. */
const noteEveryMs = 60_000;

/** A worker that takes one file a run. */
export function createDropTaker(
  ctx: DropContext,
  { nowMs, ...options }: DropOptions & { readonly nowMs: () => number },
): () => Promise<"more" | "idle"> {
  const tries = new Map<string, number>();
  let notedAt = 0;
  let notedSaid = "";
  const note = async (outcome: "done" | "nothing" | "failed", said: string) => {
    const now = ctx.now();
    const isNews = outcome === "done" || said !== notedSaid;
    if (!isNews && now.getTime() - notedAt < noteEveryMs) return;
    notedAt = now.getTime();
    notedSaid = said;
    const next = new Date(now.getTime() + 15_000);
    await putSchedule(ctx.db, { name, times, next_at: next, last_at: now, outcome, said });
  };
  return async () => {
    try {
      await openDropFolder(options.dir, [...dropFolders, "done", "failed"]);
      const found = await findNext(options.dir, nowMs());
      if (!found) {
        await note("nothing", "nothing new");
        return "idle";
      }
      const { outcome, said } = await takeFile(ctx, options, { ...found, tries });
      const ended = outcome === "failed" ? outcome : "done";
      const told = `${found.folder}/${found.name}: ${said}`;
      await note(ended, told);
      if (ended === "failed") await tellFailure(ctx, { name, said: told, at: ctx.now() });
      return "more";
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const isNews = error.message !== notedSaid;
      await note("failed", error.message);
      if (isNews) await tellFailure(ctx, { name, said: error.message, at: ctx.now() });
      return "idle";
    }
  };
}

type FoundFile = {
  readonly folder: DropFolder;
  readonly name: string;
  readonly read: { readonly bytes: Buffer } | { readonly problem: string };
};

async function findNext(dir: string, nowMs: number): Promise<FoundFile | undefined> {
  for (const folder of dropFolders) {
    for (const file of await listDropped(join(dir, folder))) {
      const read = await readDropped(join(dir, folder, file), nowMs);
      if (typeof read === "object") return { folder, name: file, read };
      // Statements go on from one another, so those after it wait.
      if (read === "being written" && folder === "statements") break;
    }
  }
  return undefined;
}

async function takeFile(
  ctx: DropContext,
  options: DropOptions,
  { folder, name: file, read, tries }: FoundFile & { readonly tries: Map<string, number> },
): Promise<Imported> {
  const permission = permissionsOfFolders[folder];
  // A machine that may not act leaves the files where they are.
  const actor = await enterMachineByName(ctx, { name: options.machine, permission });
  const now = ctx.now();
  const sha256 = "bytes" in read ? createHash("sha256").update(read.bytes).digest() : null;
  const end = async (outcome: DroppedOutcome, said: string): Promise<Imported> => {
    const row = { file_id: newId("drp", now), folder, name: file, sha256, outcome, said };
    await insertDropped(ctx.db, { ...row, machine: options.machine, at: now });
    const to = outcome === "failed" ? "failed" : "done";
    await moveDropped(
      join(options.dir, folder, file),
      join(options.dir, to, nameTaken(`${folder}-${file}`, now)),
    );
    return { outcome, said };
  };
  if ("problem" in read) return await end("failed", read.problem);
  if (sha256 && (await isTaken(ctx.db, { folder, sha256 }))) {
    return await end("known", "was imported before");
  }
  try {
    const taking = { folder, name: file, bytes: read.bytes };
    const { outcome, said } = await importFile(ctx, actor, taking, options);
    return await end(outcome, said);
  } catch (error) {
    if (error instanceof Failure) return await end("failed", error.message);
    const key = sha256?.toString("hex") ?? "";
    const tried = (tries.get(key) ?? 0) + 1;
    tries.set(key, tried);
    if (tried < triesMax) throw error;
    tries.delete(key);
    ctx.log.error({ err: error, file }, "a dropped file was put aside");
    return await end("failed", "the service could not read it: see its log");
  }
}

type Imported = { readonly outcome: DroppedOutcome; readonly said: string };

async function importFile(
  ctx: DropContext,
  actor: Actor,
  { folder, name: file, bytes }: { folder: DropFolder; name: string; bytes: Buffer },
  { form, twoFromPaise }: DropOptions,
): Promise<Imported> {
  const book = isWorkbook(bytes);
  if (folder === "statements") {
    const format = form === undefined ? undefined : await findStatementForm(ctx.db, form);
    const text = book ? new Uint8Array(bytes) : decodeText(bytes);
    const asked = { environment: "live", text, format, twoFromPaise } as const;
    const imported = await importStatement(ctx, actor, asked);
    const { outcome, matched, queued, lines, approval_id } = imported;
    if (outcome === "known") return { outcome: "known", said: "was imported before" };
    if (outcome === "proposed") {
      return { outcome: "proposed", said: `${lines} lines wait for a person: ${approval_id}` };
    }
    return { outcome: "done", said: `${lines} lines: ${matched} matched, ${queued} queued` };
  }
  const firmId = findNamedFirm(file);
  if (firmId === undefined) {
    throw new Failure("unprocessable", "the name does not begin with the id of a firm");
  }
  const { desk_id: deskId } = await requireAnyFirm(ctx.db, firmId);
  const report = book ? { xlsx: bytes.toString("base64") } : { csv: decodeText(bytes) };
  const { results, skipped } = await importCreditsAsOperator(
    ctx,
    actor,
    { deskId, firmId },
    report,
  );
  const refused = results.filter(({ ok }) => !ok).length;
  const said = `${results.length} credits, ${refused} refused; ${skipped} rows skipped`;
  return { outcome: "done", said };
}

function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Failure("unprocessable", "is no workbook and no UTF-8 text");
  }
}
