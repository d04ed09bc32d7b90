// The bank accounts of firms. The account number is sealed with the master key and bound to its
// firm; only a payment file and an audited look by an operator open it.

import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, refuseBadReason } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import type { Context } from "../platform/context.ts";
import type { SealedPlace } from "../platform/master-key.ts";
import type { Db, Query, Tx } from "../platform/postgres/postgres.ts";
import { requireAnyFirm } from "./find-firms.ts";
import { openAccountNo, toSealPurpose } from "./particulars.ts";
import { accountColumn } from "./account-store.ts";
import { type Hold, isAccountConfirmed, listHolds } from "./hold-rules.ts";
import type { Remitter } from "./rules.ts";
import { findFirmsById, type FirmRow, listFirmsById, lockFirmsForShare } from "./store.ts";

type SealedAccount = {
  readonly firmId: string;
  readonly accountSealed: Buffer;
  readonly ifsc: string;
  readonly accountName: string;
};

/** The accounts that firms are paid to; a firm without an account is left out. */
export async function findSealedAccounts(
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

/** Opens the whole account number, for payment files and audited looks only. */
export function openAccount(
  { firmId, accountSealed }: Pick<SealedAccount, "firmId" | "accountSealed">,
  sealKey: Buffer,
): string {
  const opened = openAccountNo({ firm_id: firmId, bank_sealed: accountSealed }, sealKey);
  if (opened === null) throw new Error("a sealed account number opens");
  return opened;
}

/** What nobody has confirmed is left out: a firm names itself and its account as it likes. */
export async function findRemitters(
  db: Db,
  firmIds: readonly string[],
  sealKey: Buffer,
): Promise<ReadonlyMap<string, Remitter>> {
  if (firmIds.length === 0) return new Map();
  const firms = await listFirmsById(db, firmIds);
  return new Map(
    firms.map((firm) => {
      const accountNo = isAccountConfirmed(firm) ? openAccountNo(firm, sealKey) : null;
      const accounts = accountNo === null ? [] : [accountNo];
      const name = accountNo === null ? null : firm.bank_name;
      return [firm.firm_id, { environment: firm.environment, accounts, name }];
    }),
  );
}

/** The account that a firm is paid to, masked, and the holds on its payouts. */
export type PayeeFirm = {
  readonly account: {
    readonly accountId: string;
    readonly ifsc: string;
    readonly last4: string;
  } | null;
  readonly holds: readonly Hold[];
};

export function findPayees(
  firmIds: readonly string[],
  now: Date,
): Query<ReadonlyMap<string, PayeeFirm>> {
  return findFirmsById(firmIds).map((firms) => toPayees(firms, now));
}

/** The same under a share lock: waits for a hold that another transaction is placing. */
export async function lockPayees(
  tx: Tx,
  firmIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, PayeeFirm>> {
  return toPayees(await tx.run(lockFirmsForShare(firmIds)), now);
}

type RevealedAccount = {
  readonly firm_id: string;
  readonly account_no: string;
  readonly ifsc: string;
  readonly name: string;
};

/** Shows a firm's whole account number to an operator, after the audit record of the look. */
export async function revealAccount(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  operator: Actor,
  { firmId, reason }: { readonly firmId: string; readonly reason: string },
): Promise<RevealedAccount> {
  refuseBadReason(reason);
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const firm = await requireAnyFirm(tx, firmId);
    const { bank_ifsc: ifsc, bank_name } = firm;
    const accountNo = openAccountNo(firm, ctx.sealKey);
    if (accountNo === null || ifsc === null) throw noBankAccount();
    const entity = { type: "firm", id: firmId, version: firm.version, href: `/v1/firms/${firmId}` };
    const looked = { firm_id: firmId, reason, version: firm.version };
    const { environment, desk_id: deskId } = firm;
    const change = { environment, deskId, firmId, action: "firm.reveal_account", entity };
    await recordChanges(tx, operator, [{ ...change, after: looked }], now);
    return { firm_id: firmId, account_no: accountNo, ifsc, name: bank_name ?? firm.legal_name };
  });
}

export function noBankAccount(): Failure {
  return new Failure("conflict", "the firm has given no bank account", {
    detail: { reason: "no_bank_account" },
  });
}

/** The sealed account numbers, for the change of the master key. */
export function sealedAccounts({ db }: Pick<Context, "db">): SealedPlace {
  return {
    name: "bank accounts",
    list: async (after, limit) => {
      const rows = await accountColumn.list(db, after, limit);
      return rows.map((row) => ({ ...row, purpose: toSealPurpose(row.id) }));
    },
    set: (rows) => accountColumn.set(db, rows),
  };
}

function toPayees(firms: readonly FirmRow[], now: Date): ReadonlyMap<string, PayeeFirm> {
  return new Map(
    firms.map((firm) => {
      const { account_id: accountId, bank_ifsc: ifsc, bank_last4: last4 } = firm;
      const isGiven = accountId !== null && ifsc !== null && last4 !== null;
      const account = isGiven ? { accountId, ifsc, last4 } : null;
      return [firm.firm_id, { account, holds: listHolds(firm, now) }];
    }),
  );
}
