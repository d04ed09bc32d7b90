// A block: some deliveries of one subscription, in the order of their events, that are leased, sent and
// recorded together.
//
//   waiting     the numbers of their events
//   delivered   their ids, and of each attempt its time, duration, status and answer, compressed
//
// What fails or takes long leaves its block and becomes a row of its own.

import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";

import { exactJson } from "../kernel/json.ts";

/** Half of what one receiver gets at a time: while one block is recorded, it is sent the next. */
export const deliveriesPerBlockMax = 16;

const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const idPrefix = "dlv_";
const idDigits = 26;

/** A delivery that its first attempt delivered. */
export type DeliveredOne = {
  readonly deliveryId: string;
  readonly sequence: number;
  readonly at: Date;
  readonly durationMs: number;
  readonly status: number;
  readonly answer: string;
};

/** The ids in hexadecimal digits, and all else. */
export type PackedDelivered = { readonly ids: string; readonly packed: Buffer };

type Columns = {
  readonly sequence: number[];
  readonly at: number[];
  readonly ms: number[];
  readonly status: number[];
  readonly answer: string[];
};

/** Packs columns: their values are alike, and so shrink more than rows do. */
export function packDelivered(delivered: readonly DeliveredOne[]): PackedDelivered {
  const columns: Columns = {
    sequence: delivered.map(({ sequence }) => sequence),
    at: delivered.map(({ at }) => at.getTime()),
    ms: delivered.map(({ durationMs }) => durationMs),
    status: delivered.map(({ status }) => status),
    answer: delivered.map(({ answer }) => answer),
  };
  return {
    ids: delivered.map(({ deliveryId }) => deliveryId.slice(idPrefix.length)).join(""),
    packed: zstdCompressSync(exactJson(columns), compression),
  };
}

export function readDelivered({ ids, packed }: PackedDelivered): DeliveredOne[] {
  const columns = JSON.parse(zstdDecompressSync(packed).toString()) as Columns;
  return columns.sequence.map((sequence, place) => ({
    deliveryId: idPrefix + ids.slice(place * idDigits, (place + 1) * idDigits),
    sequence,
    at: new Date(columns.at[place] ?? 0),
    durationMs: columns.ms[place] ?? 0,
    status: columns.status[place] ?? 0,
    answer: columns.answer[place] ?? "",
  }));
}

/** Cuts the events that a subscription wants into blocks. */
export function cutIntoBlocks<Wanted>(wanted: readonly Wanted[]): Wanted[][] {
  const blocks: Wanted[][] = [];
  for (let from = 0; from < wanted.length; from += deliveriesPerBlockMax) {
    blocks.push(wanted.slice(from, from + deliveriesPerBlockMax));
  }
  return blocks;
}

/**
 * The part of a waiting block that is sent now. It is cut where there is no more room, and before an
 * event that cannot be read; an unreadable one in front is put aside alone, so that it holds up nothing.
 */
export function cutBlock(
  sequences: readonly number[],
  room: number,
  isReadable: (sequence: number) => boolean,
): { readonly taken: readonly number[]; readonly rest: readonly number[]; readonly sent: boolean } {
  const unreadable = sequences.findIndex((sequence) => !isReadable(sequence));
  const sent = unreadable !== 0;
  const readable = unreadable === -1 ? sequences.length : unreadable;
  const count = sent ? Math.min(readable, room) : 1;
  return { taken: sequences.slice(0, count), rest: sequences.slice(count), sent };
}
