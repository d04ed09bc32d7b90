// Puts a backup in the place of a DATA_DIR's cluster. The server replays the WAL of the backup when it
// starts, and refuses to start before it has reached the backup's end.

import { chmod, chown, copyFile, mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { Unusable } from "../http/errors.ts";
import { clusterName, type Manifest, manifestName, verifyFiles } from "./backup-cluster.ts";
import { findBinaries, isCluster } from "./embedded.ts";
import { chooseUser } from "./run-as.ts";

async function readManifest(from: string): Promise<Manifest> {
  const text = await readFile(join(from, manifestName), "utf8").catch(() => undefined);
  if (text === undefined) throw new Unusable(`${from} is no backup: it has no ${manifestName}`);
  const manifest = JSON.parse(text) as Manifest; // Written by us.
  if (manifest.form !== 1) throw new Unusable(`${from} was made by a later version`);
  return manifest;
}

export async function restoreCluster({
  from,
  dataDir,
  onProgress,
}: {
  readonly from: string;
  readonly dataDir: string;
  readonly onProgress: Parameters<typeof verifyFiles>[2];
}): Promise<Manifest> {
  const manifest = await readManifest(from);
  const clusterDir = join(dataDir, clusterName);
  if (await isCluster(clusterDir)) {
    throw new Unusable(`${dataDir} has a database already: restore into another DATA_DIR`);
  }
  await verifyFiles(from, manifest.files, onProgress);
  await mkdir(dataDir, { recursive: true });
  const { postgres } = await findBinaries();
  const owner = await chooseUser(clusterDir, postgres);
  const making = `${clusterDir}.making-${process.pid}`;
  try {
    const own = async (path: string, mode: number) => {
      await chmod(path, mode);
      if (owner.uid !== undefined) await chown(path, owner.uid, owner.gid ?? owner.uid);
    };
    for (const folder of [clusterName, ...manifest.folders]) {
      const path = join(making, folder.slice(clusterName.length));
      await mkdir(path, { recursive: true });
      await own(path, 0o700);
    }
    for (const { path } of manifest.files) {
      if (!path.startsWith(`${clusterName}/`)) continue;
      const to = join(making, path.slice(clusterName.length));
      await copyFile(join(from, path), to);
      await own(to, 0o600);
    }
    await rename(making, clusterDir);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
  return manifest;
}
