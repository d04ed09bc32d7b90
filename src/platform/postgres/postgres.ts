// Access to PostgreSQL. A Statement is text with its values (`statement.ts`), a Query is one or more
// statements and a function that reads their rows (`query.ts`), a Db runs queries, and a transaction
// is a Db whose statements commit together.
//
// Every statement is prepared on its first use of a connection, under a hash of its text, so a hot
// statement is parsed and planned once.
//
// A round trip to the server costs as much as many a statement, so independent statements are sent
// together, as a list of values: `tx.pipeline([a, b, c])` sends all three, waits for all three and
// returns their results in the same order; when one fails, it throws that error. A transaction runs
// one list at a time and throws when a second is started before the first is answered. So a promise
// of a statement cannot be passed on or left unawaited, and the order of statements is the order of
// the awaits in the code.

import { EventEmitter } from "node:events";

import pg from "pg";

import type { Environment } from "../../kernel/caller.ts";
import {
  type ConnectionCount,
  type Connections,
  connectionsMin,
  keepConnections,
  type Loans,
  type Purpose,
} from "./connections.ts";
import { failedStatement, type ListStep, runList, runLongList } from "./prepared.ts";
import { all, type Queries, type Query, query, type Results } from "./query.ts";
import {
  connectTimeoutMs,
  sessionConfig,
  type SessionOptions,
  statementTimeoutMs,
} from "./session.ts";
import { DatabaseSilent } from "./silence.ts";
import { noteRolledBack, RowsHeld } from "./split.ts";
import { sql, type SqlStatement } from "./statement.ts";

export { failedStatement } from "./prepared.ts";
export { all, command, known, later, meanwhile, Query, query } from "./query.ts";
export { Fragment, fragment, type Part, part, sql, type SqlStatement } from "./statement.ts";

declare const joined: unique symbol;
/** A Db inside a transaction. A use case that joins a transaction takes this type. */
export type Tx = Db & {
  readonly [joined]: true;
  /** Like `pipeline`, after a lock: it is sent first and is held when the others run. */
  pipelineBehind<Lock, const Asked extends Queries>(
    lock: Query<Lock>,
    asked: Asked,
  ): Promise<[Lock, ...Results<Asked>]>;
  /** Sends it with the next list, or with the commit: for what needs no answer. */
  defer(asked: Query<void>): void;
  /** Runs after the work of the transaction, before its commit; a dry run does it too. */
  beforeCommit(work: () => Promise<unknown>): void;
  /** Notifies the listeners of a topic after the commit, and only then. */
  announce(topic: string): void;
  /** Counts rows that were written into a table; after many, the table is analyzed. */
  added(table: string, rows: number): void;
  /** Notes names of rows that are never deleted, once the transaction is committed. */
  lasts(names: readonly string[]): void;
  /** Whether a committed transaction of this process has noted the name lately. */
  isLasting(name: string): boolean;
};

export type Database = Db & {
  /**
   * The same database, for lists. Their filters decide whether one row or a million is read, so each
   * statement gets a custom plan for its values, which takes some tenths of a millisecond. Rows are
   * decoded in pieces, so that they do not block the event loop.
   */
  readonly planned: Db;
  /**
   * The same database, for reads that transactions of this process wait for. A connection is kept for
   * them, because those transactions may hold all the others. Such a read waits for nothing else.
   */
  readonly awaited: Db;
  transaction<Result>(work: (tx: Tx) => Promise<Result>, options?: TxOptions): Promise<Result>;
  /**
   * Calls the listener after every announcement of this process, so that it need not wait for its
   * next poll. Announcements of other processes are not seen, so a listener must also poll.
   */
  onAnnounced(topic: string, listener: () => void): () => void;
  /**
   * The same database for one environment: the sandbox leaves a share of the connections to live.
   * Work for both environments uses the database itself and is not limited.
   */
  for(environment: Environment): Database;
  readonly pool: pg.Pool;
  connections(): ConnectionCount;
  loans(): Loans;
  /** Whether the server has stopped answering; until it answers, callers are refused. */
  isStalled(): boolean;
  close(): Promise<void>;
};

type TxOptions = {
  /** Rolls back at the end: a dry run is the real write without its commit. */
  readonly rollBack?: boolean;
  /** Repeatable read and read only: all statements see the snapshot of the first. */
  readonly snapshot?: boolean;
  /** The timeout of each statement, for work that takes longer than a request may. */
  readonly statementMs?: number;
  /**
   * Repeats a transaction whose connection was lost before the commit, as happens when the machine
   * pauses. The work may change nothing outside the transaction.
   */
  readonly repeatsLost?: boolean;
  /**
   * Repeats a transaction that waited in vain for a row that another one holds. For work that locks
   * many rows and has no set to be retried in. The work may change nothing outside the transaction.
   */
  readonly repeatsHeld?: boolean;
};

