// Waits for an order's end: it rests no more, and each of its deals is settled, failed or reversed.

import { ScripdeskError } from "./errors.ts";
import type { CallOptions } from "./options.ts";
import type { Order, Settlement } from "./schemas.ts";
import { pause } from "./transport.ts";

export type WaitOptions = {
  /** Ends the wait; it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait; then it throws `timed_out`. Without it, as long as it takes. */
  readonly within_ms?: number | undefined;
  /** The first pause between two looks; it doubles up to 30 seconds. Default 1,000. */
  readonly poll_ms?: number | undefined;
};

export type SettledOrder = {
  readonly order: Order;
  /** All of its deals, in the order they were made; none where nothing was dealt. */
  readonly settlements: readonly Settlement[];
};

type Reads = {
  readOrder(orderId: string, options: CallOptions): Promise<Order>;
  readSettlement(settlementId: string, options: CallOptions): Promise<Settlement>;
};

const pollMsDefault = 1_000;
const pollMsMax = 30_000;
const ended: ReadonlySet<string> = new Set(["settled", "failed", "reversed"]);

export async function untilSettled(
  client: Reads,
  orderId: string,
  { signal, within_ms: withinMs = Infinity, poll_ms: pollMs = pollMsDefault }: WaitOptions,
): Promise<SettledOrder> {
  const began = performance.now();
  for (let pauseMs = pollMs; ; pauseMs = Math.min(pauseMs * 2, pollMsMax)) {
    const order = await client.readOrder(orderId, { signal });
    if (order.status !== "open") {
      const settlements: Settlement[] = [];
      for (const id of order.settlement_ids) {
        settlements.push(await client.readSettlement(id, { signal }));
      }
      if (settlements.every(({ status }) => ended.has(status))) return { order, settlements };
    }
    if (performance.now() - began + pauseMs > withinMs) {
      const message = `order ${orderId} is ${order.status} and not settled yet`;
      throw new ScripdeskError({ slug: "timed_out", message });
    }
    await pause(pauseMs, signal);
  }
}
