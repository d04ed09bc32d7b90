// Where orders come in: one queue per environment, in which single orders of all callers form sets.

import type { Call, Environment } from "../kernel/caller.ts";
import { coalesce } from "../platform/coalesce.ts";
import type { Context } from "../platform/context.ts";
import type { Metrics } from "../platform/metrics.ts";
import { isRefusedByServer } from "../platform/postgres.ts";
import type { Command } from "./decide-orders.ts";
import { type Placed, placeOrders } from "./place-orders.ts";
import type { Books } from "./workings.ts";

const setSizeMax = 256;
const queueMax = 10_000;

export type OrderDesk = {
  /** One order, together with those that arrive at the same time. */
  readonly place: (command: Command) => Promise<Placed>;
  /** Orders that arrived in one call, as a set of their own. */
  readonly placeAll: (call: Call, commands: readonly Command[]) => Promise<readonly Placed[]>;
};

export function orderDesk(
  ctx: Context,
  books: Books,
  { setSize }: Pick<Metrics, "setSize">,
): OrderDesk {
  const queueOf = (environment: Environment) =>
    coalesce<Command, Placed>(
      (commands) => placeOrders(ctx, books, { environment, rollBack: false }, commands),
      {
        setSizeMax,
        queueMax,
        mayRetry: isRefusedByServer,
        onSet: (size) => setSize.observe({ set: "orders" }, size),
      },
    );
  const queues = { live: queueOf("live"), sandbox: queueOf("sandbox") };

  async function placeAll({ caller, dryRun }: Call, commands: readonly Command[]) {
    const placing = { environment: caller.environment, rollBack: dryRun };
    return await placeOrders(ctx, books, placing, commands);
  }

  return {
    placeAll,
    async place(command) {
      const { call } = command;
      if (!call.dryRun) return await queues[call.caller.environment](command);
      const [placed] = await placeAll(call, [command]);
      if (!placed) throw new Error("a set answers every order once");
      return placed;
    },
  };
}
