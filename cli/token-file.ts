// Where a person's token is kept between commands: a file that only they can read.

import { constants } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { Failure } from "../src/kernel/failure.ts";
import { Unusable } from "../src/platform/http/errors.ts";

/** Everything that is not reading and writing by the owner. */
const bitsBeyond600 = 0o7177;
const secretBytesMax = 2_000;

export function tokenPath(): string {
  return process.env["SCRIPDESK_TOKEN_FILE"] || join(homedir(), ".scripdesk", "token");
}

/** Written beside and renamed, so that it is never there half or readable by others. */
export async function writeToken(path: string, token: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch((error: Error) => {
    throw new Unusable(`the token cannot be kept: ${error.message}`, { cause: error });
  });
  const draft = `${path}.${process.pid}`;
  await rm(draft, { force: true });
  const file = await open(draft, "wx", 0o600);
  try {
    await file.chmod(0o600); // Whatever the umask says.
    await file.writeFile(`${token}\n`);
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

/** `uid` is whose file it must be. */
export async function readToken(path: string, uid = process.getuid?.()): Promise<string> {
  return await readPrivate(path, {
    uid,
    ifMissing: "you are not signed in: npx scripdesk sign-in",
  });
}

/** A password for a command that no person types at. */
export async function readSecretFile(path: string, uid = process.getuid?.()): Promise<string> {
  return await readPrivate(path, { uid, ifMissing: `${path} is not there` });
}

/** Refused when somebody else could have read or written it, and when it is no plain file. */
async function readPrivate(
  path: string,
  { uid, ifMissing }: { readonly uid: number | undefined; readonly ifMissing: string },
): Promise<string> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    throw refused(error.code === "ENOENT" ? ifMissing : `${path} cannot be read: ${error.message}`);
  });
  try {
    const { mode, uid: owner, size, nlink } = await file.stat();
    const isPlain = (mode & constants.S_IFMT) === constants.S_IFREG && nlink === 1;
    if (!isPlain) throw refused(`${path} is no plain file: remove it`);
    if ((mode & bitsBeyond600) !== 0) {
      throw refused(`${path} has mode ${(mode & 0o7777).toString(8)}, wider than 600: remove it`);
    }
    if (owner !== uid) throw refused(`${path} is not yours: remove it`);
    if (size > secretBytesMax) throw refused(`${path} is too long for a secret`);
    return (await file.readFile("utf8")).replace(/\r?\n$/, "");
  } finally {
    await file.close();
  }
}

export async function forgetToken(path: string): Promise<void> {
  await rm(path, { force: true });
}

function refused(message: string): Failure {
  return new Failure("unauthorized", message, { form: "edge" });
}
