// Whether the server answers. It ends a statement that takes too long with an error; one that says
// nothing for longer than that has stopped, or cannot be reached.
//
//   look      a few times a second at all connections that are lent: a statement pays nothing for it
//   doubt     a connection has waited for most of what a statement may take: a connection of our own
//             asks whether the server answers anybody
//   lost      it has waited longer than a statement may take: it is cut, and what became of its
//             statement, a commit perhaps, is unknown
//   stalled   one was lost while nobody was answered: until our own connection is, callers are refused
//             at once instead of waiting as long
//
// Time is counted in looks: while this process stands still itself, nobody else has been silent.

import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

export const looksPerSecond = 4;
const lookMs = 1_000 / looksPerSecond;
/** Of the longest a statement may take: what is left for the server to say so. */
const graceMs = 500;
const doubtShare = 0.75;
const probePauseMs = 250;
const probe = { text: "select 1", query_timeout: 5_000 };

/** What is known of one connection. */
export type Heard = {
  readonly client: pg.PoolClient;
  /** So many looks it may be silent for. */
  patience: number;
  bytes: number;
  silent: number;
};

export type SilenceOptions = {
  readonly server: pg.ClientConfig;
  /** Those that are lent now. */
  readonly lent: () => Iterable<Heard>;
  /** Comes after every look. */
  readonly onLook: () => void;
  readonly onStalled: (isStalled: boolean) => void;
};

export type Silence = {
  isStalled(): boolean;
  /** The server did not take a connection in time. */
  noteUnreachable(): void;
  close(): void;
};

export class DatabaseSilent extends Error {
  constructor() {
    super("PostgreSQL does not answer");
  }
}

/** What the driver keeps of a connection, and its types leave out. */
type Driven = {
  readonly readyForQuery: boolean;
  readonly connection: { readonly stream: { readonly bytesRead: number; destroy(e: Error): void } };
};

const drivenBy = (client: pg.ClientBase) => client as unknown as Driven;

export function startHearing(client: pg.PoolClient, statementMs: number): Heard {
  return { client, patience: patienceFor(statementMs), bytes: 0, silent: 0 };
}

export function patienceFor(statementMs: number): number {
  return Math.ceil((statementMs + graceMs) / lookMs);
}

/** Whatever it was asked for fails, and the server's side of it ends when it notices. */
export function cut(client: pg.ClientBase): void {
  drivenBy(client).connection.stream.destroy(new DatabaseSilent());
}

export function watchSilence({ server, lent, onLook, onStalled }: SilenceOptions): Silence {
  let probing: pg.Client | undefined;
  let isStalled = false;
  let isClosed = false;

  function look(): void {
    for (const heard of lent()) {
      const { readyForQuery, connection } = drivenBy(heard.client);
      const { bytesRead } = connection.stream;
      const isSilent = !readyForQuery && bytesRead === heard.bytes;
      heard.bytes = bytesRead;
      heard.silent = isSilent ? heard.silent + 1 : 0;
      if (heard.silent === Math.floor(heard.patience * doubtShare)) void ask();
      if (heard.silent === heard.patience + 1) lose(heard);
    }
    onLook();
  }

  function lose({ client }: Heard): void {
    if (probing) stall();
    cut(client);
  }

  function stall(): void {
    if (isStalled) return;
    isStalled = true;
    onStalled(true);
  }

  async function ask(): Promise<void> {
    if (probing) return;
    for (;;) {
      probing = new pg.Client(server);
      if ((await answers(probing)) || isClosed) break;
      await sleep(probePauseMs, undefined, { ref: false });
    }
    probing = undefined;
    if (!isStalled) return;
    isStalled = false;
    if (!isClosed) onStalled(false);
  }

  const looking = setInterval(look, lookMs).unref();
  return {
    isStalled: () => isStalled,
    noteUnreachable() {
      void ask();
      stall();
    },
    close() {
      isClosed = true;
      clearInterval(looking);
      if (probing) cut(probing);
    },
  };
}

/** Whether a connection that has not been opened yet gets an answer. */
async function answers(client: pg.Client): Promise<boolean> {
  client.on("error", () => {}); // Whoever waits for it hears the same.
  try {
    await client.connect();
    await client.query(probe);
    void client.end();
    return true;
  } catch {
    cut(client);
    return false;
  }
}
