import type { Context } from "../platform/context.ts";
import type { SealedPlace } from "../platform/reseal.ts";
import {
  listPreviousSecrets,
  listSealedSecrets,
  setPreviousSecrets,
  setSealedSecrets,
} from "./seal-store.ts";
import { sealPurpose } from "./secrets.ts";

/** Where signing secrets are sealed: those in force and those whose grace lasts. */
export function sealedWebhooks({ db }: Pick<Context, "db">): SealedPlace[] {
  return [
    {
      name: "webhook secrets",
      list: async (after, limit) => withPurpose(await listSealedSecrets(db, after, limit)),
      set: (rows) => setSealedSecrets(db, rows),
    },
    {
      name: "previous webhook secrets",
      list: async (after, limit) => withPurpose(await listPreviousSecrets(db, after, limit)),
      set: (rows) => setPreviousSecrets(db, rows),
    },
  ];
}

function withPurpose(rows: readonly { readonly id: string; readonly sealed: Buffer }[]) {
  return rows.map((row) => ({ ...row, purpose: sealPurpose(row.id) }));
}
