import type { Environment } from "../kernel/caller.ts";
import { negatePaise, type PaiseSum } from "../kernel/money.ts";
import type { Db, Query } from "../platform/postgres/postgres.ts";
import {
  type Account,
  accountFirm,
  accountName,
  availableBalance,
  type EntryName,
  type KindSum,
  type MovementRow,
  parseAccount,
  type Posted,
} from "./rules.ts";
import {
  listKindSums,
  listKindSumsSince,
  listMoneyMoves,
  type PostingSpan,
} from "./statement-store.ts";
import {
  listBalances,
  listEntriesAbout,
  listOwners,
  listPostings,
  type PostingPlace,
  type PostingRow,
} from "./store.ts";

/** A firm's money: `posted = available + escrow + pending_out`; `pending_in` is not posted yet. */
export type FirmBalances = {
  readonly firm_id: string;
  readonly posted_paise: PaiseSum;
  readonly available_paise: PaiseSum;
  readonly escrow_paise: PaiseSum;
  readonly pending_out_paise: PaiseSum;
  readonly pending_in_paise: PaiseSum;
  /** Commission earned as a desk. */
  readonly commission_paise: PaiseSum;
  /** Owed to the house, as a positive number. */
  readonly dues_paise: PaiseSum;
  /** Rises with every change of any of these. */
  readonly version: number;
};

/** The balances of firms, read by one statement, in the given order. */
export async function readBalances(
  db: Db,
  environment: Environment,
  firmIds: readonly string[],
): Promise<FirmBalances[]> {
  return await db.run(findBalances(environment, firmIds));
}

/** The same as a query, for whoever asks for more together. */
export function findBalances(
  environment: Environment,
  firmIds: readonly string[],
): Query<FirmBalances[]> {
  const kinds = ["firm_cash", "desk_commission", "firm_dues"] as const;
  const accounts = firmIds.flatMap((firmId) => kinds.map((kind) => accountName({ kind, firmId })));
  return listBalances(environment, accounts).map((rows) => {
    const byAccount = new Map(rows.map((row) => [row.balance, row]));
    return firmIds.map((firmId) => {
      const [cash, commission, dues] = kinds.map((kind) =>
        byAccount.get(accountName({ kind, firmId })),
      );
      return {
        firm_id: firmId,
        posted_paise: cash?.posted_paise ?? 0,
        available_paise: cash ? availableBalance(cash) : 0,
        escrow_paise: cash?.escrow_paise ?? 0,
        pending_out_paise: cash?.pending_out_paise ?? 0,
        pending_in_paise: cash?.pending_in_paise ?? 0,
        commission_paise: commission ? availableBalance(commission) : 0,
        dues_paise: dues ? negatePaise(dues.posted_paise) : 0,
        version: (cash?.version ?? 0) + (commission?.version ?? 0) + (dues?.version ?? 0),
      };
    });
  });
}

/** What firms owe the house; firms that owe nothing are left out. */
export function findDues(
  environment: Environment,
  firmIds: readonly string[],
): Query<ReadonlyMap<string, PaiseSum>> {
  const accounts = firmIds.map((firmId) => accountName({ kind: "firm_dues", firmId }));
  return listBalances(environment, accounts).map((rows) => {
    const owing = rows.filter(({ posted_paise }) => posted_paise < 0);
    return new Map(
      owing.map(({ balance, posted_paise }) => [
        accountFirm(balance) ?? "",
        negatePaise(posted_paise),
      ]),
    );
  });
}

type CreditOwner = {
  readonly owner: Account;
  /** Whether a pending entry is going to move it. */
  readonly pending: boolean;
};

/** The owners of credits. A credit that was never dealt is not in the books. */
export async function readOwners(
  db: Db,
  environment: Environment,
  scripNos: readonly string[],
): Promise<Map<string, CreditOwner>> {
  const rows = await listOwners(db, environment, scripNos);
  return new Map(
    rows.map(({ scrip_no, account, pending_entry_no }) => [
      scrip_no,
      { owner: parseAccount(account), pending: pending_entry_no !== null },
    ]),
  );
}

/** The entries of a kind and subject as first written, each with its movements. */
export async function entriesAbout(
  db: Db,
  name: Omit<EntryName, "ordinal">,
): Promise<{ readonly ordinal: number; readonly movements: readonly MovementRow[] }[]> {
  const rows = await listEntriesAbout(db, name);
  return [...Map.groupBy(rows, (row) => row.ordinal)].map(([ordinal, own]) => ({
    ordinal,
    movements: own.map(({ ordinal: _ordinal, ...movement }) => movement),
  }));
}

const entriesPerPage = 500;

type PostingsPage = {
  readonly postings: readonly PostingRow[];
  /** Where the next page begins; undefined after the last one. */
  readonly next: PostingPlace | undefined;
};

/** A firm's postings from a time up to, not including, another, by time. A page holds whole entries. */
export async function readPostings(
  db: Db,
  {
    environment,
    firmId,
    from,
    to,
    after,
    limit = entriesPerPage,
  }: {
    readonly environment: Environment;
    readonly firmId: string;
    readonly from: Date;
    readonly to: Date;
    readonly after?: PostingPlace | undefined;
    /** How many entries a page holds. */
    readonly limit?: number;
  },
): Promise<PostingsPage> {
  const postings = await listPostings(db, { environment, firmId }, { from, to, after, limit });
  const entries = new Set(postings.map(({ entry_no }) => entry_no));
  const last = postings.at(-1);
  const isFull = last !== undefined && entries.size === limit;
  return { postings, next: isFull ? { at: last.at, entryNo: last.entry_no } : undefined };
}

/** What was posted in a span, for the accountant. */
export async function readMoneyMoves(db: Db, span: PostingSpan): Promise<Posted[]> {
  return await listMoneyMoves(db, span);
}

/** What accounts of each kind have now, and what was posted to them from a time on. */
export async function readKindSums(
  db: Db,
  environment: Environment,
  from: Date,
): Promise<{ readonly balances: KindSum[]; readonly since: KindSum[] }> {
  return {
    balances: await listKindSums(db, environment),
    since: await listKindSumsSince(db, environment, from),
  };
}
