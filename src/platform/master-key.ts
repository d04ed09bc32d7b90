// One master key seals and signs everything; each purpose gets a key of its own made from it.

import { hkdfSync, randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { Unusable } from "./unusable.ts";

/** The key of this DATA_DIR, made on the first start. Losing it loses what it sealed. */
export async function localMasterKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, "master.key");
  await mkdir(dataDir, { recursive: true });
  try {
    await writeFile(path, `${randomBytes(32).toString("hex")}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  await chmod(path, 0o600);
  const text = (await readFile(path, "utf8")).trim();
  if (!/^[0-9a-f]{64}$/.test(text)) throw new Unusable(`${path} does not hold 64 hex digits`);
  return Buffer.from(text, "hex");
}

export function keyFor(purpose: string, masterKey: Buffer): Buffer {
  return Buffer.from(hkdfSync("sha256", masterKey, "", `scripdesk:${purpose}`, 32));
}
