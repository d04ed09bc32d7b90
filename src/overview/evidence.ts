// What people said about a thing and by what they knew it: answers to what customs and banks are asked,
// acts of two people, and bank lines that were assigned to it.

import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { type EvidenceRow, listEvidenceRows } from "./find-store.ts";

const evidenceMax = 100;

export type Evidence = Omit<EvidenceRow, "at"> & { readonly at: string };

/** Of a thing by its id, the newest first. */
export async function listEvidence(
  { db }: Pick<Context, "db">,
  about: string,
): Promise<Evidence[]> {
  const rows = await listEvidenceRows(db.planned, about, evidenceMax);
  return rows.map(({ at, ...row }) => ({ ...row, at: istTimestamp(at) }));
}
