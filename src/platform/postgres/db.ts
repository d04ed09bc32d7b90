// Runs queries on a connection. The statements of a query are sent together; a transaction runs one
// query at a time.

import type pg from "pg";

import { runList, runLongList } from "./prepared.ts";
import { all, type Queries, type Query, query, type Results } from "./query.ts";
import type { SqlStatement } from "./statement.ts";

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

export async function runTogether<Result>(
  client: pg.ClientBase,
  { steps, read }: Query<Result>,
): Promise<Result> {
  return read(await runList(client, steps));
}

/**
 * The same for many rows. The returned function decodes them in pieces; the connection can go back to
 * the pool before that.
 */
export async function runLongTogether<Result>(
  client: pg.ClientBase,
  { steps, read }: Query<Result>,
): Promise<() => Promise<Result>> {
  const answers = await runLongList(client, steps);
  return async () => read(await answers());
}

/** A transaction on its connection. It begins with its first list and runs one list at a time. */
export type OpenTransaction = Db & {
  /** Commits or rolls back what was begun. */
  end(how: SqlStatement): Promise<void>;
  assertIdle(): void;
};

export function openTransaction(
  client: pg.PoolClient,
  begin: readonly SqlStatement[],
): OpenTransaction {
  let isUnderWay = false;
  let unsent = begin.map((statement) => () => statement);
  function assertIdle(): void {
    if (isUnderWay)
      throw new Error("a transaction was asked before its last answer was waited for");
  }
  return {
    ...toDb(async ({ steps, read }) => {
      assertIdle();
      isUnderWay = true;
      try {
        const first = unsent.length;
        const begun = [...unsent, ...steps];
        unsent = [];
        return read((await runList(client, begun)).slice(first));
      } finally {
        isUnderWay = false;
      }
    }),
    assertIdle,
    async end(how) {
      if (unsent.length === 0) await runList(client, [() => how]);
    },
  };
}
