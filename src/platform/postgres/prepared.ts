// Sends the statements of a list to the server in one piece, and reads their answers.
//
// A list is one `Submittable` of the driver: its statements are prepared under their names once on each
// connection, their columns are asked for on the first run only, and one message ends the list. So a
// list is one round trip. When a statement fails, the server skips those behind it; outside a
// transaction none of the list is kept then.
//
// Rows are read by a function compiled for their columns. The driver's own class, which describes each
// run and reads row by row, took 7 % more processor time for a `whoami` and 8 % more for a quote
// (decision statements).
//
// A long answer is read in pieces, because the event loop would otherwise read everything that the
// server has written to the socket in one turn.

import pg from "pg";

import { exactJson } from "../../kernel/json.ts";
import { readPaise } from "../../kernel/money.ts";
import { mapPaced, openPace, takePiece } from "../heavy/pace.ts";
import type { SqlStatement } from "./statement.ts";

type Texts = readonly (string | null)[];
type ReadRow = (texts: Texts) => Record<string, unknown>;

// Counts and single amounts fit a double by a constraint, sums may not. A day stays text, because a
// Date is an instant.
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

/** What a connection has of the statements that were prepared on it. */
type Prepared = {
  /** The readers of those that have been answered, by name. */
  readonly readers: Map<string, ReadRow>;
  /** Names of which nobody knows whether the server has them: their first run failed. */
  readonly doubtful: Set<string>;
};

const preparedOn = new WeakMap<pg.Connection, Prepared>();

function findPrepared(connection: pg.Connection): Prepared {
  const known = preparedOn.get(connection);
  if (known) return known;
  const prepared = { readers: new Map<string, ReadRow>(), doubtful: new Set<string>() };
  preparedOn.set(connection, prepared);
  return prepared;
}

/** Builds a statement when its turn comes; undefined when the step only does local work. */
export type ListStep = () => SqlStatement | undefined;

/** The rows of each step, in the order of the steps. */
export type ListAnswers = readonly (readonly unknown[])[];

const noRows: readonly unknown[] = [];

/** Runs the steps in one round trip; a list without a statement needs none. */
export async function runList(
  client: pg.ClientBase,
  steps: readonly ListStep[],
): Promise<ListAnswers> {
  const run = await send(client, steps, ListRun);
  return run ? run.answers() : steps.map(() => noRows);
}

/** Resolves when the answers have arrived; the function it gives reads the rows and needs no connection. */
export async function runLongList(
  client: pg.ClientBase,
  steps: readonly ListStep[],
): Promise<() => Promise<ListAnswers>> {
  const run = await send(client, steps, LongRun);
  return async () => (run ? await run.answersInPieces() : steps.map(() => noRows));
}

async function send<Run extends ListRun>(
  client: pg.ClientBase,
  steps: readonly ListStep[],
  form: new (steps: readonly ListStep[], first: FirstStatement) => Run,
): Promise<Run | undefined> {
  const first = findFirst(steps);
  if (!first) return undefined;
  const run = new form(steps, first);
  underWay.set(client, run);
  client.query(run);
  try {
    await run.ended;
  } finally {
    if (underWay.get(client) === run) underWay.delete(client);
  }
  return run;
}

const underWay = new WeakMap<pg.ClientBase, ListRun>();

/** How many answers the server owes to a connection; the end of a list is one where no other is left. */
export function countUnanswered(client: pg.ClientBase): number {
  const run = underWay.get(client);
  return run ? Math.max(run.unanswered, 1) : 0;
}

type FirstStatement = { readonly place: number; readonly statement: SqlStatement };

function findFirst(steps: readonly ListStep[]): FirstStatement | undefined {
  for (const [place, step] of steps.entries()) {
    const statement = step();
    if (statement) return { place, statement };
  }
  return undefined;
}

const failedIn = new WeakMap<Error, SqlStatement>();

/** The statement that an error came from. */
export function failedStatement(error: unknown): SqlStatement | undefined {
  return error instanceof Error ? failedIn.get(error) : undefined;
}

/** Beyond this number of bytes the server gets what is written of a list, and works on it meanwhile. */
const writtenMax = 8_192;

type SentStatement = {
  readonly statement: SqlStatement;
  readonly texts: Texts[];
  readRow: ReadRow | undefined;
};

/** The driver calls `submit` to send the list, and the handlers as the server answers. */
class ListRun implements pg.Submittable {
  readonly #steps: readonly ListStep[];
  readonly #first: FirstStatement;
  /** By the places of the steps; undefined for those without a statement. */
  readonly #byStep: (SentStatement | undefined)[] = [];
  readonly #sent: SentStatement[] = [];
  readonly #parsed = new Set<string>();
  readonly #end = Promise.withResolvers<void>();
  #prepared: Prepared | undefined;
  #answered = 0;
  /** What ended the list while it was built. */
  #fault: { readonly error: unknown } | undefined;

  constructor(steps: readonly ListStep[], first: FirstStatement) {
    this.#steps = steps;
    this.#first = first;
  }

  get ended(): Promise<void> {
    return this.#end.promise;
  }

