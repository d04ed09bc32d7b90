// Reads that may be answered by a standby (`DATABASE_READ_URL`): exports, statements and history. They
// are as fresh there as at the primary: the primary says how far its log is, and the standby is read
// once it has replayed that much. Whoever reads after a write therefore finds it.
//
//   replica   the standby had caught up, and answered
//   behind    it had not caught up after a moment: the primary is read
//   failed    it could not be asked, or broke off: the primary is read, and the standby left alone for
//             a few seconds
//
// Nothing is refused because of the standby.

import { setTimeout as sleep } from "node:timers/promises";

import type pg from "pg";

import type { Environment } from "../../kernel/caller.ts";
import { Failure } from "../../kernel/failure.ts";
import { NobodyWaits } from "../heavy/kinds.ts";
import { type Database, type Db, openDatabase, sql } from "./postgres.ts";

const outcomes = ["replica", "behind", "failed"] as const;
type ReplicaOutcome = (typeof outcomes)[number];

export type Replica = {
  /** Reads at the standby if it has what the primary has, otherwise at the primary. */
  read<Result>(primary: Database, work: (db: Database) => Promise<Result>): Promise<Result>;
  for(environment: Environment): Replica;
  /** How many reads ended how. */
  counts(): Readonly<Record<ReplicaOutcome, number>>;
  close(): Promise<void>;
};

const waitMsMax = 300;
const pollMs = 15;
const restMs = 5_000;

type WalPosition = { readonly cluster: string; readonly database: string; readonly lsn: string };

export function openReplica(standby: Database, onFailed: (error: unknown) => void): Replica {
  const counts = { replica: 0, behind: 0, failed: 0 };
  let restsUntilMs = 0;

  function noteFailed(error: unknown): void {
    counts.failed += 1;
    if (performance.now() >= restsUntilMs) onFailed(error);
    restsUntilMs = performance.now() + restMs;
  }

  /** The standby if it may be read now. */
  async function choose(primary: Database, db: Database): Promise<Database | undefined> {
    if (performance.now() < restsUntilMs) {
      counts.failed += 1;
      return undefined;
    }
    const position = await findPosition(primary);
    try {
      if (await hasReached(db, position)) return db;
      counts.behind += 1;
    } catch (error) {
      noteFailed(error);
    }
    return undefined;
  }

  const on = (db: Database): Replica => ({
    async read(primary, work) {
      const chosen = await choose(primary, db);
      if (!chosen) return await work(primary);
      try {
        const result = await work(chosen);
        counts.replica += 1;
        return result;
      } catch (error) {
        // What the standby says of the caller's request holds; it has what the primary had.
        if (error instanceof Failure || error instanceof NobodyWaits) throw error;
        noteFailed(error);
        return await work(primary);
      }
    },
    for: (environment) => views[environment],
    counts: () => ({ ...counts }),
    close: () => standby.close(),
  });
  const views = { live: on(standby), sandbox: on(standby.for("sandbox")) };
  return views.live;
}

/** The same context for reads that a standby may answer. */
export async function readAtReplica<
  Ctx extends { readonly db: Database; readonly replica?: Replica | undefined },
  Result,
>(ctx: Ctx, work: (ctx: Ctx) => Promise<Result>): Promise<Result> {
  if (!ctx.replica) return await work(ctx);
  return await ctx.replica.read(ctx.db, (db) => work({ ...ctx, db }));
}

/** Whether a server is the primary, or a standby of it; false for the database of another cluster. */
export async function followsPrimary(standby: pg.ClientConfig, primary: Db): Promise<boolean> {
  // Without the role of the service, which another cluster may not have.
  const db = openDatabase({ connection: standby, connectionsMax: 2, onIdleError() {} });
  try {
    const [own, other] = [await findPosition(primary), await findPosition(db)];
    return own.cluster === other.cluster && own.database === other.database;
  } finally {
    await db.close();
  }
}

async function hasReached(standby: Db, asked: WalPosition): Promise<boolean> {
  const endMs = performance.now() + waitMsMax;
  const late = sleep(waitMsMax, "late" as const, { ref: false });
  for (;;) {
    // A standby that is silent is not waited for longer than one that is behind.
    const asking = findPosition(standby);
    asking.catch(() => {}); // Nobody waits for it any more when it is late.
    const found = await Promise.race([asking, late]);
    if (found === "late") return false;
    if (found.cluster !== asked.cluster || found.database !== asked.database) {
      throw new Error("DATABASE_READ_URL is not a standby of DATABASE_URL");
    }
    if (isAtLeast(found.lsn, asked.lsn)) return true;
    if (performance.now() >= endMs) return false;
    await sleep(pollMs, undefined, { ref: false });
  }
}

async function findPosition(db: Db): Promise<WalPosition> {
  const [position] = await db.rows<WalPosition>(sql`
    select
      system_identifier::text as cluster,
      current_database()::text as database,
      case
        when pg_is_in_recovery() then pg_last_wal_replay_lsn()
        else pg_current_wal_flush_lsn()
      end::text as lsn
    from pg_control_system()`);
  if (!position) throw new Error("the server says where its log is");
  return position;
}

/** Positions are written as two hexadecimal numbers, the upper and the lower half. */
function isAtLeast(lsn: string, other: string): boolean {
  return readLsn(lsn) >= readLsn(other);
}

function readLsn(lsn: string): bigint {
  const [upper = "0", lower = "0"] = lsn.split("/");
  return (BigInt(`0x${upper}`) << 32n) + BigInt(`0x${lower}`);
}
