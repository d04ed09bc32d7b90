// PostgreSQL behind four words: a Statement is text with its values (`statement.ts`), a Query is one
// or more statements and how their rows are read (`query.ts`), a Db runs them, and a transaction is a
// Db whose statements commit together.
//
// Every statement is prepared on first use of its connection under a name made from its text, so a
// hot statement is parsed and planned once.
//
// A round trip to the server costs as much as many a statement, so statements that need nothing of
// each other are sent together. They are values in a list: `tx.pipeline([a, b, c])` sends all three,
// waits for all three and gives their results in the same places; when one fails, it throws that
// one's error. A transaction runs one list at a time: whoever asks for something before the list under
// way is answered gets an error, so no promise of a statement can be handed on or left unawaited, and
// what is right never hangs on who happened to ask first.

import { EventEmitter } from "node:events";

import pg from "pg";

import type { Environment } from "../../kernel/caller.ts";
import {
  type ConnectionCount,
  type Connections,
  keepConnections,
  type Loans,
} from "./connections.ts";
import { type Db, inTurn, runLongTogether, runTogether, toDb } from "./db.ts";
import { types, writeTogether } from "./prepared.ts";
import { all, type Queries, type Query, query, type Results } from "./query.ts";
import { noteNothingKept, RowsHeld } from "./split.ts";
import { sql } from "./statement.ts";

export { type Db, toDb } from "./db.ts";
export { failedStatement } from "./prepared.ts";
export { all, command, known, later, meanwhile, Query, query } from "./query.ts";
export { Fragment, fragment, sql, type Statement } from "./statement.ts";

declare const joined: unique symbol;
/** A Db inside a transaction: a use case that joins one takes this, and cannot be called outside. */
export type Tx = Db & {
  readonly [joined]: true;
  /** The same behind a lock, which is sent first and held when the others run. */
  pipelineBehind<Lock, const Asked extends Queries>(
    lock: Query<Lock>,
    asked: Asked,
  ): Promise<[Lock, ...Results<Asked>]>;
  /** Says after the commit, and only then, that something new can be read about this topic. */
  announce(topic: string): void;
  /** Says that so many rows were loaded into a table at once, which its statistics should know of. */
  added(table: string, rows: number): void;
};

export type Database = Db & {
  /**
   * The same database, for lists: what is read, one row or a million, depends on which filters are
   * given, so each statement is planned for its values. That takes some tenths of a millisecond. Its
   * rows are read in pieces, with turns for others.
   */
  readonly planned: Db;
  transaction<Result>(work: (tx: Tx) => Promise<Result>, options?: TxOptions): Promise<Result>;
  /**
   * Calls back for every announcement of this process, so that nobody here waits for the next look.
   * Other processes are not told: whoever listens must also look by itself from time to time.
   */
  onAnnounced(topic: string, listener: () => void): () => void;
  /**
   * The same database on behalf of one environment: the sandbox leaves a share of the connections to
   * live. What serves both, or nobody in particular, asks the database itself and is not limited.
   */
  for(environment: Environment): Database;
  readonly pool: pg.Pool;
  connections(): ConnectionCount;
  loans(): Loans;
  /** Whether the server has stopped answering, so that nothing is asked of it until it does. */
  isStalled(): boolean;
  close(): Promise<void>;
};

type TxOptions = {
  /** Runs everything and keeps nothing: the dry run of a write is the write, rolled back. */
  readonly rollBack?: boolean;
  /** Every statement sees the database as it was when the first one did, and none changes it. */
  readonly snapshot?: boolean;
  /** For what may take longer than an answer may: what each statement may take. */
  readonly statementMs?: number;
};

export type ConnectionOptions = {
  readonly connection: pg.ClientConfig;
  /** The role that statements run as; the connecting role when the server has no other. */
  readonly role?: string | undefined;
  readonly connectionsMax?: number;
  readonly onIdleError: (error: Error) => void;
  /** Told when the server stops answering, and when it answers again. */
  readonly onStalled?: (isStalled: boolean) => void;
};

const connectTimeoutMs = 5_000;
const statementTimeoutMs = 5_000;
const lockTimeoutMs = 2_000;
const idleInTransactionTimeoutMs = 10_000;
const connectionsMaxDefault = 16;
/** So many stay open once they are. */
const connectionsKept = 4;
/** What the sandbox leaves to live, at least one. */
const reservedShare = 1 / 4;
/** How soon a statement that may take long notices that nobody waits for it any more. */
const goneCheckMs = 5_000;
const analyzeMsMax = 60_000;

