// What commands write where --out says.

import { constants } from "node:fs";
import { access } from "node:fs/promises";

import { UsageError } from "./command.ts";

/** Asked before a command acts, so that nothing is done whose files have no place. */
export async function assertOutFolder(folder: string): Promise<void> {
  await access(`${folder}/.`, constants.W_OK | constants.X_OK).catch((error: unknown) => {
    throw new UsageError(`--out ${folder} is no folder that can be written to`, { cause: error });
  });
}

/** What the operator can mend about the file is told in one line. */
export async function writeToOut<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (!isAboutFile(error)) throw error;
    const { code, path, message } = error;
    if (code === "EEXIST") throw new UsageError(`${path} is there already`, { cause: error });
    throw new UsageError(`--out cannot be written: ${message}`, { cause: error });
  }
}

/** The errors of files name their path, but for a full disk; those of connections do not. */
function isAboutFile(error: unknown): error is NodeJS.ErrnoException {
  return (
    error instanceof Error && ("path" in error || ("code" in error && error.code === "ENOSPC"))
  );
}
