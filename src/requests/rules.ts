// A block: the calls of one desk that came within one second, as far as one process had answered them
// when it was written. Its summary says how many calls there are of each key, route and answer, so that
// blocks are found and calls are counted without reading them; the rest of each call is packed by column.

import type { Caller, Environment } from "../kernel/caller.ts";
import { exactJson } from "../kernel/json.ts";

/** What many calls have in common. */
export type CallKind = {
  readonly key_id: string;
  readonly firm_id: string;
  readonly method: string;
  /** Null where there is no such route. */
  readonly route: string | null;
  readonly status: number;
  readonly code: string | null;
  readonly reason: string | null;
};

/** A call as it was answered. It is noted for every call, so it is made of what is at hand. */
export type AnsweredCall = {
  readonly caller: Caller;
  readonly method: string;
  /** As usage names it; undefined where there is no such route. */
  readonly label: string | undefined;
  readonly status: number;
  readonly refused: { readonly code: string; readonly reason: string | null } | undefined;
  readonly requestId: string;
  /** Whether the caller chose the id. */
  readonly isEchoed: boolean;
  readonly atMs: number;
  readonly durationMs: number;
  readonly idempotencyKey: string | null;
  readonly made: string | null;
};

/** The calls of one kind in a block. */
export type CallCount = CallKind & { readonly calls: number };

/** Of each call: its line in the summary, its id, its time within the second, and so on. */
type PackedCalls = {
  readonly line: number[];
  readonly id: string[];
  readonly ms: number[];
  readonly duration: number[];
  readonly key: (string | null)[];
  readonly made: (string | null)[];
};

export type CallBlock = {
  readonly environment: Environment;
  readonly desk_id: string;
  readonly second: Date;
  readonly summary: readonly CallCount[];
  readonly packed: string;
};

/** About a tenth of a millisecond of packing. */
const callsPerBlockMax = 256;

/** Cuts calls into blocks, each of one desk and one second, in the order in which they were answered. */
export function cutIntoBlocks(calls: readonly AnsweredCall[]): AnsweredCall[][] {
  const blocks: AnsweredCall[][] = [];
  const open = new Map<string, AnsweredCall[]>();
  for (const call of calls) {
    const place = `${call.caller.deskId} ${toSecond(call.atMs)}`;
    let block = open.get(place);
    if (!block || block.length === callsPerBlockMax) {
      block = [];
      open.set(place, block);
      blocks.push(block);
    }
    block.push(call);
  }
  return blocks;
}

/** Packs a block, and lists the ids that callers chose; null where there are none. */
export function packBlock(
  calls: readonly AnsweredCall[],
): Pick<CallBlock, "summary" | "packed"> & { readonly echoed: readonly string[] | null } {
  const lines = new Map<string, number>();
  const summary: CallCount[] = [];
  const columns: PackedCalls = { line: [], id: [], ms: [], duration: [], key: [], made: [] };
  for (const call of calls) {
    const { caller, method, label, status, refused } = call;
    const name = `${caller.keyId} ${label} ${status} ${refused?.code} ${refused?.reason}`;
    let line = lines.get(name);
    if (line === undefined) {
      lines.set(name, (line = summary.length));
      const route = label === undefined ? null : label.slice(method.length + 1);
      const { code = null, reason = null } = refused ?? {};
      const { keyId: key_id, firmId: firm_id } = caller;
      summary.push({ key_id, firm_id, method, route, status, code, reason, calls: 0 });
    }
    columns.line.push(line);
    columns.id.push(call.requestId);
    columns.ms.push(call.atMs % 1_000);
    columns.duration.push(Math.round(call.durationMs * 10) / 10);
    columns.key.push(call.idempotencyKey);
    columns.made.push(call.made);
  }
  const counts = countLines(columns.line, summary.length);
  const echoed = calls.filter(({ isEchoed }) => isEchoed).map(({ requestId }) => requestId);
  return {
    summary: summary.map((kind, line) => ({ ...kind, calls: counts[line] ?? 0 })),
    echoed: echoed.length > 0 ? [...new Set(echoed)] : null,
    packed: exactJson(columns),
  };
}

function countLines(lines: readonly number[], length: number): number[] {
  const counts = Array.from({ length }, () => 0);
  for (const line of lines) counts[line] = (counts[line] ?? 0) + 1;
  return counts;
}

export function toSecond(ms: number): number {
  return ms - (ms % 1_000);
}

export type KeptCall = CallKind &
  Pick<CallBlock, "environment" | "desk_id"> & {
    readonly request_id: string;
    readonly at: Date;
    readonly duration_ms: number;
    readonly idempotency_key: string | null;
    readonly made: string | null;
    /** Its place in its block. */
    readonly place: number;
  };

/** The calls of a block, the last first. */
export function readBlock({
  environment,
  desk_id,
  second,
  summary,
  packed,
}: CallBlock): KeptCall[] {
  const { line, id, ms, duration, key, made } = JSON.parse(packed) as PackedCalls;
  return id
    .map((request_id, place) => {
      const { calls: _calls, ...kind } = summary[line[place] ?? 0] as CallCount; // As it was packed.
      return {
        environment,
        desk_id,
        ...kind,
        request_id,
        at: new Date(second.getTime() + (ms[place] ?? 0)),
        duration_ms: duration[place] ?? 0,
        idempotency_key: key[place] ?? null,
        made: made[place] ?? null,
        place,
      };
    })
    .toReversed();
}

/** `POST /v1/orders`, or the path alone for every method. */
export function parseRoute(asked: string): Partial<Pick<CallKind, "method" | "route">> {
  const [first = "", route] = asked.split(" ");
  return route === undefined ? { route: first } : { method: first, route };
}

export function isOfKind(call: CallKind, wanted: Partial<CallKind>): boolean {
  return Object.entries(wanted).every(([name, value]) => call[name as keyof CallKind] === value);
}