export function openDatabase(options: ConnectionOptions): Database {
  const max = options.connectionsMax ?? connectionsMaxDefault;
  const pool = new pg.Pool({
    ...clientConfig(options),
    max,
    idleTimeoutMillis: 30_000,
  });
  const connections = keepConnections(
    pool,
    {
      max,
      // Who asks the pool itself must find one, too.
      most: Math.min(connectionsKept, Math.floor(max / 2)),
      reserved: Math.min(max - 1, Math.max(1, Math.floor(max * reservedShare))),
      statementMs: options.connection.statement_timeout || statementTimeoutMs,
      connectMs: options.connection.connectionTimeoutMillis ?? connectTimeoutMs,
    },
    { onIdleError: options.onIdleError, onStalled: options.onStalled ?? (() => {}) },
  );
  const announced = new EventEmitter();
  const addedRows = countAddedRows((table) => analyze(borrowing(connections, "live"), table));
  const on = (environment: Environment): Database => ({
    ...asking(borrowing(connections, environment), { announced, addedRows }),
    onAnnounced(topic, listener) {
      announced.on(topic, listener);
      return () => void announced.off(topic, listener);
    },
    for: (other) => views[other],
    pool,
    connections: () => connections.count(),
    loans: () => connections.loans(),
    isStalled: () => connections.isStalled(),
    async close() {
      // What is being looked at has its connection and keeps it to the end.
      await Promise.all([connections.close(), addedRows.settled()]);
    },
  });
  const views = { live: on("live"), sandbox: on("sandbox") };
  return views.live;
}

/** What is asked on behalf of one environment. */
function asking(
  borrow: Borrow,
  { announced, addedRows }: { readonly announced: EventEmitter; readonly addedRows: AddedRows },
): Pick<Database, keyof Db | "planned" | "transaction"> {
  return {
    ...toDb((asked) => onOne(borrow, (client) => runAlone(client, asked))),
    planned: toDb(async (asked) => {
      const read = await onOne(borrow, (client) => runPlanned(client, asked));
      return await read();
    }),
    async transaction(work, txOptions) {
      const topics = new Set<string>();
      const added = new Map<string, number>();
      const result = await inTransaction(
        borrow,
        (tx) =>
          work({
            ...tx,
            pipelineBehind: (lock, asked) => tx.run(all([lock, ...asked])),
            announce: (topic) => void topics.add(topic),
            added: (table, rows) => void added.set(table, (added.get(table) ?? 0) + rows),
          } as Tx),
        txOptions,
      );
      if (txOptions?.rollBack) return result;
      for (const topic of topics) announced.emit(topic);
      addedRows.note(added);
      return result;
    },
  };
}

type Borrow = Pick<Connections, "giveBack" | "allow"> & {
  lend(): ReturnType<Connections["lend"]>;
};

function borrowing(connections: Connections, environment: Environment): Borrow {
  return { ...connections, lend: () => connections.lend(environment) };
}

/** Only the owner of a table may have it looked at, so the service's own role is put aside for it. */
async function analyze(borrow: Borrow, table: string): Promise<void> {
  await inTransaction(
    borrow,
    async (tx) => {
      await tx.rows(sql`set local role none`);
      await tx.rows({ name: "", text: `analyze ${table}`, values: [] });
    },
    { statementMs: analyzeMsMax },
  );
}

export function clientConfig({ connection, role }: ConnectionOptions): pg.ClientConfig {
  return {
    application_name: "scripdesk",
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    keepAlive: true,
    pipeline: true,
    ...connection,
    // Statements are written to be planned once; planning them anew costs more than running them. A
    // plan that is made while a table is small must serve when it is large, so none reads a whole
    // table where an index would do.
    options: `-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_mergejoin=off -c random_page_cost=1.1${role ? ` -c role=${role}` : ""}`,
    types,
  };
}

/** Statements that are each a transaction of its own: what the server refused it has not kept. */
async function runAlone<Result>(client: pg.PoolClient, asked: Query<Result>): Promise<Result> {
  if (asked.steps.length > 1) writeTogether(client);
  try {
    return await runTogether(client, asked);
  } catch (error) {
    if (asked.steps.length === 1 && isRefusedByServer(error)) noteNothingKept(error);
    throw error;
  }
}

