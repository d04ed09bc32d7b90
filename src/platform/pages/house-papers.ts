// What the house publishes about dealing with it: two files that the operator writes as Markdown.
// They are read when the service starts.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isUtf8 } from "node:buffer";

import type { HousePapers } from "./house-page.ts";
import { Unusable } from "../http/errors.ts";

const paperBytesMax = 262_144;

export async function readHousePapers(folder: string): Promise<HousePapers> {
  return {
    terms: await readPaper(join(folder, "terms.md")),
    privacy: await readPaper(join(folder, "privacy.md")),
  };
}

/** Null when there is no such file or nothing in it. */
async function readPaper(path: string): Promise<string | null> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw new Unusable(`cannot read ${path}: ${error.message}`, { cause: error });
  });
  if (bytes === undefined) return null;
  if (bytes.length > paperBytesMax) throw new Unusable(`${path} exceeds ${paperBytesMax} bytes`);
  if (!isUtf8(bytes)) throw new Unusable(`${path} is not UTF-8`);
  const text = bytes.toString().trim();
  return text === "" ? null : text;
}