export type ConnectionOptions = SessionOptions & {
  readonly connectionsMax?: number;
  readonly onIdleError: (error: Error) => void;
  /** Called when the server stops answering and when it answers again. */
  readonly onStalled?: (isStalled: boolean) => void;
};

/** Announced after every transaction of this process, whatever it did. */
export const commitTopic = "commit";

const connectionsMaxDefault = 16;
/** The number of connections that stay open once opened. */
const connectionsKept = 4;
/** The share of connections that the sandbox leaves to live. */
const reservedShare = 1 / 4;
/** How often a long statement checks that its client is still connected. */
const goneCheckMs = 5_000;
const analyzeMsMax = 60_000;
/** About 10 MB of names. */
const lastingMax = 100_000;

export function openDatabase(options: ConnectionOptions): Database {
  const max = options.connectionsMax ?? connectionsMaxDefault;
  const pool = new pg.Pool({
    ...sessionConfig(options),
    max,
    idleTimeoutMillis: 30_000,
  });
  // Databases that only tools and tests open have fewer connections, and no awaited reads.
  const awaited = max >= connectionsMin ? 1 : 0;
  const connections = keepConnections(
    pool,
    {
      max,
      // Keeps connections free for callers that use the pool directly.
      most: Math.min(connectionsKept, Math.floor(max / 2)),
      reserved: Math.min(max - 1, Math.max(1 + awaited, Math.floor(max * reservedShare))),
      awaited,
      statementMs: options.connection.statement_timeout || statementTimeoutMs,
      connectMs: options.connection.connectionTimeoutMillis ?? connectTimeoutMs,
    },
    { onIdleError: options.onIdleError, onStalled: options.onStalled ?? (() => {}) },
  );
  const announced = new EventEmitter();
  const addedRows = countAddedRows((table) => analyze(borrowing(connections, "live"), table));
  const on = (environment: Environment): Database => ({
    ...asking(borrowing(connections, environment), { announced, addedRows }),
    awaited: runningAlone(borrowing(connections, environment, "awaited")),
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
      // An ANALYZE under way keeps its connection to the end.
      await Promise.all([connections.close(), addedRows.settled()]);
    },
  });
  const views = { live: on("live"), sandbox: on("sandbox") };
  return views.live;
}

/** The queries of one environment. */
function asking(
  borrow: Borrow,
  { announced, addedRows }: { readonly announced: EventEmitter; readonly addedRows: AddedRows },
): Pick<Database, keyof Db | "planned" | "transaction"> {
  const lasting = new Set<string>();
  return {
    ...runningAlone(borrow),
    planned: toDb(async (asked) => {
      const read = await onOne(borrow, (client) => runPlanned(client, asked));
      return await read();
    }),
    async transaction(work, txOptions) {
      const topics = new Set<string>();
      const added = new Map<string, number>();
      const noted: string[] = [];
      const run = async () => {
        topics.clear();
        added.clear();
        noted.length = 0;
        return await inTransaction(
          borrow,
          async (tx) => {
            const last: (() => Promise<unknown>)[] = [];
            const done = await work({
              ...tx,
              pipelineBehind: (lock, asked) => tx.run(all([lock, ...asked])),
              beforeCommit: (step) => void last.push(step),
              announce: (topic) => void topics.add(topic),
              added: (table, rows) => void added.set(table, (added.get(table) ?? 0) + rows),
              lasts: (names) => void noted.push(...names),
              isLasting: (name) => lasting.has(name),
            } as Tx);
            for (const step of last) await step();
            return done;
          },
          txOptions,
        );
      };
      const result = await repeatPassed(run, txOptions);
      if (txOptions?.rollBack) return result;
      for (const topic of topics) announced.emit(topic);
      announced.emit(commitTopic);
      addedRows.note(added);
      if (lasting.size + noted.length > lastingMax) lasting.clear();
      for (const name of noted) lasting.add(name);
      return result;
    },
  };
}

type Borrow = Pick<Connections, "giveBack" | "allow" | "findLoss"> & {
  lend(): ReturnType<Connections["lend"]>;
};

function borrowing(
  connections: Connections,
  environment: Environment,
  purpose: Purpose = "other",
): Borrow {
  return { ...connections, lend: () => connections.lend(environment, purpose) };
}

function runningAlone(borrow: Borrow): Db {
  return toDb((asked) => onOne(borrow, (client) => runAlone(client, asked)));
}

/**
 * Only the owner of a table may analyze it, so this resets the role of the service. Only the columns of
 * indexes and of their conditions are looked at: these filter. Autovacuum looks at all of them later.
 */
