import type { Context } from "../platform/context.ts";
import type { SealedPlace } from "../platform/reseal.ts";
import { totpPurpose } from "./enrol-operator.ts";
import { listSealedSecrets, setSealedSecrets } from "./seal-store.ts";

/** Where secrets of authenticators are sealed. */
export function sealedAuthenticators({ db }: Pick<Context, "db">): SealedPlace {
  return {
    name: "authenticators",
    list: async (after, limit) => {
      const rows = await listSealedSecrets(db, after, limit);
      return rows.map((row) => ({ ...row, purpose: totpPurpose }));
    },
    set: (rows) => setSealedSecrets(db, rows),
  };
}
