// The drop folder, which the bank's fetcher and whoever has customs' reports put files into:
//
//   statements/   of the bank; CSV or .xlsx
//   credits/      customs' balances of one firm each; the name begins with the firm's id
//   done/         what was imported, proposed, or imported before
//   failed/       what was refused; put back once mended
//
// A file counts once, by its bytes; one that was only proposed may be put back and is proposed anew.

import { istTimestamp } from "../kernel/time.ts";
import { idBodyPattern } from "../kernel/ids.ts";

export const dropFolders = ["statements", "credits"] as const;
export type DropFolder = (typeof dropFolders)[number];

export const droppedOutcomes = ["done", "proposed", "known", "failed"] as const;
export type DroppedOutcome = (typeof droppedOutcomes)[number];

export const permissionsOfFolders = {
  statements: "bank.write",
  credits: "credits.write",
} as const satisfies Record<DropFolder, string>;

/** The firm that a file of customs' balances is about. */
export function findNamedFirm(name: string): string | undefined {
  return new RegExp(`^frm_${idBodyPattern}`).exec(name)?.[0];
}

const nameBytesMax = 200;

/** Two files of one name are told apart by when they were taken; a name is cut to what a folder holds. */
export function nameTaken(name: string, at: Date): string {
  let kept = name;
  while (Buffer.byteLength(kept) > nameBytesMax) kept = kept.slice(0, -1);
  return `${istTimestamp(at).slice(0, 19).replaceAll(/[-:]/g, "")}-${kept}`;
}
