import { execFile } from "node:child_process";
import { mkdtemp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const memoryFolder = "/dev/shm";
const memoryFileSystem = 0x0102_1994;
/** Twice what the log of a PostgreSQL under load grows to. */
const memoryBytesMin = 8 * 1024 ** 3;

/** A new folder for a PostgreSQL that nobody needs after the test. */
export async function scratchFolder(prefix: string): Promise<string> {
  return await mkdtemp(join(await cheapestFolder(), prefix));
}

/**
 * Memory, where there is plenty: a run makes and drops hundreds of databases of hundreds of files,
 * and ext4 goes by every recently deleted file before it makes a new one.
 */
async function cheapestFolder(): Promise<string> {
  const found = await statfs(memoryFolder).catch(() => undefined);
  if (found?.type !== memoryFileSystem) return tmpdir();
  const bytes = Math.min(found.bavail * found.bsize, process.availableMemory());
  return bytes >= memoryBytesMin ? memoryFolder : tmpdir();
}

/** With the owners of its files: PostgreSQL may run as another user than the tests. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)("cp", ["-a", from, to]);
}
