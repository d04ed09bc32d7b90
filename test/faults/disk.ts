// A disk whose power can be cut. Two images, one in the other, each mounted through a loop device:
//
//   outer   an XFS that can copy a file by its extents, at once (`cp --reflink=always`)
//   inner   an ext4 whose image is a file of the outer one; it has the data folder
//
// A cut is a copy of the inner image at one moment, which is what its disk has then. What programs wrote
// is in the page cache of the inner file system, which no copy has, until somebody flushes it or the
// kernel writes it back. The inner loop device does direct I/O: what it is sent has no second cache on
// its way, and is in the image when the write is answered. So what was flushed by fsync is certain to
// be in a copy, what was not is there only where the kernel came first, and a copy falls between two
// writes of the device, never into one. A disk that loses what it said it had flushed is not played.

import { execFile } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { debianFile } from "../support/debian-program.ts";
import { eventually } from "./acked-orders.ts";

const execute = promisify(execFile);

const outerSize = "24G";
const innerSize = "8G";

export type Disk = {
  /** Where the data folder may be. */
  readonly path: string;
  /** Flushes all that was written so far. */
  flush(): Promise<void>;
  /** Cuts the power; the disk itself runs on. */
  cut(name: string): Promise<void>;
  /** What the disk had at that cut, for as long as the work takes; it is gone afterwards. */
  withCut<Result>(name: string, work: (path: string) => Promise<Result>): Promise<Result>;
};

const programs = [
  ["/usr/sbin/mkfs.xfs", "xfsprogs"],
  ["/usr/sbin/mkfs.ext4", "e2fsprogs"],
  ["/usr/sbin/losetup", "mount"],
] as const;

/** Why there can be no such disk here, or undefined. */
export async function diskMissing(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "power cuts need loop devices, which only root can make";
  for (const [path, fromPackage] of programs) {
    const found = await debianFile(path, fromPackage);
    if ("missing" in found) return found.missing;
  }
  return await execute("losetup", ["--find"]).then(
    () => undefined,
    () => "power cuts need a free loop device (/dev/loop-control)",
  );
}

/** In a mount namespace of the caller's own, which takes the mounts and loop devices with it. */
export async function openDisk(folder: string): Promise<Disk> {
  const inFolder = (name: string) => join(folder, name);
  const outer = inFolder("outer");
  const image = (name: string) => join(outer, `${name}.img`);
  await execute("truncate", ["-s", outerSize, inFolder("outer.img")]);
  await execute("mkfs.xfs", ["-q", "-m", "reflink=1", inFolder("outer.img")]);
  await mountImage(inFolder("outer.img"), outer, "off");
  await execute("truncate", ["-s", innerSize, image("inner")]);
  await execute("mkfs.ext4", ["-q", image("inner")]);
  const path = inFolder("inner");
  await mountImage(image("inner"), path, "on");
  return {
    path,
    async flush() {
      await execute("sync", ["--file-system", path]);
    },
    async cut(name) {
      await execute("cp", ["--reflink=always", image("inner"), image(name)]);
    },
    async withCut(name, work) {
      const at = inFolder(name);
      await mountImage(image(name), at, "on");
      try {
        return await work(at);
      } finally {
        await unmount(at);
        await rm(image(name));
      }
    },
  };
}

/** The device is let go at once, and ends when it is unmounted. */
async function mountImage(image: string, at: string, direct: "on" | "off"): Promise<void> {
  await mkdir(at);
  const words = ["--find", "--show", `--direct-io=${direct}`, image];
  const device = (await execute("losetup", words)).stdout.trim();
  try {
    await execute("mount", [device, at]);
  } finally {
    await execute("losetup", ["--detach", device]);
  }
}

/** The last process may have a file open for a moment. */
async function unmount(at: string): Promise<void> {
  await eventually(
    async () =>
      await execute("umount", [at]).then(
        () => true,
        () => undefined,
      ),
    `unmounting ${at}`,
    500,
  );
}
