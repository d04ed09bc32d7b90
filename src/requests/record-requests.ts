// Keeps what was answered to whom. Calls are noted in memory and written by the block, once a second:
// a crash loses the last second, and a database that does not answer loses what comes meanwhile. Whoever
// reads calls has those written first that its own process has noted.

import { newId } from "../kernel/ids.ts";
import { maskSecrets } from "../kernel/secrets.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace } from "../platform/heavy/pace.ts";
import type { App } from "../platform/http/server.ts";
import { type AnsweredCall, cutIntoBlocks, packBlock, toSecond } from "./rules.ts";
import { insertBlocks } from "./store.ts";

const pauseMs = 1_000;
/** About 20 MB. What comes beyond is not kept. */
const notedMax = 65_536;
const blocksPerStatement = 64;

export type Recorder = {
  note(call: AnsweredCall): void;
  /** Resolves when everything noted so far is written, or was given up. */
  write(): Promise<void>;
};

export function openRecorder({ db, now, log }: Pick<Context, "db" | "now" | "log">): Recorder {
  let noted: AnsweredCall[] = [];
  let left = 0;
  let writing = Promise.resolve();

  async function writeNoted(): Promise<void> {
    const [calls, leftOut] = [noted, left];
    [noted, left] = [[], 0];
    if (leftOut > 0) log.warn({ calls: leftOut }, "calls were answered and not kept");
    if (calls.length === 0) return;
    try {
      const blocks = cutIntoBlocks(calls);
      for (let at = 0; at < blocks.length; at += blocksPerStatement) {
        const some = blocks.slice(at, at + blocksPerStatement);
        await insertBlocks(db, await mapPaced(some, toRow, openPace()));
      }
    } catch (error) {
      log.warn({ err: error, calls: calls.length }, "calls were answered and not kept");
    }
  }

  function toRow(calls: readonly AnsweredCall[]) {
    const { caller, atMs } = calls[0] as AnsweredCall; // No block is empty.
    const { environment, deskId: desk_id } = caller;
    const second = new Date(toSecond(atMs));
    return { environment, desk_id, second, block_id: newId("rqb", now()), ...packBlock(calls) };
  }

  return {
    note(call) {
      if (noted.length < notedMax) noted.push(call);
      else left += 1;
    },
    write: () => (writing = writing.then(writeNoted)),
  };
}

/** Notes every answer to a valid key. */
export function recordRequests(app: App, recorder: Recorder, now: () => Date): void {
  app.addHook("onResponse", (request, reply, next) => {
    const { caller, refused, headers } = request;
    if (caller) {
      const durationMs = reply.elapsedTime;
      const key = headers["idempotency-key"];
      recorder.note({
        caller,
        method: request.method,
        label: request.declared.label,
        status: reply.statusCode,
        refused,
        requestId: request.id,
        isEchoed: headers["x-request-id"] === request.id,
        atMs: Math.floor(now().getTime() - durationMs),
        durationMs,
        idempotencyKey: typeof key === "string" ? maskSecrets(key.slice(0, 255)) : null,
        made: request.made ?? null,
      });
    }
    next();
  });
  const writing = setInterval(() => void recorder.write(), pauseMs).unref();
  app.addHook("onClose", async () => {
    clearInterval(writing);
    await recorder.write();
  });
}
