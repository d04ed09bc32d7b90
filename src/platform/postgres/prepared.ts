// One run of a prepared statement, beside the driver's own queries and cheaper than they are. The
// server names the columns of a statement when it is first run on a connection and cannot change
// them afterwards, so neither side speaks of them again; the driver would ask every time.
//
// Runs of one connection are pipelined: each is written at once, also while the server is busy with
// the one before it, and is answered in its turn.
//
// An answer that may be long is read in pieces, with turns for others between them: what lies at the
// socket of every connection would otherwise be read in one go, as much as the server has written.

import pg from "pg";

import { readPaise } from "../../kernel/money.ts";
import { mapPaced, openPace, takePiece } from "../heavy/pace.ts";
import type { Statement } from "./statement.ts";

type Texts = readonly (string | null)[];
type RowOf = (texts: Texts) => Record<string, unknown>;

// Counts and single amounts fit a double by constraint, sums may not; days stay text, because a Date
// has no calendar.
const int8 = 20;
const numeric = 1700;
const date = 1082;
export const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    if (oid === int8 || oid === numeric) return readPaise;
    if (oid === date) return String;
    return pg.types.getTypeParser(oid, format);
  },
};

/** What the driver keeps of a connection, and its types leave out: those parsed, and those sent. */
type NamedStatements = {
  readonly parsedStatements: object;
  readonly submittedNamedStatements: Record<string, string>;
};

const readersOn = new WeakMap<pg.Connection, Map<string, RowOf>>();

export async function runPrepared<Row>(
  client: pg.ClientBase,
  statement: Statement,
): Promise<Row[]> {
  const run = new PreparedRun(statement);
  await ended(client, run);
  return run.answer() as Row[]; // Whoever wrote the statement knows its columns.
}

/** The answer has arrived when this resolves; its rows are read after that, without the connection. */
export async function runLong<Row>(
  client: pg.ClientBase,
  statement: Statement,
): Promise<() => Promise<Row[]>> {
  const run = new LongRun(statement);
  await ended(client, run);
  return async () => (await run.answerInPieces()) as Row[]; // As above.
}

async function ended(client: pg.ClientBase, run: PreparedRun): Promise<void> {
  client.query(run);
  try {
    await run.ended;
  } catch (error) {
    throw findCause(client, run.statement, error as Error); // The driver rejects with nothing else.
  }
}

/**
 * What is asked of this connection in the present turn goes to the server in one write. It pays where
 * all of it is quickly written down; otherwise the server could have begun with the first.
 */
