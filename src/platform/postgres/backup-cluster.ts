// A backup of the embedded cluster while it runs, as pg_basebackup would make it: the embedded binaries
// have none.
//
//   reserve   a temporary slot keeps the WAL from here on; it ends with its session
//   begin     pg_backup_start: a checkpoint, from which replay will begin
//   copy      every file but the WAL, while they change; the control file last
//   end       pg_backup_stop: the label that replay begins by, and where the copy is consistent
//   WAL       the segments from the beginning to the end
//   verify    every file is read again and compared with what was copied
//
// The folder has its name only when all of this is done, and lists its files with their digests.

import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import pg from "pg";

import { exactJson } from "../../kernel/json.ts";
import { Unusable } from "../http/errors.ts";

export const manifestName = "backup.json";
export const clusterName = "postgres";

type BackedUpFile = {
  /** Below the backup's folder. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
};

export type Manifest = {
  readonly form: 1;
  readonly made_at: string;
  readonly postgres: string;
  readonly system_identifier: string;
  /** Replay must reach the second of them. */
  readonly from_lsn: string;
  readonly to_lsn: string;
  /** Every folder, so that empty ones are made too. */
  readonly folders: readonly string[];
  readonly files: readonly BackedUpFile[];
};

export type Progress = {
  readonly phase: "copy" | "wal" | "verify";
  readonly done: number;
  readonly of: number;
};
type OnProgress = (progress: Progress) => void;

/** What the server writes anew, or must not find: as pg_basebackup leaves it out. */
const emptiedFolders = new Set([
  "pg_wal",
  "pg_replslot",
  "pg_dynshmem",
  "pg_notify",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
  "log",
]);
const leftOut =
  /^(postmaster\.(pid|opts)|startup\.log|pg_internal\.init.*|pgsql_tmp.*|\.s\.PGSQL\..*)$/;
const controlFile = "global/pg_control";

const pieceBytes = 1 << 20;

export async function backUpCluster({
  connection,
  clusterDir,
  to,
  extra = [],
  now,
  onProgress = () => {},
}: {
  readonly connection: pg.ClientConfig;
  readonly clusterDir: string;
  /** The folder to make; it must not be there. */
  readonly to: string;
  /** Other files to put beside the cluster, by their names there. */
  readonly extra?: readonly { readonly name: string; readonly content: Buffer }[];
  readonly now: Date;
  readonly onProgress?: OnProgress;
}): Promise<Manifest> {
  const making = join(dirname(to), `.${basename(to)}.making-${process.pid}`);
  await mkdir(dirname(to), { recursive: true }).catch((error: Error) => {
    throw new Unusable(`${to} cannot be made: ${error.message}`, { cause: error });
  });
  if ((await readdir(to).catch(() => undefined)) !== undefined) {
    throw new Unusable(`${to} is there already: a backup makes its own folder`);
  }
  await mkdir(join(making, clusterName), { recursive: true, mode: 0o700 });
  const client = new pg.Client(connection);
  try {
    await client.connect();
    const manifest = await copyAll(client, { clusterDir, making, extra, now, onProgress });
    await verifyFiles(making, manifest.files, onProgress);
    await writeFile(join(making, manifestName), `${exactJson(manifest)}\n`, {
      mode: 0o600,
      flush: true,
    });
    await rename(making, to);
    await syncFolder(dirname(to));
    return manifest;
  } finally {
    // Ends the slot, and a backup that did not come to its end.
    await client.end().catch(() => {});
    await rm(making, { recursive: true, force: true });
  }
}

type Copying = {
  readonly clusterDir: string;
  readonly making: string;
  readonly extra: readonly { readonly name: string; readonly content: Buffer }[];
  readonly now: Date;
  readonly onProgress: OnProgress;
};

async function copyAll(
  client: pg.Client,
  { clusterDir, making, extra, now, onProgress }: Copying,
): Promise<Manifest> {
  const one = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) => {
    const { rows } = await client.query<Row>(text, values);
    return rows[0] as Row; // These statements have one row.
  };
  await one("select pg_create_physical_replication_slot($1, true, true)", [
    `scripdesk_backup_${process.pid}`,
  ]);
  const server = await one<{ version: string; id: string }>(
    "select current_setting('server_version') as version, system_identifier::text as id from pg_control_system()",
  );
  const { from } = await one<{ from: string }>(
    "select pg_backup_start('scripdesk', true)::text as from",
  );
  const { folders, files } = await listCluster(clusterDir);
  for (const folder of folders) {
    await mkdir(join(making, clusterName, folder), { recursive: true, mode: 0o700 });
  }
  const copied: BackedUpFile[] = [];
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const { path } of files) {
    const file = await copyFile(clusterDir, making, path);
    if (!file) continue;
    copied.push(file);
    done += file.bytes;
    onProgress({ phase: "copy", done, of: Math.max(total, done) });
  }
  const stopped = await one<{ to: string; label: string; last: string }>(
    "select lsn::text as to, labelfile as label, pg_walfile_name(lsn) as last from pg_backup_stop(false)",
  );
  copied.push(await keep(making, `${clusterName}/backup_label`, Buffer.from(stopped.label)));
  copied.push(...(await copyWal(clusterDir, making, { ...stopped, onProgress })));
  for (const { name, content } of extra) copied.push(await keep(making, name, content));
  return {
    form: 1,
    made_at: now.toISOString(),
    postgres: server.version,
    system_identifier: server.id,
    from_lsn: from,
    to_lsn: stopped.to,
    folders: folders.map((folder) => `${clusterName}/${folder}`),
    files: copied,
  };
}

