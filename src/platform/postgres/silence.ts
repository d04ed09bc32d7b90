// Detects a server that has stopped answering. The server itself ends a slow statement with an error
// (statement_timeout), so a longer silence means that it has stopped or cannot be reached.
//
//   look      a few times a second, checks all connections in use; statements pay nothing for it
//   doubt     a connection was silent for most of the statement timeout: a probe connection is opened
//             and asks whether the server answers at all
//   lost      it was silent for longer than the timeout, and the probe has no answer or its list has no
//             statement left that the server may still work on: its socket is destroyed, and the
//             outcome, perhaps of a commit, is unknown
//   stalled   a connection was lost while the probe had no answer: callers are refused at once until
//             the probe is answered
//
// Silence is counted in looks and not in time, so a pause of this process is not taken for a silent
// server.

import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { countUnanswered } from "./prepared.ts";

export const looksPerSecond = 4;
const lookMs = 1_000 / looksPerSecond;
/** Added to the statement timeout, so that the server's own error can arrive first. */
const graceMs = 500;
const doubtShare = 0.75;
const probePauseMs = 250;
const probe = { text: "select 1", query_timeout: 5_000 };

/** The silence of one connection. */
export type Heard = {
  readonly client: pg.PoolClient;
  /** The number of looks that it may be silent for with each statement that it was sent. */
  patience: number;
  bytes: number;
  silent: number;
};

type SilenceOptions = {
  readonly server: pg.ClientConfig;
  /** The connections in use. */
  readonly lent: () => Iterable<Heard>;
  /** Called after every look. */
  readonly onLook: () => void;
  readonly onStalled: (isStalled: boolean) => void;
};

type Silence = {
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

function findSocket(client: pg.ClientBase): Socket {
  const stream = client instanceof pg.Client && client.connection.stream;
  if (!(stream instanceof Socket)) throw new Error("a client of the server has a socket");
  return stream;
}

export function startHearing(client: pg.PoolClient, statementMs: number): Heard {
  return { client, patience: patienceFor(statementMs), bytes: 0, silent: 0 };
}

export function patienceFor(statementMs: number): number {
  return Math.ceil((statementMs + graceMs) / lookMs);
}

/** The answers of a list may come together, after the last of them. */
function isOverdue({ client, patience, silent }: Heard): boolean {
  return silent > patience * countUnanswered(client);
}

/** Destroys the socket: open queries fail, and the backend ends when it notices. */
export function cut(client: pg.ClientBase): void {
  findSocket(client).destroy(new DatabaseSilent());
}

export function watchSilence({ server, lent, onLook, onStalled }: SilenceOptions): Silence {
  let probing: pg.Client | undefined;
  let isStalled = false;
  let isClosed = false;

  function look(): void {
    for (const heard of lent()) {
      const { bytesRead } = findSocket(heard.client);
      const isSilent = countUnanswered(heard.client) > 0 && bytesRead === heard.bytes;
      heard.bytes = bytesRead;
      heard.silent = isSilent ? heard.silent + 1 : 0;
      if (heard.silent % heard.patience === Math.floor(heard.patience * doubtShare)) void ask();
      if (heard.silent > heard.patience && (probing || isOverdue(heard))) lose(heard);
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
  client.on("error", () => {}); // The awaited call rejects with the same error.
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
