// A query is one or several statements and how their rows are read. It is a value: it runs when a
// database or a transaction is given it, and its caller waits for it there. Queries that need nothing
// of each other are handed over as a list and travel together:
//
//   const [firms, spent] = await tx.pipeline([findFirms(ids), findSpent(keys)]);
//
// The server runs the statements of a list in its order, one after another, and works on one while
// the next is made. Where one must run behind another for its answer to be right, say so:
// `tx.pipelineBehind(lock, [...])`.

import type { Statement } from "./statement.ts";

/** Makes what is to be sent when its turn comes, or only does work of this process. */
type Step = () => Statement | undefined;

/** The rows that each step was answered with, in the order of the steps. */
type Answers = readonly (readonly unknown[])[];

export class Query<Result> {
  readonly steps: readonly Step[];
  /** What the answers mean; throws where they cannot be. */
  readonly read: (answers: Answers) => Result;

  constructor(steps: readonly Step[], read: (answers: Answers) => Result) {
    this.steps = steps;
    this.read = read;
  }

  map<Other>(turn: (result: Result) => Other): Query<Other> {
    return new Query(this.steps, (answers) => turn(this.read(answers)));
  }
}

/** The rows that a statement answers with. */
export function query<Row>(statement: Statement): Query<Row[]> {
  // Whoever wrote the statement knows its columns.
  return new Query([() => statement], ([rows]) => rows as Row[]);
}

/** A statement whose answer is that it was done. */
export function command(statement: Statement): Query<void> {
  return new Query([() => statement], () => undefined);
}

/** What is known without asking. */
export function known<Result>(result: Result): Query<Result> {
  return new Query([], () => result);
}

/** Work of this process that is done while the server works on what was sent before it. */
export function meanwhile<Result>(work: () => Result): Query<Result> {
  let done: { readonly result: Result } | undefined;
  const step = () => {
    done = { result: work() };
    return undefined;
  };
  return new Query([step], () => {
    if (!done) throw new Error("what is read was done before");
    return done.result;
  });
}

/** A query of one statement that takes a while to make: it is made when its turn comes. */
export function later<Result>(make: () => Query<Result>): Query<Result> {
  const made = meanwhile(make);
  const step = () => {
    made.steps.forEach((begin) => begin());
    const [only, ...others] = made.read([]).steps;
    if (!only || others.length > 0) throw new Error("what is made later is one statement");
    return only();
  };
  return new Query([step], (answers) => made.read([]).read(answers));
}

export type Queries = readonly Query<unknown>[];

export type Results<Asked extends Queries> = {
  -readonly [At in keyof Asked]: Asked[At] extends Query<infer Result> ? Result : never;
};

/** Several as one, in their order. */
export function all<const Asked extends Queries>(asked: Asked): Query<Results<Asked>> {
  const steps = asked.flatMap((each) => each.steps);
  return new Query(steps, (answers) => {
    let from = 0;
    const results = asked.map((each) =>
      each.read(answers.slice(from, (from += each.steps.length))),
    );
    return results as Results<Asked>; // One for each, in its place.
  });
}
