// Connections at hand. The driver's pool opens and ends them and lets callers wait when there are too
// many; to take one from it and give it back costs a third of a short statement. A few that are not in
// use therefore stay here, as far as the pool knows in use, and are lent without asking it.

import type pg from "pg";

export type Connections = {
  /** At once where one is at hand. */
  lend(): pg.PoolClient | Promise<pg.PoolClient>;
  /** One that may not be used again is ended. */
  giveBack(client: pg.PoolClient, broken?: Error): void;
  count(): ConnectionCount;
  close(): Promise<void>;
};

export type ConnectionCount = {
  readonly idle: number;
  readonly busy: number;
  /** Callers that wait for one. */
  readonly waiting: number;
};

export function keepConnections(
  pool: pg.Pool,
  { most, onIdleError }: { readonly most: number; readonly onIdleError: (error: Error) => void },
): Connections {
  const atHand: pg.PoolClient[] = [];
  const lost = new WeakSet<pg.PoolClient>();

  function giveBack(client: pg.PoolClient, broken?: Error): void {
    const isWanted = pool.ending || pool.waitingCount > 0;
    const isUsable = !broken && !lost.has(client);
    if (isUsable && !isWanted && atHand.length < most) atHand.push(client);
    else client.release(broken);
  }

  /** One in use is ended when it is given back; its statement fails, unless it was answered already. */
  function forget(client: pg.PoolClient, error: Error): void {
    lost.add(client);
    const place = atHand.indexOf(client);
    if (place < 0) return;
    atHand.splice(place, 1);
    client.release(error);
    onIdleError(error);
  }

  // Without a listener the error of a connection would end the process.
  pool.on("connect", (client) => client.on("error", (error) => forget(client, error)));
  // Of one that the pool itself has; when it goes while the pool is closing, that is no news.
  pool.on("error", (error) => {
    if (!pool.ending) onIdleError(error);
  });

  return {
    lend: () => atHand.pop() ?? pool.connect(),
    giveBack,
    count() {
      const idle = pool.idleCount + atHand.length;
      return { idle, busy: pool.totalCount - idle, waiting: pool.waitingCount };
    },
    async close() {
      const ended = pool.end();
      for (const client of atHand.splice(0)) client.release();
      await ended;
    },
  };
}