export function writeTogether(client: pg.ClientBase): void {
  const { stream } = (client as unknown as { readonly connection: pg.Connection }).connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

const lastFaults = new WeakMap<pg.ClientBase, Error>();
const failedIn = new WeakMap<Error, Statement>();

/**
 * Of statements that travel together, those behind one that failed only say that their transaction has
 * failed. Whoever hears of one of them first hears of the cause.
 */
function findCause(client: pg.ClientBase, statement: Statement, error: Error): Error {
  const isAborted = "code" in error && error.code === abortedCode;
  const cause = (isAborted ? lastFaults.get(client) : undefined) ?? error;
  if (cause !== error) return cause;
  // Where it was thrown is the driver; who asked is here.
  Error.captureStackTrace(error);
  lastFaults.set(client, error);
  failedIn.set(error, statement);
  return error;
}

/** The statement that an error came from. */
export function failedStatement(error: unknown): Statement | undefined {
  return error instanceof Error ? failedIn.get(error) : undefined;
}

/** What PostgreSQL calls a statement of a transaction that has failed. */
const abortedCode = "25P02";

/** The driver calls `submit` when it is its turn, and the others as the server answers. */
class PreparedRun implements pg.Submittable {
  /** The driver notes both when the server has parsed the statement. */
  readonly name: string;
  readonly text: string;
  readonly statement: Statement;
  readonly #answers: Texts[] = [];
  readonly #end = Promise.withResolvers<void>();
  #known: Map<string, RowOf> | undefined;
  #rowOf: RowOf | undefined;

  constructor(statement: Statement) {
    this.name = statement.name;
    this.text = statement.text;
    this.statement = statement;
  }

  get ended(): Promise<void> {
    return this.#end.promise;
  }

  submit(connection: pg.Connection): void {
    const { name, text } = this;
    const { parsedStatements, submittedNamedStatements } = connection as unknown as NamedStatements;
    this.#known = readersOn.get(connection);
    if (!this.#known) readersOn.set(connection, (this.#known = new Map()));
    this.#rowOf = this.#known.get(name);
    connection.stream.cork();
    if (!(name in parsedStatements) && !(name in submittedNamedStatements)) {
      connection.parse({ name, text, types: [] }, true);
      if (name) submittedNamedStatements[name] = text; // Without a name it is parsed each time.
    }
    connection.bind({ statement: name, values: [...this.statement.values] }, true);
    if (!this.#rowOf) connection.describe({ type: "P" }, true);
    connection.execute(null, true);
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.#rowOf = readerOf(fields);
  }

  handleDataRow({ fields }: { fields: Texts }): void {
    this.#answers.push(fields);
  }

  handleCommandComplete(): void {
    // A statement that answers with no rows has named no columns.
    this.#known?.set(this.name, this.#rowOf ?? readerOf([]));
  }

  handleReadyForQuery(): void {
    this.#end.resolve();
  }

  handleError(error: Error): void {
    this.#end.reject(error);
  }

  answer(): Record<string, unknown>[] {
    return this.#rowOf ? this.#answers.map(this.#rowOf) : [];
  }

  async answerInPieces(): Promise<Record<string, unknown>[]> {
    if (!this.#rowOf || this.#answers.length <= shortMax) return this.answer();
    const pace = openPace();
    await pace.turn();
    return await mapPaced(this.#answers, this.#rowOf, pace);
  }
}

/** So many rows are read as they come. */
const shortMax = 100;

/** Reads what arrives at its connection one chunk at a time, once it is known to be much. */
class LongRun extends PreparedRun {
  #stream: pg.Connection["stream"] | undefined;
  #rows = 0;
  #isOver = false;

  override submit(connection: pg.Connection): void {
    this.#stream = connection.stream;
    super.submit(connection);
  }

  override handleDataRow(message: { fields: Texts }): void {
    super.handleDataRow(message);
    this.#rows += 1;
    const stream = this.#stream;
    if (this.#rows <= shortMax || !stream || stream.isPaused()) return;
    stream.pause();
    void takePiece().then(() => this.#isOver || stream.resume());
  }

  override handleCommandComplete(): void {
    super.handleCommandComplete();
    this.#letOthers();
  }

  override handleError(error: Error): void {
    super.handleError(error);
    this.#letOthers();
  }

  /** What comes next on the connection is somebody else's, who waits for no piece. */
  #letOthers(): void {
    this.#isOver = true;
    this.#stream?.resume();
  }
}

type Field = { readonly name: string; readonly dataTypeID: number };

/** One for all connections, so that each is compiled once. */
const readers = new Map<string, RowOf>();

function readerOf(fields: readonly Field[]): RowOf {
  const columns = JSON.stringify(fields.map(({ name, dataTypeID }) => [name, dataTypeID]));
  const reader = readers.get(columns) ?? writeReader(fields);
  readers.set(columns, reader);
  return reader;
}

/**
 * Reads rows of these columns, by a function that is written for them: a row that is filled name by
 * name finds its shape anew each time, which takes longer than all that is read. The names are those
 * that a statement of ours gives its columns, and nothing from outside is ever among them.
 */
function writeReader(fields: readonly Field[]): RowOf {
  const parsers = fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, "text"));
  const members = fields.map(
    ({ name }, at) =>
      `${JSON.stringify(name)}: texts[${at}] === null ? null : parsers[${at}](texts[${at}])`,
  );
  // oxlint-disable-next-line typescript/no-implied-eval
  const write = new Function("parsers", `return (texts) => ({${members.join()}});`);
  return write(parsers) as RowOf;
}

// The driver pipelines what it takes for its own kind of query. To become one by its constructor
// would cost a tenth of a run, for parts that a run has itself.
Object.setPrototypeOf(PreparedRun.prototype, pg.Query.prototype);
