// The journal as tests look at it: its blocks unpacked into two tables of one session, `audit_records`
// with a row for each record and `events` with a row for each event, to be asked in SQL. What the owner
// of a database could do to records is done to these rows and packed into blocks again.

import type pg from "pg";

import { readRecord, writeBlockRecord, writeRecord } from "../../src/journal/audit-rules.ts";
import {
  type Block,
  packRecords,
  readBlock,
  type RecordDraft,
} from "../../src/journal/block-rules.ts";
import { type EventHead, readEventHead, splitEvent } from "../../src/journal/event-rules.ts";

// Tests look into rows of every shape; what they expect is what they assert.
// oxlint-disable-next-line typescript/no-explicit-any
type Row = any;
type Ask = (text: string, values?: unknown[]) => Promise<Row[]>;

/** Asks about `audit_records` and `events`, those of before there were blocks among them. */
export async function askJournal<Found extends pg.QueryResultRow = Row>(
  pool: pg.Pool,
  text: string,
  values: unknown[] = [],
): Promise<pg.QueryResult<Found>> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await unpackJournal(async (sent, given) => (await client.query(sent, given)).rows);
    return await client.query<Found>(text, values);
  } finally {
    await client.query("rollback");
    client.release();
  }
}

/** Runs statements of the time when records were rows, on records that are in blocks. */
export async function runOnRecords(pool: pg.Pool, statements: readonly string[]): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await unpackJournal(async (sent, given) => (await client.query(sent, given)).rows);
    for (const statement of statements) await client.query(statement);
    await client.query("commit");
  } finally {
    client.release();
  }
}

const recordColumns = `environment text, desk_id text, seq bigint, record_id text, at timestamptz,
  actor_kind text, actor_id text, request_id text, action text, entity_type text, entity_id text,
  entity_version int, before_hash text, after_hash text, form int, hash bytea`;
/** \`block\` is the first \`seq\` of the block that a record was in. */
const placeColumns = "body text, sequence bigint, block bigint";
const eventColumns = `desk_id text, sequence bigint, event_id text, environment text, firm_id text,
  event text, entity_type text, entity_id text, entity_version int, created_at timestamptz,
  body text`;

async function unpackJournal(ask: Ask): Promise<void> {
  const blocks = await readBlocks(ask);
  const records = blocks.flatMap((block) =>
    readBlock(block).map(({ seq, hash, text, event }) => {
      const { at: told_at, ...record } = readRecord(text);
      const { environment, desk_id, form } = block;
      const at = told_at ?? block.at_text;
      const told = {
        body: event?.body ?? null,
        sequence: event?.sequence ?? null,
        block: block.first_seq,
      };
      return { environment, desk_id, seq, form, at, ...record, hash: `\\x${hash}`, ...told };
    }),
  );
  await ask(`create temp table audit_records (${recordColumns}, ${placeColumns}) on commit drop`);
  await ask(`create temp table events (${eventColumns}) on commit drop`);
  const former = recordColumns.replaceAll(/ (?:text|bigint|timestamptz|int|bytea)\b/g, "");
  await ask(
    `insert into audit_records select ${former} from former_audit_records order by at, ctid`,
  );
  await ask(
    `insert into audit_records
     select * from json_to_recordset($1) as r (${recordColumns}, ${placeColumns})`,
    [JSON.stringify(records)],
  );
  const events = records.flatMap(({ body, environment, desk_id, at }) =>
    body === null ? [] : { ...readEventHead(body), environment, desk_id, created_at: at, body },
  );
  await ask(
    `insert into events
     select ${eventColumns.replaceAll(/ (?:text|bigint|timestamptz|int)\b/g, "")}
     from former_events order by created_at, ctid`,
  );
  await ask(`insert into events select * from json_to_recordset($1) as r (${eventColumns})`, [
    JSON.stringify(events),
  ]);
}