async function analyze(borrow: Borrow, table: string): Promise<void> {
  await inTransaction(
    borrow,
    async (tx) => {
      await tx.rows(sql`set local role none`);
      const columns = await listFilteringColumns(tx, table);
      await tx.rows(plain(`analyze ${table} (${columns.join(", ")})`));
    },
    { statementMs: analyzeMsMax },
  );
}

async function listFilteringColumns(db: Db, table: string): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select quote_ident(a.attname) as name
    from pg_attribute as a
    where a.attrelid = ${table}::regclass and a.attnum > 0 and exists (
      select
      from pg_index as i
      where i.indrelid = a.attrelid and (a.attnum = any(i.indkey) or exists (
        select
        from pg_depend as d
        where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid
          and d.refobjid = a.attrelid and d.refobjsubid = a.attnum
      ))
    )`);
  return rows.map(({ name }) => name);
}

/** Runs statements outside a transaction: what the server refused was not kept. */
async function runAlone<Result>(client: pg.PoolClient, asked: Query<Result>): Promise<Result> {
  try {
    return await runTogether(client, asked);
  } catch (error) {
    if (isRefusedByServer(error)) noteRolledBack(error);
    throw error;
  }
}

/** When a statement fails, the connection is closed, so the changed setting cannot leak. */
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
    // Prepared statements of this connection may be out of date since a migration: it is closed.
    broken = error as Error; // The driver rejects with Errors only.
    throw error;
  } finally {
    connections.giveBack(client, broken);
  }
}

const attemptsMax = 3;

/** Repeats what failed by something that has passed since; nothing of a failed attempt is kept. */
async function repeatPassed<Result>(
  run: () => Promise<Result>,
  { repeatsLost = false, repeatsHeld = false }: TxOptions = {},
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      const isRepeated =
        (repeatsLost && error instanceof TransactionLost) || (repeatsHeld && isLockTimeout(error));
      if (attempt === attemptsMax || !isRepeated) throw error;
    }
  }
}

const beginUsual = sql`begin`;
const beginSnapshot = sql`begin isolation level repeatable read read only`;
const commit = sql`commit`;
const undo = sql`rollback`;
const checkGone = plain(`set local client_connection_check_interval = ${goneCheckMs}`);

/** A statement whose text holds its values; it is parsed each time. */
function plain(text: string): SqlStatement {
  return { name: "", text, values: [] };
}

async function inTransaction<Result>(
  connections: Borrow,
  work: (tx: Db & Pick<OpenTransaction, "defer">) => Promise<Result>,
  { rollBack = false, snapshot = false, statementMs }: TxOptions = {},
): Promise<Result> {
  const client = await connections.lend();
  const begin = [snapshot ? beginSnapshot : beginUsual];
  if (statementMs !== undefined) {
    connections.allow(client, statementMs);
    begin.push(plain(`set local statement_timeout = ${statementMs}`), checkGone);
  }
  const tx = openTransaction(client, begin);
  let broken: Error | undefined;
  let isCommitting = false;
  try {
    const result = await work(tx);
    tx.assertIdle();
    isCommitting = !rollBack;
    await tx.end(rollBack ? undo : commit);
    return result;
  } catch (error) {
    await tx.abandon(undo).catch((fault: Error) => (broken = fault));
    // The rollback was confirmed, or the server refused the commit.
    if (!broken && (!isCommitting || isRefusedByServer(error))) noteRolledBack(error);
    const loss = connections.findLoss(client);
    if (isEndedIdle(error) || isEndedIdle(loss)) throw new TransactionIdle({ cause: error });
    const isLost = loss !== undefined && !(loss instanceof DatabaseSilent);
    if (isLost && !isCommitting && failedStatement(error)) {
      throw new TransactionLost("the connection of a transaction was lost", { cause: error });
    }
    throw error;
  } finally {
    // A connection that cannot roll back is closed instead of returned to the pool.
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

/** The connection was lost before the COMMIT was sent; nothing of the transaction was kept. */
export class TransactionLost extends Error {
  constructor(message: string, options: ErrorOptions) {
    super(message, options);
    noteRolledBack(this);
  }
}

/** PostgreSQL ended a transaction that sent no statement for too long. */
export class TransactionIdle extends TransactionLost {
  constructor(options: ErrorOptions) {
    super("PostgreSQL ended a transaction that was idle for too long", options);
  }
}

/** The server ends a session for this only between two statements, so before it reads a COMMIT. */
function isEndedIdle(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "25P03";
}

/** Whether a lock was not available in time. */
export function isLockTimeout(error: unknown): boolean {
  if (error instanceof RowsHeld) return true;
  return error instanceof pg.DatabaseError && error.code === "55P03";
}

/**
 * Whether a retry may succeed: a locked row, a deadlock, no resources, a cancelled statement, or a lost
 * connection.
 */
export function isPassing(error: unknown): boolean {
  if (isLockTimeout(error) || error instanceof TransactionLost) return true;
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return false;
  return ["40", "53", "57"].includes(error.code.slice(0, 2));
}

/** The name of the violated constraint, if the error is such a violation. */
export function violatedConstraint(error: unknown): string | undefined {
  if (!(error instanceof pg.DatabaseError) || !error.code?.startsWith("23")) return undefined;
  return error.constraint;
}

// Counts the rows that are written into tables, and runs ANALYZE when there were many. Autovacuum comes
// a minute later at best, and until then lists are planned with old statistics, and connections keep
// plans that were made for an empty table. Each ANALYZE comes at four times as many rows as the last:
// for a large table autovacuum is often enough, and at twice as many a batch of orders took a third
// more of PostgreSQL's processor time.

const firstAnalyzeRows = 5_000;
const nextAnalyzeFactor = 4;

type AddedRows = {
  /** Called after a commit. */
  note(added: ReadonlyMap<string, number>): void;
  /** Resolves when no ANALYZE is under way. */
  settled(): Promise<void>;
};

function countAddedRows(analyzeTable: (table: string) => Promise<void>): AddedRows {
  const rows = new Map<string, number>();
  const nextAnalyze = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  return {
    note(added) {
      for (const [table, more] of added) {
        const sum = (rows.get(table) ?? 0) + more;
        rows.set(table, sum);
        if (sum < (nextAnalyze.get(table) ?? firstAnalyzeRows)) continue;
        nextAnalyze.set(table, sum * nextAnalyzeFactor);
        // When it fails, autovacuum analyzes the table later.
        const analyzing = analyzeTable(table)
          .catch(() => {})
          .finally(() => underWay.delete(analyzing));
        underWay.add(analyzing);
      }
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}

// Runs queries on a connection. The statements of a query are sent together; a transaction runs one
// query at a time.

export type Db = {
  rows<Row>(statement: SqlStatement): Promise<Row[]>;
  run<Result>(asked: Query<Result>): Promise<Result>;
  /** Sends several queries together on one connection; outside a transaction they commit together. */
  pipeline<const Asked extends Queries>(asked: Asked): Promise<Results<Asked>>;
};

/** Builds a Db from the function that runs its queries. */
export function toDb(run: Db["run"]): Db {
  return {
    rows: (statement) => run(query(statement)),
    run,
    pipeline: (asked) => run(all(asked)),
  };
}

async function runTogether<Result>(
  client: pg.ClientBase,
  { steps, read }: Query<Result>,
): Promise<Result> {
  return read(await runList(client, steps));
}

/**
 * The same for many rows. The returned function decodes them in pieces; the connection can go back to
 * the pool before that.
 */
async function runLongTogether<Result>(
  client: pg.ClientBase,
  { steps, read }: Query<Result>,
): Promise<() => Promise<Result>> {
  const answers = await runLongList(client, steps);
  return async () => read(await answers());
}

/**
 * A transaction on its connection. It begins with its first list and runs one list at a time. What is
 * deferred is sent before the next list, or with the end.
 */
type OpenTransaction = Db & {
  defer(asked: Query<void>): void;
  /** Sends what was deferred, and the commit or the rollback of a dry run. */
  end(how: SqlStatement): Promise<void>;
  /** Rolls back what was sent. */
  abandon(how: SqlStatement): Promise<void>;
  assertIdle(): void;
};

function openTransaction(client: pg.PoolClient, begin: readonly SqlStatement[]): OpenTransaction {
  let isUnderWay = false;
  let isBegun = false;
  const unsent: ListStep[] = [];
  const takeUnsent = () => {
    const begins = isBegun ? [] : begin.map((statement) => () => statement);
    isBegun = true;
    return [...begins, ...unsent.splice(0)];
  };
  function assertIdle(): void {
    if (isUnderWay)
      throw new Error("a transaction was asked before its last answer was waited for");
  }
  return {
    ...toDb(async ({ steps, read }) => {
      assertIdle();
      if (steps.length === 0) return read([]);
      isUnderWay = true;
      try {
        const before = takeUnsent();
        return read((await runList(client, [...before, ...steps])).slice(before.length));
      } finally {
        isUnderWay = false;
      }
    }),
    defer: ({ steps }) => void unsent.push(...steps),
    assertIdle,
    async end(how) {
      if (isBegun || unsent.length > 0) await runList(client, [...takeUnsent(), () => how]);
    },
    async abandon(how) {
      if (isBegun) await runList(client, [() => how]);
    },
  };
}
