// Runs queries on a connection. The statements of a query are sent together; a transaction runs one
// query at a time.

import type pg from "pg";

import { runLong, runPrepared } from "./prepared.ts";
import { all, type Queries, type Query, query, type Results } from "./query.ts";
import type { SqlStatement } from "./statement.ts";

export type Db = {
  rows<Row>(statement: SqlStatement): Promise<Row[]>;
  run<Result>(asked: Query<Result>): Promise<Result>;
  /** Sends several queries together on one connection; outside a transaction each commits alone. */
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

/** Sends all statements at once and waits for every answer, also when one of them fails. */
async function sendAll<Answer>(
  { steps }: Query<unknown>,
  send: (statement: SqlStatement) => Promise<Answer>,
  none: Answer,
): Promise<Answer[]> {
  const sent: Promise<Answer>[] = [];
  try {
    for (const step of steps) {
      const statement = step();
      sent.push(statement ? send(statement) : Promise.resolve(none));
    }
    return await Promise.all(sent);
  } catch (error) {
    await Promise.allSettled(sent);
    throw error;
  }
}

export async function runTogether<Result>(
  client: pg.ClientBase,
  asked: Query<Result>,
): Promise<Result> {
  return asked.read(await sendAll(asked, (statement) => runPrepared(client, statement), []));
}

/**
 * The same for many rows. The returned function decodes them in pieces; the connection can go back to
 * the pool before that.
 */
export async function runLongTogether<Result>(
  client: pg.ClientBase,
  asked: Query<Result>,
): Promise<() => Promise<Result>> {
  const readers = await sendAll(
    asked,
    (statement) => runLong(client, statement),
    () => Promise.resolve<unknown[]>([]),
  );
  return async () => asked.read(await Promise.all(readers.map((read) => read())));
}

/** Runs one query at a time on the connection of a transaction. */
export function inTurn(client: pg.PoolClient): Db & { assertIdle(): void } {
  let isUnderWay = false;
  function assertIdle(): void {
    if (isUnderWay)
      throw new Error("a transaction was asked before its last answer was waited for");
  }
  return {
    ...toDb(async (asked) => {
      assertIdle();
      isUnderWay = true;
      try {
        return await runTogether(client, asked);
      } finally {
        isUnderWay = false;
      }
    }),
    assertIdle,
  };
}
