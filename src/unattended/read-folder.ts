// A folder that files are put into for the service. What is not certainly its owner's word is not read:
// the folder and each file belong to the user that the service runs as, and nobody else may write them.

import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, rename } from "node:fs/promises";
import { join } from "node:path";

import { Failure } from "../kernel/failure.ts";

const rightsToWriteOfOthers = 0o022;
/** A file that was written to within this time may not be whole yet. */
const settledMs = 5_000;
const bytesMax = 20_000_000;

type ReadDropped =
  | { readonly bytes: Buffer }
  | { readonly problem: string }
  | "being written"
  | "gone";

/** Makes the folders that are not there. */
export async function openDropFolder(dir: string, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    await mkdir(join(dir, folder), { recursive: true, mode: 0o700 });
    const problem = await findFolderProblem(join(dir, folder));
    if (problem !== undefined) throw badPlace(join(dir, folder), problem);
  }
  const problem = await findFolderProblem(dir);
  if (problem !== undefined) throw badPlace(dir, problem);
}

/** What cannot be trusted is neither read nor written into. */
export function badPlace(path: string, problem: string): Failure {
  return new Failure("conflict", `${path} ${problem}`);
}

async function findFolderProblem(path: string): Promise<string | undefined> {
  const status = await lstat(path);
  if (!status.isDirectory()) return "is no folder";
  return findStranger(status);
}

function findStranger({
  uid,
  mode,
}: {
  readonly uid: number;
  readonly mode: number;
}): string | undefined {
  if (uid !== process.getuid?.()) return "belongs to another user";
  return (mode & rightsToWriteOfOthers) === 0 ? undefined : "can be written by others";
}

/** The names of files by their order; hidden ones and those that are being written are left. */
export async function listDropped(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => !name.startsWith(".") && !/\.(part|tmp)$/.test(name))
    .toSorted();
}

/** Reads a file that is certainly its owner's; what is open is what was looked at. */
export async function readDropped(path: string, nowMs: number): Promise<ReadDropped> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => error);
  if (file instanceof Error) {
    if (file.code === "ENOENT") return "gone";
    return { problem: file.code === "ELOOP" ? "is a link" : `cannot be read (${file.code})` };
  }
  try {
    const status = await file.stat();
    if (!status.isFile()) return { problem: "is no file" };
    const stranger = findStranger(status);
    if (stranger !== undefined) return { problem: stranger };
    if (status.nlink !== 1) return { problem: "has another name, too" };
    if (status.size > bytesMax) return { problem: `has more than ${bytesMax} bytes` };
    // Who writes a file can give it any time of its last write, also one to come; not this one.
    if (nowMs - status.ctimeMs < settledMs) return "being written";
    return { bytes: await file.readFile() };
  } finally {
    await file.close();
  }
}

/** Another process may have been faster. */
export async function moveDropped(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