async function listCluster(clusterDir: string): Promise<{
  readonly folders: readonly string[];
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
}> {
  const folders: string[] = [];
  const files: { path: string; bytes: number }[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(clusterDir, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (leftOut.test(entry.name)) continue;
      if (entry.isSymbolicLink()) throw new Unusable(`${path} is a link, which is not backed up`);
      if (entry.isDirectory()) {
        folders.push(path);
        if (!emptiedFolders.has(path)) await walk(path);
      } else if (entry.isFile()) files.push({ path, bytes: 0 });
    }
  };
  await walk("");
  folders.push("pg_wal/archive_status", "pg_wal/summaries");
  // Last, so that it does not speak of a later checkpoint than files that were copied before.
  files.sort((one, other) => Number(one.path === controlFile) - Number(other.path === controlFile));
  const sized = await Promise.all(
    files.map(async ({ path }) => ({ path, bytes: await sizeOrNone(join(clusterDir, path)) })),
  );
  return { folders, files: sized };
}

async function sizeOrNone(path: string): Promise<number> {
  const file = await openIfThere(path);
  if (!file) return 0;
  try {
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

/** From the segment that the label names to the one that the backup ended in, without a gap. */
async function copyWal(
  clusterDir: string,
  making: string,
  { label, last, onProgress }: { label: string; last: string; onProgress: OnProgress },
): Promise<BackedUpFile[]> {
  const [, first = ""] = /^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)/m.exec(label) ?? [];
  const names = await readdir(join(clusterDir, "pg_wal"));
  const history = names.filter((name) => name.endsWith(".history"));
  const segments = names
    .filter((name) => /^[0-9A-F]{24}$/.test(name) && name >= first && name <= last)
    .toSorted();
  const expected = countSegments(first, last);
  if (segments.length !== expected || segments[0] !== first) {
    throw new Unusable(
      `of the WAL from ${first} to ${last} only ${segments.length} files are there`,
    );
  }
  const copied: BackedUpFile[] = [];
  for (const name of [...history, ...segments]) {
    const file = await copyFile(clusterDir, making, `pg_wal/${name}`);
    if (!file) throw new Unusable(`the WAL file ${name} went away while it was copied`);
    copied.push(file);
    onProgress({ phase: "wal", done: copied.length, of: history.length + segments.length });
  }
  return copied;
}

/** A name is the timeline, and a number in two parts of which the second counts to 255. */
function countSegments(first: string, last: string): number {
  const place = (name: string) =>
    BigInt(`0x${name.slice(8, 16)}`) * 256n + BigInt(`0x${name.slice(16, 24)}`);
  return Number(place(last) - place(first)) + 1;
}

/** Undefined when the server has removed it meanwhile, which replay will do again. */
async function copyFile(
  clusterDir: string,
  making: string,
  path: string,
): Promise<BackedUpFile | undefined> {
  const from = await openIfThere(join(clusterDir, path));
  if (!from) return undefined;
  const name = `${clusterName}/${path}`;
  try {
    const to = await open(join(making, name), "w", 0o600);
    try {
      const read = await readWhole(from, async (piece) => {
        await to.write(piece);
      });
      await to.sync();
      return { path: name, ...read };
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  return await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

async function keep(making: string, name: string, content: Buffer): Promise<BackedUpFile> {
  await writeFile(join(making, name), content, { mode: 0o600, flush: true });
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { path: name, bytes: content.length, sha256 };
}

async function readWhole(
  file: FileHandle,
  take: (piece: Buffer) => Promise<void>,
): Promise<Pick<BackedUpFile, "bytes" | "sha256">> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(pieceBytes);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, pieceBytes, bytes);
    if (bytesRead === 0) return { bytes, sha256: hash.digest("hex") };
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    await take(piece);
    bytes += bytesRead;
  }
}

/** Throws for the first file that is missing or not as it was copied. */
export async function verifyFiles(
  folder: string,
  files: readonly BackedUpFile[],
  onProgress: OnProgress = () => {},
): Promise<void> {
  for (const [at, { path, bytes, sha256 }] of files.entries()) {
    const file = await openIfThere(join(folder, path));
    if (!file) throw new Unusable(`the backup is not whole: ${path} is missing`);
    try {
      const found = await readWhole(file, async () => {});
      if (found.bytes !== bytes || found.sha256 !== sha256) {
        throw new Unusable(`the backup is damaged: ${path} is not as it was written`);
      }
    } finally {
      await file.close();
    }
    onProgress({ phase: "verify", done: at + 1, of: files.length });
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
