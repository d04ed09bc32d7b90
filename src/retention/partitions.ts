// Makes the partitions of the coming months, and drops months that an operator no longer needs.

import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change } from "../kernel/actor.ts";
import { houseFirmId } from "../kernel/ids.ts";
import type { IstMonth } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import {
  addMonths,
  latestBefore,
  listBefore,
  listMissing,
  type MonthlyTable,
  monthlyTables,
  namePartition,
  readEnd,
  refuseEarly,
  refuseUnfinished,
  startMonth,
} from "./rules.ts";
import {
  countRows,
  countUnfinished,
  createPartition,
  dropPartition,
  listPartitions,
  lockPartitions,
  lockTable,
  type Partition,
} from "./store.ts";

type Ctx = Pick<Context, "db" | "now">;

/** Makes partitions ahead, each in its own transaction, and drops those that go by themselves. */
export async function makePartitions(ctx: Ctx): Promise<"idle"> {
  for (const monthly of monthlyTables) {
    if (monthly.goesByItself) {
      const before = latestBefore(monthly, ctx.now());
      await dropMonths(ctx, { table: monthly, before, dryRun: false }, worker);
    }
    for (const month of await findMissing(ctx, monthly)) {
      await ctx.db.transaction(async (tx) => {
        await lockPartitions(tx);
        const partitions = await listPartitions(tx, [monthly.name]);
        const names = partitions.map(({ name }) => name);
        if (!listMissing(monthly, names, ctx.now()).includes(month)) return; // Another process did.
        await createPartition(tx, {
          table: monthly.name,
          key: monthly.key,
          name: namePartition(monthly.name, month),
          fillfactor: monthly.fillfactor,
          from: monthly.bound(startMonth(month)),
          to: monthly.bound(startMonth(addMonths(month, 1))),
        });
      });
    }
  }
  return "idle";
}

const worker: Actor = { kind: "worker", id: "partitions", requestId: null };

async function findMissing({ db, now }: Ctx, monthly: MonthlyTable): Promise<IstMonth[]> {
  const partitions = await listPartitions(db, [monthly.name]);
  return listMissing(
    monthly,
    partitions.map(({ name }) => name),
    now(),
  );
}

type KeptMonth = {
  readonly table: string;
  readonly partition: string;
  /** The month from which it holds nothing more; null for what has no partition of its own yet. */
  readonly until: IstMonth | null;
  readonly bytes: number;
  /** Whether it may be dropped now. */
  readonly droppable: boolean;
};

export async function listMonths({ db, now }: Ctx): Promise<KeptMonth[]> {
  const tables = monthlyTables.map(({ name }) => name);
  const partitions = await listPartitions(db, tables);
  return monthlyTables.flatMap((monthly) =>
    partitions
      .filter(({ parent }) => parent === monthly.name)
      .map(({ name, bytes }) => {
        const until = readEnd(monthly.name, name) ?? null;
        const droppable = until !== null && until <= latestBefore(monthly, now());
        return { table: monthly.name, partition: name, until, bytes, droppable };
      }),
  );
}

type DropMonths = {
  readonly table: MonthlyTable;
  /** Everything before this month goes. */
  readonly before: IstMonth;
  readonly dryRun: boolean;
};

type DroppedMonth = {
  readonly partition: string;
  readonly rows: number;
  readonly bytes: number;
};

/**
 * Drops the months of a table before one, the oldest first, each in its own transaction with its audit
 * record, so that whoever is interrupted goes on where it was.
 */
export async function dropMonths(
  ctx: Ctx,
  { table: monthly, before, dryRun }: DropMonths,
  actor: Actor,
  onDropped: (dropped: DroppedMonth) => void = () => {},
): Promise<DroppedMonth[]> {
  refuseEarly(monthly, before, ctx.now());
  const partitions = await listPartitions(ctx.db, [monthly.name]);
  const names = listBefore(
    monthly,
    partitions.map(({ name }) => name),
    before,
  );
  const dropped: DroppedMonth[] = [];
  for (const partition of partitions.filter(({ name }) => names.includes(name))) {
    const one = await dropOne(ctx, partition, { monthly, dryRun, actor });
    if (!one) continue;
    dropped.push(one);
    onDropped(one);
  }
  return dropped;
}

const dropMsMax = 60_000;

async function dropOne(
  ctx: Ctx,
  { parent, name, bytes }: Partition,
  {
    monthly: { unfinished },
    dryRun,
    actor,
  }: { readonly monthly: MonthlyTable; readonly dryRun: boolean; readonly actor: Actor },
): Promise<DroppedMonth | undefined> {
  return await ctx.db.transaction(
    async (tx) => {
      await lockPartitions(tx);
      const partitions = await listPartitions(tx, [parent]);
      if (!partitions.some((one) => one.name === name)) return undefined; // Another process did.
      const dropped = { partition: name, rows: await countRows(tx, name), bytes };
      if (unfinished) {
        await lockTable(tx, parent);
        refuseUnfinished(name, await countUnfinished(tx, name, unfinished.where), unfinished.what);
      }
      await dropPartition(tx, name);
      await recordChanges(tx, actor, [describeDrop(parent, dropped)], ctx.now());
      return dropped;
    },
    { rollBack: dryRun, statementMs: dropMsMax },
  );
}

/** The house's own trail tells what was dropped. */
function describeDrop(table: string, dropped: DroppedMonth): Change {
  return {
    environment: "live",
    deskId: houseFirmId.live,
    firmId: houseFirmId.live,
    action: "retention.drop",
    entity: { type: "partition", id: dropped.partition, version: 1, href: "/ops/retention" },
    after: { table, ...dropped },
  };
}
