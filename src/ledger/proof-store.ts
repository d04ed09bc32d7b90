// The statements that prove a slice of the books. Each reads one slice by entry number and looks up
// everything else by index, so none grows with the books.

import type { Environment } from "../kernel/caller.ts";
import { exactJson } from "../kernel/json.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres/postgres.ts";
import { bigintList, numeric, table, text } from "../platform/postgres/table.ts";
import { readRecords } from "../platform/postgres/wire-value.ts";
import type { AccountSum, PrintedEntry, ProvedOwner } from "./slice-rules.ts";

/** Entries after `from` and up to `to`. */
export type Slice = { readonly from: number; readonly to: number };

export type ProvedSlice = Slice & {
  readonly entries: number;
  readonly digest: Buffer;
};

/** The positions of the rounds; a round that is not under way is absent. */
type Rounds = {
  readonly slices?: number;
  readonly lineBlock?: number;
  readonly payouts?: string;
  readonly owners?: CreditPlace;
  readonly uses?: { readonly firmId: string; readonly scripNo: string };
};

export type CreditPlace = { readonly environment: string; readonly scripNo: string };

type ProofProgress = { readonly proved_to: number; readonly rounds: Rounds };

export async function findProof(db: Db): Promise<ProofProgress> {
  const [row] = await db.rows<ProofProgress>(sql`select proved_to, rounds from ledger_proof`);
  if (!row) throw new Error("the row of the proof is missing");
  return row;
}

/** Undefined while another process holds it. */
export async function claimProof(tx: Tx): Promise<ProofProgress | undefined> {
  const [row] = await tx.rows<ProofProgress>(sql`
    select proved_to, rounds
    from ledger_proof
    for update skip locked`);
  return row;
}

/** What is undefined is not under way. */
export async function setRounds(
  db: Db,
  rounds: { readonly [Round in keyof Rounds]: Rounds[Round] | undefined },
): Promise<void> {
  await db.rows(sql`update ledger_proof set rounds = ${exactJson(rounds)}::jsonb`);
}

/** Deletes the proof and its sums. */
export async function deleteProof(tx: Tx): Promise<void> {
  await tx.rows(sql`update ledger_proof set proved_to = 0, rounds = '{}'`);
  await tx.rows(sql`delete from ledger_proof_sums`);
  await tx.rows(sql`delete from ledger_proof_owners`);
  await tx.rows(sql`delete from ledger_proof_slices`);
}

/** A digest of a slice that differs if any entry is changed, added or deleted. */
export async function digestSlice(
  db: Db,
  { from, to }: Slice,
): Promise<Pick<ProvedSlice, "entries" | "digest">> {
  const [row] = await db.rows<Pick<ProvedSlice, "entries" | "digest">>(sql`
    select count(*)::int as entries,
      sha256(coalesce(string_agg(int8send(entry_no) || digest, '' order by entry_no), '')) as digest
    from ledger_entries
    where entry_no > ${from} and entry_no <= ${to}`);
  if (!row) throw new Error("a count has a row");
  return row;
}

/** The next `limit` slices that end after a number. */
export async function listSlices(
  db: Db,
  after: number,
  limit: number,
): Promise<readonly ProvedSlice[]> {
  return await db.rows(sql`
    select from_no as from, to_no as to, entries, digest
    from ledger_proof_slices
    where from_no >= ${after}
    order by from_no
    limit ${limit}`);
}

export async function findLastSlice(db: Db): Promise<ProvedSlice | undefined> {
  const [row] = await db.rows<ProvedSlice>(sql`
    select from_no as from, to_no as to, entries, digest
    from ledger_proof_slices
    order by from_no desc
    limit 1`);
  return row;
}

/** Replaces the slice with the same start. */
export async function setProved(tx: Tx, slice: ProvedSlice): Promise<void> {
  await tx.rows(sql`
    insert into ledger_proof_slices as s (from_no, to_no, entries, digest)
    values (${slice.from}, ${slice.to}, ${slice.entries}, ${slice.digest})
    on conflict (from_no) do update
    set to_no = excluded.to_no, entries = excluded.entries, digest = excluded.digest`);
  await tx.rows(sql`update ledger_proof set proved_to = ${slice.to}`);
}

export async function countProved(db: Db): Promise<number> {
  const [row] = await db.rows<{ entries: number }>(sql`
    select coalesce(sum(entries), 0) as entries
    from ledger_proof_slices`);
  return row?.entries ?? 0;
}

export async function countAfter(db: Db, entryNo: number): Promise<number> {
  const [row] = await db.rows<{ entries: number }>(sql`
    select count(*) as entries
    from ledger_entries
    where entry_no > ${entryNo}`);
  return row?.entries ?? 0;
}