/** A connection on which one of them fails is not used again. */
async function runPlanned<Result>(
  client: pg.PoolClient,
  asked: Query<Result>,
): Promise<() => Promise<Result>> {
  const read = await runLongTogether(client, all([planForValues, asked, planOnce]));
  return async () => (await read())[1];
}

const planForValues = query(sql`set plan_cache_mode = force_custom_plan`);
const planOnce = query(sql`set plan_cache_mode = force_generic_plan`);

async function onOne<Result>(
  connections: Borrow,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await connections.lend();
  let broken: Error | undefined;
  try {
    return await work(client);
  } catch (error) {
    // A connection that was made before a migration may not be able to run it any more.
    broken = error as Error; // The driver rejects with nothing else.
    throw error;
  } finally {
    connections.giveBack(client, broken);
  }
}

async function inTransaction<Result>(
  connections: Borrow,
  work: (tx: Db) => Promise<Result>,
  { rollBack = false, snapshot = false, statementMs }: TxOptions = {},
): Promise<Result> {
  const client = await connections.lend();
  let broken: Error | undefined;
  let isCommitting = false;
  try {
    await client.query(snapshot ? "begin isolation level repeatable read read only" : "begin");
    if (statementMs !== undefined) {
      connections.allow(client, statementMs);
      await client.query(
        `set local statement_timeout = ${statementMs};
        set local client_connection_check_interval = ${goneCheckMs}`,
      );
    }
    const tx = inTurn(client);
    const result = await work(tx);
    tx.assertIdle();
    isCommitting = !rollBack;
    await client.query(rollBack ? "rollback" : "commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch((fault: Error) => (broken = fault));
    // The server says that it was rolled back, or that it would not commit.
    if (!broken && (!isCommitting || isRefusedByServer(error))) noteNothingKept(error);
    throw error;
  } finally {
    // A connection that cannot roll back is destroyed rather than handed to the next caller.
    connections.giveBack(client, broken);
  }
}

/**
 * Whether the server itself refused and so certainly kept nothing. After anything else (a lost
 * connection, a shutdown) the outcome is unknown, and doing the work again could do it twice.
 */
function isRefusedByServer(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return false;
  const errorClass = error.code.slice(0, 2);
  return errorClass !== "08" && errorClass !== "57" && errorClass !== "58";
}

/** Whether a lock was not to be had in time, and so nothing was done. */
export function isLockTimeout(error: unknown): boolean {
  if (error instanceof RowsHeld) return true;
  return error instanceof pg.DatabaseError && error.code === "55P03";
}

/** Whether what the server refused may be done the next time: a held row, a deadlock, no room, no time. */
export function isPassing(error: unknown): boolean {
  if (isLockTimeout(error)) return true;
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return false;
  return ["40", "53", "57"].includes(error.code.slice(0, 2));
}

/** The constraint a write ran into, if that is what happened. */
export function violatedConstraint(error: unknown): string | undefined {
  if (!(error instanceof pg.DatabaseError) || !error.code?.startsWith("23")) return undefined;
  return error.constraint;
}

// Counts the rows that are loaded into tables, and has the server look at a table (ANALYZE) when there
// were many. Left to itself it looks a minute later at best, and until then it plans lists for a table
// that is no longer what it was. Each look comes at twice as many rows as the one before: once a table
// is large, the server's own looks are often enough.

const firstLookRows = 5_000;

type AddedRows = {
  /** After a commit. */
  note(added: ReadonlyMap<string, number>): void;
  /** Resolves when nothing is being looked at. */
  settled(): Promise<void>;
};

function countAddedRows(lookAt: (table: string) => Promise<void>): AddedRows {
  const rows = new Map<string, number>();
  const nextLook = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  return {
    note(added) {
      for (const [table, more] of added) {
        const sum = (rows.get(table) ?? 0) + more;
        rows.set(table, sum);
        if (sum < (nextLook.get(table) ?? firstLookRows)) continue;
        nextLook.set(table, sum * 2);
        // A table that could not be looked at now is looked at by the server in its own time.
        const look = lookAt(table)
          .catch(() => {})
          .finally(() => underWay.delete(look));
        underWay.add(look);
      }
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}
