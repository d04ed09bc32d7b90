// A query is one or more statements and a function that reads their rows. It is a value: it runs when
// it is passed to a database or a transaction, and is awaited there. Independent queries are passed
// as a list and sent together:
//
//   const [firms, spent] = await tx.pipeline([findFirms(ids), findSpent(keys)]);
//
// The server runs the statements of a list in order, and works on one while this process builds the
// next. Statements that are correct only under a lock say so: `tx.pipelineBehind(lock, [...])`.

import type { ListAnswers, ListStep } from "./prepared.ts";
import type { SqlStatement } from "./statement.ts";

export class Query<Result> {
  readonly steps: readonly ListStep[];
  /** Turns the rows into the result; throws when they are impossible. */
  readonly read: (answers: ListAnswers) => Result;

  constructor(steps: readonly ListStep[], read: (answers: ListAnswers) => Result) {
    this.steps = steps;
    this.read = read;
  }

  map<Other>(turn: (result: Result) => Other): Query<Other> {
    return new Query(this.steps, (answers) => turn(this.read(answers)));
  }
}

/** A query for the rows of one statement. */
export function query<Row>(statement: SqlStatement): Query<Row[]> {
  // The type of the rows is the caller's claim; nothing checks it at run time.
  return new Query([() => statement], ([rows]) => rows as Row[]);
}

/** A statement without rows. */
export function command(statement: SqlStatement): Query<void> {
  return new Query([() => statement], () => undefined);
}

/** A result that needs no statement. */
export function known<Result>(result: Result): Query<Result> {
  return new Query([], () => result);
}

/** Local work, done while the server runs the statements sent before it. */
export function meanwhile<Result>(work: () => Result): Query<Result> {
  let done: { readonly result: Result } | undefined;
  const step = () => {
    done = { result: work() };
    return undefined;
  };
  return new Query([step], () => {
    if (!done) throw new Error("the work of a step is done before its result is read");
    return done.result;
  });
}

/** A query of one statement that is costly to build: it is built when its turn comes. */
export function later<Result>(make: () => Query<Result>): Query<Result> {
  const made = meanwhile(make);
  const step = () => {
    made.steps.forEach((begin) => begin());
    const [only, ...others] = made.read([]).steps;
    if (!only || others.length > 0) throw new Error("a query that is built later is one statement");
    return only();
  };
  return new Query([step], (answers) => made.read([]).read(answers));
}

export type Queries = readonly Query<unknown>[];

export type Results<Asked extends Queries> = {
  -readonly [At in keyof Asked]: Asked[At] extends Query<infer Result> ? Result : never;
};

/** Joins queries into one, in their order. */
export function all<const Asked extends Queries>(asked: Asked): Query<Results<Asked>> {
  const steps = asked.flatMap((each) => each.steps);
  return new Query(steps, (answers) => {
    let from = 0;
    const results = asked.map((each) =>
      each.read(answers.slice(from, (from += each.steps.length))),
    );
    return results as Results<Asked>; // One result per query, in the same order.
  });
}
