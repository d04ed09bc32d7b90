// A process that dies between any two steps: before each statement, and after each commit.

import assert from "node:assert/strict";

import type { Context } from "../../src/platform/context.ts";
import type { Tx } from "../../src/platform/postgres/postgres.ts";
import type { Service } from "./service.ts";

/** More than any work takes; a run that gets this far never ends. */
const stepsMax = 200;

export class Died extends Error {}

/** A context in which the process dies at a step: statements and commits are counted together. */
function dyingAt(ctx: Context, step: number) {
  let taken = 0;
  const take = () => {
    taken += 1;
    // Who is dead does nothing more.
    if (taken >= step) throw new Died(`at step ${step}`);
  };
  const { db } = ctx;
  const rows: Context["db"]["rows"] = async (statement) => {
    take();
    return await db.rows(statement);
  };
  const transaction: Context["db"]["transaction"] = async (work, options) => {
    const result = await db.transaction(async (tx) => {
      const dying: Tx = Object.assign(Object.create(tx) as Tx, {
        rows: async (statement: Parameters<Tx["rows"]>[0]) => {
          take();
          return await tx.rows(statement);
        },
      });
      return await work(dying);
    }, options);
    take();
    return result;
  };
  const dying = Object.assign(Object.create(db) as Context["db"], { rows, transaction });
  return { ctx: { ...ctx, db: dying }, hasDied: () => taken >= step };
}

/**
 * Runs work that dies at the first step, then at the second, until it lives; how often it died. Work that
 * sets aside what fails dies all the same.
 */
export async function dieAtEveryStep(
  service: Service,
  work: (ctx: Context) => Promise<unknown>,
  check: () => Promise<void>,
): Promise<number> {
  for (let step = 1; step < stepsMax; step++) {
    const { ctx, hasDied } = dyingAt(service.ctx, step);
    try {
      await work(ctx);
    } catch (error) {
      if (!(error instanceof Died)) throw error;
    }
    if (!hasDied()) return step - 1;
    await check();
  }
  return assert.fail("it never ends");
}