/** All events in blocks, those of each desk in their order. */
export async function readEvents(
  ask: Ask,
): Promise<(EventHead & { desk_id: string; body: string })[]> {
  const blocks = await readBlocks(ask);
  const events = blocks.flatMap((block) =>
    readBlock(block).flatMap(({ event }) =>
      event ? { ...readEventHead(event.body), desk_id: block.desk_id, body: event.body } : [],
    ),
  );
  return events.toSorted(
    (a, b) =>
      (a.desk_id < b.desk_id ? -1 : Number(a.desk_id > b.desk_id)) || a.sequence - b.sequence,
  );
}

async function readBlocks(ask: Ask): Promise<Block[]> {
  const rows = await ask(
    `select *, encode(coalesce(hash, hashes), 'hex') as digits, ${atText}
     from journal_blocks order by at, ctid`,
  );
  const number = (value: unknown) => (value === null ? null : Number(value));
  return rows.map((row) => ({
    ...row,
    first_seq: Number(row.first_seq),
    last_seq: Number(row.last_seq),
    first_sequence: number(row.first_sequence),
    last_sequence: number(row.last_sequence),
    hashes: row.digits,
  }));
}

const atText = `to_char(at at time zone interval '5:30', 'YYYY-MM-DD"T"HH24:MI:SS.US"+05:30"') as at_text`;

/**
 * Changes `audit_records` by statements and packs what they leave into the blocks of before, with the
 * hashes of before, as an owner would who knows the form of blocks. To be run in a transaction.
 */
export async function editJournal(ask: Ask, statements: readonly string[]): Promise<void> {
  await unpackJournal(ask);
  for (const statement of statements) await ask(statement);
  const rows = await ask(
    `select *, encode(hash, 'hex') as digits, ${atText}
     from audit_records where form > 1 order by desk_id, seq`,
  );
  await ask("delete from journal_blocks");
  const blocks = Map.groupBy(
    rows,
    (row) => `${row.environment} ${row.desk_id} ${row.block ?? row.seq}`,
  );
  for (const records of blocks.values()) await insertBlock(ask, records);
}

async function insertBlock(ask: Ask, rows: readonly Row[]): Promise<void> {
  const [{ environment, desk_id, at_text, form, digits }] = rows as [Row];
  const [block] = packRecords(rows.map(draftAgain), at_text);
  const seqs = rows.map(({ seq }) => Number(seq));
  const sequences = rows.flatMap(({ sequence }) => (sequence === null ? [] : Number(sequence)));
  const hash = form === 3 ? digits : null;
  const hashes = form === 3 ? null : rows.map((row) => row.digits).join("");
  await ask(
    `insert into journal_blocks (
       environment, desk_id, first_seq, last_seq, first_sequence, last_sequence, at, form, entities,
       summary, packed, hash, hashes
     )
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9::bigint[], $10::jsonb, decode($11, 'hex'),
       decode($12, 'hex'), decode($13, 'hex'))`,
    [
      environment,
      desk_id,
      String(Math.min(...seqs)),
      String(Math.max(...seqs)),
      sequences.length > 0 ? String(Math.min(...sequences)) : null,
      sequences.length > 0 ? String(Math.max(...sequences)) : null,
      at_text,
      String(form),
      `{${block?.entities.join(",")}}`,
      JSON.stringify(block?.summary),
      block?.packed.toString("hex"),
      hash,
      hashes,
    ],
  );
}

function draftAgain({ body, ...row }: Row): RecordDraft {
  const written = body && splitEvent(String(body).replace(/,"sequence":\d+/, ',"sequence":'));
  const { after_hash, ...told } = row;
  const block = writeBlockRecord(body === null ? { ...told, after_hash } : told);
  return {
    text: row.form === 3 ? block : writeRecord(row),
    action: row.action,
    entityType: row.entity_type,
    entityId: row.entity_id,
    actorId: row.actor_id,
    event: written && { ...written, firmId: row.desk_id },
    traceparent: null,
  };
}

/** The same in a transaction of its own. */
export async function editAsOwner(owner: pg.Client, ...statements: string[]): Promise<void> {
  await owner.query("begin");
  await editJournal(async (text, values) => (await owner.query(text, values)).rows, statements);
  await owner.query("commit");
}
