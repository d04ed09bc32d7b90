// One master key seals and signs everything; each purpose gets a key of its own made from it.

import { hkdfSync, randomBytes } from "node:crypto";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { Unusable } from "./unusable.ts";

/**
 * The key of this DATA_DIR. It is made only while nothing depends on it: losing it loses what it
 * sealed, and a new one in its place would hide that.
 */
export async function localMasterKey(
  dataDir: string,
  { mayMake }: { readonly mayMake: boolean },
): Promise<Buffer> {
  const path = join(dataDir, "master.key");
  if (mayMake) await makeKey(path);
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) {
    throw new Unusable(
      `${path} is missing, and the data in ${dataDir} was sealed with it: restore it`,
    );
  }
  await chmod(path, 0o600);
  if (!keyForm.test(text)) throw new Unusable(`${path} does not hold 64 hex digits`);
  return Buffer.from(text.trim(), "hex");
}

const keyForm = /^[0-9a-f]{64}\s*$/;

async function makeKey(path: string): Promise<void> {
  const text = `${randomBytes(32).toString("hex")}\n`;
  await writeFile(path, text, { flag: "wx", mode: 0o600, flush: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  });
}

/** What the database keeps of the key, to tell whether a key is the one its data was sealed with. */
export function masterKeyCheck(masterKey: Buffer): Buffer {
  return keyFor("check", masterKey);
}

export function keyFor(purpose: string, masterKey: Buffer): Buffer {
  return Buffer.from(hkdfSync("sha256", masterKey, "", `scripdesk:${purpose}`, 32));
}
