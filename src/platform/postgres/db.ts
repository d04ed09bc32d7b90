// Runs queries on a connection. The statements of a query are sent together; a transaction runs one
// query at a time.

import type pg from "pg";

import { type ListStep, runList, runLongList } from "./prepared.ts";
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

/**
 * A transaction on its connection. It begins with its first list and runs one list at a time. What is
 * deferred is sent before the next list, or with the end.
 */
export type OpenTransaction = Db & {
  defer(asked: Query<void>): void;
  /** Sends what was deferred, and the commit or the rollback of a dry run. */
  end(how: SqlStatement): Promise<void>;
  /** Rolls back what was sent. */
  abandon(how: SqlStatement): Promise<void>;
  assertIdle(): void;
};

export function openTransaction(
  client: pg.PoolClient,
  begin: readonly SqlStatement[],
): OpenTransaction {
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