const proofSums = table("ledger_proof_sums", {
  account: text(),
  environment: text<Environment>(),
  posted_paise: numeric(),
  escrow_paise: numeric(),
  pending_out_paise: numeric(),
  pending_in_paise: numeric(),
});

const proofOwners = table("ledger_proof_owners", {
  environment: text<Environment>(),
  scrip_no: text(),
  account: text().orNull,
  pending: bigintList(),
});

const printed = fragment`
  e.entry_no, e.environment, e.kind, e.subject, e.ordinal, e.phase, e.held_as, e.resolves,
  text.movements`;

type PrintedRow = Omit<PrintedEntry, "records">;

const withRecords = (row: PrintedRow): PrintedEntry => ({
  ...row,
  records: readRecords(row.movements),
});

/** In the words in which the service makes it (`insertEntries`). */
const madeDigest = fragment`
  substr(
    sha256(
      convert_to(
        concat_ws(
          ' ', e.environment, e.kind, e.ordinal, e.phase, e.held_as, e.resolves,
          extract(epoch from e.at), text.movements, e.subject
        ),
        'UTF8'
      )
    ),
    1, 8
  )`;

/** The next `limit` entries of a slice. */
export async function listPrinted(
  db: Db,
  { from, to }: Slice,
  limit: number,
): Promise<PrintedEntry[]> {
  const rows = await db.rows<PrintedRow>(sql`
    select ${printed}, coalesce(other.is_there, false) as is_one_of_several,
      case when made.digest <> e.digest then jsonb_build_object(
        'found', encode(made.digest, 'hex'), 'expected', encode(e.digest, 'hex')
      ) end as changed
    from ledger_entries as e
    cross join lateral (select e.movements::text as movements offset 0) as text
    cross join lateral (select ${madeDigest} as digest offset 0) as made
    left join lateral (
      select true as is_there
      from ledger_entries as other
      where other.resolves = e.resolves and other.entry_no <> e.entry_no
      limit 1
    ) as other on true
    where e.entry_no > ${from} and e.entry_no <= ${to}
    order by e.entry_no
    limit ${limit}`);
  return rows.map(withRecords);
}

/** Those of these entries that are there. */
export async function listPrintedByNumber(
  db: Db,
  entryNos: readonly number[],
): Promise<PrintedEntry[]> {
  const rows = await db.rows<PrintedRow>(sql`
    select ${printed}, false as is_one_of_several, null as changed
    from unnest(${entryNos}::bigint[]) as asked (entry_no)
    cross join lateral (
      select *
      from ledger_entries as found
      where found.entry_no = asked.entry_no
      limit 1
    ) as e
    cross join lateral (select e.movements::text as movements) as text`);
  return rows.map(withRecords);
}

/** Those of these credits that proved entries have moved or are to move. */
export async function listProvedOwners(
  db: Db,
  credits: Iterable<{ readonly environment: Environment; readonly scripNo: string }>,
): Promise<ProvedOwner[]> {
  const asked = {
    environment: (credit: { readonly environment: Environment }) => credit.environment,
    scrip_no: (credit: { readonly scripNo: string }) => credit.scripNo,
  };
  return await db.rows(sql`
    select known.environment, known.scrip_no, known.account, known.pending::float8[] as pending
    from ${proofOwners.rows(asked, [...credits])} as asked
    cross join lateral (
      select environment, scrip_no, account, pending
      from ledger_proof_owners as proved
      where proved.environment = asked.environment and proved.scrip_no = asked.scrip_no
      limit 1
    ) as known`);
}

/** Adds to the proved sums. */
export async function addSums(tx: Tx, sums: readonly AccountSum[]): Promise<void> {
  await tx.rows(sql`
    insert into ledger_proof_sums as s ${proofSums.values(proofSums.all, sums)}
    order by account
    on conflict (account, environment) do update
    set posted_paise = s.posted_paise + excluded.posted_paise,
      escrow_paise = s.escrow_paise + excluded.escrow_paise,
      pending_out_paise = s.pending_out_paise + excluded.pending_out_paise,
      pending_in_paise = s.pending_in_paise + excluded.pending_in_paise`);
}

/** Sets the owners of the proof. */
export async function setProvedOwners(tx: Tx, owners: readonly ProvedOwner[]): Promise<void> {
  await tx.rows(sql`
    insert into ledger_proof_owners as o ${proofOwners.values(proofOwners.all, owners)}
    order by environment, scrip_no
    on conflict (environment, scrip_no) do update
    set account = excluded.account, pending = excluded.pending`);
}