  get unanswered(): number {
    return this.#sent.length - this.#answered;
  }

  submit(connection: pg.Connection): void {
    this.#prepared = findPrepared(connection);
    const { stream } = connection;
    stream.cork();
    try {
      for (const [place, step] of this.#steps.entries()) {
        if (place < this.#first.place) this.#byStep.push(undefined);
        else {
          const isFirst = place === this.#first.place;
          const statement = isFirst ? this.#first.statement : step();
          this.#byStep.push(statement && this.#send(connection, statement));
        }
        if (stream.writableLength < writtenMax) continue;
        stream.uncork();
        stream.cork();
      }
    } catch (error) {
      this.#fault = { error };
    }
    connection.sync();
    stream.uncork();
  }

  #send(connection: pg.Connection, statement: SqlStatement): SentStatement {
    const { name, text } = statement;
    const { readers, doubtful } = this.#known();
    const values = [...statement.values];
    const sent: SentStatement = { statement, texts: [], readRow: readers.get(name) };
    if (!sent.readRow && !this.#parsed.has(name)) {
      if (doubtful.delete(name)) connection.close({ type: "S", name }, true);
      connection.parse({ name, text, types: [] }, true);
      if (name) this.#parsed.add(name); // Without a name it is parsed each time.
    }
    connection.bind({ statement: name, values }, true);
    if (!sent.readRow) connection.describe({ type: "P" }, true);
    connection.execute(null, true);
    this.#sent.push(sent);
    return sent;
  }

  #known(): Prepared {
    if (!this.#prepared) throw new Error("a list that was not sent has no answer");
    return this.#prepared;
  }

  #current(): SentStatement {
    const sent = this.#sent[this.#answered];
    if (!sent) throw new Error("the server answers statements that were sent");
    return sent;
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.#current().readRow = findReader(fields);
  }

  handleDataRow({ fields }: { fields: Texts }): void {
    this.#current().texts.push(fields);
  }

  handleCommandComplete(): void {
    const sent = this.#current();
    // A statement that answers with no rows has named no columns.
    sent.readRow ??= findReader([]);
    if (sent.statement.name) this.#known().readers.set(sent.statement.name, sent.readRow);
    this.#answered += 1;
  }

  handleReadyForQuery(): void {
    if (this.#fault) this.#end.reject(this.#fault.error);
    else this.#end.resolve();
  }

  handleError(error: Error): void {
    const { statement } = this.#sent[this.#answered] ?? this.#sent.at(-1) ?? this.#first;
    // The stack of the driver says nothing about the caller.
    Error.captureStackTrace(error);
    failedIn.set(error, statement);
    if (this.#prepared) {
      const { readers, doubtful } = this.#prepared;
      for (const name of this.#parsed) if (!readers.has(name)) doubtful.add(name);
    }
    this.#end.reject(this.#fault?.error ?? error);
  }

  answers(): ListAnswers {
    return this.#byStep.map((sent) => (sent?.readRow ? sent.texts.map(sent.readRow) : noRows));
  }

  async answersInPieces(): Promise<ListAnswers> {
    const rows = this.#byStep.reduce((sum, sent) => sum + (sent?.texts.length ?? 0), 0);
    if (rows <= shortMax) return this.answers();
    const pace = openPace();
    await pace.turn();
    const answers: (readonly unknown[])[] = [];
    for (const sent of this.#byStep) {
      answers.push(sent?.readRow ? await mapPaced(sent.texts, sent.readRow, pace) : noRows);
    }
    return answers;
  }
}

/** An answer of at most this many rows is not read in pieces. */
const shortMax = 100;

/** Reads one chunk of its socket in each turn of the event loop, after the first `shortMax` rows. */
class LongRun extends ListRun {
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

  override handleReadyForQuery(): void {
    super.handleReadyForQuery();
    this.#letOthers();
  }

  override handleError(error: Error): void {
    super.handleError(error);
    this.#letOthers();
  }

  /** The next answer on the connection belongs to another list. */
  #letOthers(): void {
    this.#isOver = true;
    this.#stream?.resume();
  }
}

type Field = { readonly name: string; readonly dataTypeID: number };

/** Compiled readers by columns, shared by all connections. */
const readers = new Map<string, ReadRow>();

function findReader(fields: readonly Field[]): ReadRow {
  const columns = exactJson(fields.map(({ name, dataTypeID }) => [name, dataTypeID]));
  const reader = readers.get(columns) ?? writeReader(fields);
  readers.set(columns, reader);
  return reader;
}

/**
 * Compiles a function that reads rows of these columns as an object literal; assigning one property
 * after another takes longer than reading the values. Column names come from our own statements, never
 * from a caller.
 */
function writeReader(fields: readonly Field[]): ReadRow {
  const parsers = fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, "text"));
  const members = fields.map(
    ({ name }, at) =>
      `${exactJson(name)}: texts[${at}] === null ? null : parsers[${at}](texts[${at}])`,
  );
  // oxlint-disable-next-line typescript/no-implied-eval
  const write = new Function("parsers", `return (texts) => ({${members.join()}});`);
  return write(parsers) as ReadRow;
}
