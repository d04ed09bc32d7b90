import type { Db } from "../platform/postgres.ts";
import { openAccountNo } from "./particulars.ts";
import { listFirmsById } from "./store.ts";

/** An account as it is kept: its number is sealed, bound to its firm. */
export type SealedAccount = {
  readonly firmId: string;
  readonly accountSealed: Buffer;
  readonly ifsc: string;
  readonly accountName: string;
};

/** Where firms are paid to; who has given no account is left out. */
export async function sealedAccounts(
  db: Db,
  firmIds: readonly string[],
): Promise<ReadonlyMap<string, SealedAccount>> {
  const firms = await listFirmsById(db, firmIds);
  return new Map(
    firms.flatMap(({ firm_id: firmId, legal_name, bank_sealed, bank_ifsc: ifsc, bank_name }) =>
      bank_sealed === null || ifsc === null
        ? []
        : [
            [
              firmId,
              { firmId, accountSealed: bank_sealed, ifsc, accountName: bank_name ?? legal_name },
            ],
          ],
    ),
  );
}

/** The whole number, which only a file for the bank and an audited look may show. */
export function openAccount(
  { firmId, accountSealed }: Pick<SealedAccount, "firmId" | "accountSealed">,
  sealKey: Buffer,
): string {
  const opened = openAccountNo({ firm_id: firmId, bank_sealed: accountSealed }, sealKey);
  if (opened === null) throw new Error("what was sealed opens");
  return opened;
}

/** Whom money may come from: the firm's own account and names. */
export type FirmAsRemitter = {
  readonly environment: string;
  readonly accountNo: string | null;
  readonly names: readonly string[];
};

export async function firmsAsRemitters(
  db: Db,
  firmIds: readonly string[],
  sealKey: Buffer,
): Promise<ReadonlyMap<string, FirmAsRemitter>> {
  if (firmIds.length === 0) return new Map();
  const firms = await listFirmsById(db, firmIds);
  return new Map(
    firms.map((firm) => {
      // What a firm says of an account counts once the bank has confirmed whose it is.
      const isProven = firm.checks.some(
        ({ check, outcome }) => check === "BANK_NAME_MATCH" && outcome === "pass",
      );
      return [
        firm.firm_id,
        {
          environment: firm.environment,
          accountNo: isProven ? openAccountNo(firm, sealKey) : null,
          names: [firm.legal_name, ...(isProven && firm.bank_name ? [firm.bank_name] : [])],
        },
      ];
    }),
  );
}
