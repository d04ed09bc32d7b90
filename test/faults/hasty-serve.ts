// The service with one defect: it answers before what it did is committed. The control of the kills
// of the service, and of nothing else.

import { setTimeout as sleep } from "node:timers/promises";

import type { Database } from "../../src/platform/postgres/postgres.ts";
import { serveWith } from "./serve-with.ts";

const commitDelayMs = 250;

function makeHasty(db: Database): Database {
  return {
    ...db,
    for: (environment) => makeHasty(db.for(environment)),
    transaction: async (work, options) =>
      await new Promise((resolve, reject) => {
        db.transaction(async (tx) => {
          const result = await work(tx);
          resolve(result);
          await sleep(commitDelayMs);
          return result;
        }, options).catch(reject);
      }),
  };
}

await serveWith((ctx) => ({ ...ctx, db: makeHasty(ctx.db) }));
