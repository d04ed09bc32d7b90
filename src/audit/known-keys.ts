// The key that signs exports and checkpoints is made from the master key and changes with it. What both
// keys have signed says that one followed the other: whoever trusts the key in force can go back from it,
// and nobody who has only the database can put a key of their own among them.

import { type KeyObject, sign } from "node:crypto";

import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres.ts";
import { isSigned, publicKeyOf } from "./rules.ts";
import { insertSuccession, listSuccessions } from "./succession-store.ts";

function successionText(former: string, next: string): string {
  return `scripdesk audit key ${former} is followed by ${next}`;
}

/** Recorded once for each pair, by whoever has both keys first. */
export async function recordSuccession(
  db: Db,
  { former, next }: { readonly former: KeyObject; readonly next: KeyObject },
  now: Date,
): Promise<void> {
  const [former_key, public_key] = [publicKeyOf(former), publicKeyOf(next)];
  const text = Buffer.from(successionText(former_key, public_key));
  const [signed_by_former, signed_by_new] = [former, next].map((key) =>
    sign(null, text, key).toString("hex"),
  );
  const row = {
    former_key,
    public_key,
    signed_by_former: signed_by_former ?? "",
    signed_by_new: signed_by_new ?? "",
  };
  await insertSuccession(db, row, now);
}

/** The public key in force, and those before it, the latest first. */
export async function knownAuditKeys(
  db: Db,
  { auditKey }: Pick<Context, "auditKey">,
): Promise<readonly string[]> {
  const known = [publicKeyOf(auditKey)];
  const rows = await listSuccessions(db);
  for (let at = 0; at < known.length; at++) {
    const later = known[at] ?? "";
    for (const row of rows) {
      if (row.public_key !== later || known.includes(row.former_key)) continue;
      const text = successionText(row.former_key, row.public_key);
      const isProven =
        isSigned(text, row.public_key, row.signed_by_new) &&
        isSigned(text, row.former_key, row.signed_by_former);
      if (isProven) known.push(row.former_key);
    }
  }
  return known;
}
