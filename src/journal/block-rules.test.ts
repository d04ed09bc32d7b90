import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";

import fc from "fast-check";

import {
  blockForm,
  hashPart,
  type Head,
  linkAfter,
  readRecord,
  startOfChain,
  writeBlockRecord,
} from "./audit-rules.ts";
import {
  type Block,
  BrokenBlock,
  chainBlock,
  findTrace,
  entityKey,
  packRecords,
  readBlock,
  type RecordDraft,
  recordsPerBlockMax,
  toLink,
  writeBlock,
} from "./block-rules.ts";
import { joinEvent, writeEvent } from "./event-rules.ts";
import { chainFormerBlock } from "./former-form.ts";
import { newId } from "../kernel/ids.ts";

const now = new Date("2026-11-15T09:15:00Z");
const desk = { environment: "live", desk_id: "frm_00000000000000000000000001" } as const;

const at_text = "2026-11-15T14:45:00.000000+05:30";

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom('","sequence":9,"', "two\nlines", '"', "\\", "आशा \u2028"),
);

/** A record as it is drafted, with an event or without. */
const draft = fc
  .record({
    actor: text,
    action: text,
    entity: text,
    told: fc.boolean(),
    traceparent: fc.constantFrom(null, "00-a-b-01", "00-c-d-00"),
    data: fc.dictionary(text, text),
  })
  .map(({ actor, action, entity, told, data, traceparent }): RecordDraft => {
    const record = writeBlockRecord({
      record_id: newId("aud", now),
      actor_kind: "operator",
      actor_id: actor,
      request_id: null,
      action,
      entity_type: "thing",
      entity_id: entity,
      entity_version: 1,
      ...(told ? {} : { after_hash: null }),
    });
    const change = {
      environment: desk.environment,
      deskId: desk.desk_id,
      firmId: actor,
      action,
      entity: { type: "thing", id: entity, version: 1, href: "/" },
      before: null,
      after: null,
    };
    const written = writeEvent({
      eventId: newId("evt", now),
      change,
      event: { name: action, from: null, to: null, data: { sequence: entity, ...data } },
      requestId: actor,
      createdAt: "2026-11-15T14:45:00.000+05:30",
    });
    return {
      text: record,
      action,
      entityType: "thing",
      entityId: entity,
      actorId: actor,
      event: told ? { ...written, firmId: actor } : null,
      traceparent,
    };
  });

/** How a block is chained in each form. */
const chains = [chainBlock, chainFormerBlock];

/** The blocks of these records as they are stored after a head. */
function store(
  records: readonly RecordDraft[],
  head: Head,
  first: number,
  chain = chainBlock,
): Block[] {
  let [last, next] = [head, first];
  return packRecords(records, at_text).map((packed) => {
    const place = { ...desk, head: last, next };
    const { head: end, hash, hashes, ...chained } = chain(packed, place);
    last = end;
    next += packed.events;
    return { ...desk, ...chained, last_seq: end.seq, hashes: hash ?? hashes ?? "", at_text };
  });
}

/** The end of a block behind a head, hashed again from what is read of it. */
function hashAgain(block: Block, before: Head): Head {
  const records = readBlock(block);
  if (block.form === blockForm) {
    const { part } = writeBlock(block, records, before.hash);
    return { seq: block.last_seq, hash: hashPart(part) };
  }
  return records.reduce((last, record) => linkAfter(last, toLink(block, record)), before);
}

const lastHash = ({ hashes }: Block) => hashes.slice(-64);

test("a block is read as the records, events and hashes that were written, byte for byte", () => {
  fc.assert(
    fc.property(
      fc.array(draft, { minLength: 1, maxLength: 12 }),
      fc.nat(1_000_000),
      fc.nat(1_000_000),
      fc.constantFrom(...chains),
      (records, seq, sequence, chain) => {
        const head = { seq, hash: "7".repeat(64) };
        let [last, next] = [head as Head, sequence + 1];
        for (const block of store(records, head, sequence + 1, chain)) {
          for (const found of readBlock(block)) {
            const written = records[found.seq - seq - 1] ?? assert.fail("it was written");
            const { at, ...others } = readRecord(found.text);
            assert.deepEqual({ at: null, ...others }, readRecord(written.text));
            assert.equal(at, block.form === blockForm ? null : at_text);
            const body = written.event ? joinEvent(written.event, next++) : undefined;
            assert.equal(found.event?.body, body);
          }
          last = hashAgain(block, last);
          assert.deepEqual(last, { seq: block.last_seq, hash: lastHash(block) });
        }
        assert.equal(last.seq, seq + records.length);
      },
    ),
  );
});

test("every event of a block has the trace of the request that made it, and takes no room without", () => {
  fc.assert(
    fc.property(fc.array(draft, { minLength: 1, maxLength: 12 }), (records) => {
      const [block] = packRecords(records, at_text);
      const told = records.filter(({ event }) => event !== null);
      const traces = told.map(({ traceparent }) => traceparent);
      const found = told.map((_, place) => findTrace(block?.traces ?? null, place));
      assert.deepEqual(found, traces);
      if (traces.every((trace) => trace === null)) assert.equal(block?.traces, null);
    }),
  );
});

test("a block of form 3 is exported as its header and records, each with one digest", () => {
  fc.assert(
    fc.property(fc.array(draft, { minLength: 1, maxLength: 12 }), (drafts) => {
      const head = { seq: 2, hash: "7".repeat(64) };
      const [block] = store(drafts, head, 7);
      assert.ok(block);
      const { part, lines } = writeBlock(block, readBlock(block), head.hash);
      const [header = "", ...content] = lines.trimEnd().split("\n");
      assert.equal(header, `${part},"hash":"${block.hashes}"}`);
      assert.equal(JSON.parse(header).content_hash, hashPart(`${content.join("\n")}\n`));
      for (const [place, line] of content.entries()) {
        const { text: written = "", event = null } = drafts[place] ?? {};
        const { event_hash, ...record } = JSON.parse(line);
        assert.deepEqual(record, JSON.parse(written));
        assert.equal(event_hash, event ? hashPart(`${event.head}${event.tail}`) : undefined);
        assert.equal("after_hash" in record, event === null);
      }
      const erased = zstdDecompressSync(block.packed)
        .toString()
        .split("\n")
        .map((line, at) => (at % 2 === 1 && line !== "" ? hashPart(line) : line));
      const left = { ...block, packed: zstdCompressSync(erased.join("\n")) };
      assert.deepEqual(writeBlock(left, readBlock(left), head.hash), { part, lines });
    }),
  );
});

test("a set of more records than a block holds makes several, with numbers that go on", () => {
  const [one] = fc.sample(draft, 1);
  assert.ok(one);
  const blocks = store(
    Array.from({ length: 600 }, () => one),
    startOfChain,
    1,
  );
  assert.deepEqual(
    blocks.map(({ first_seq, last_seq }) => [first_seq, last_seq]),
    [
      [1, recordsPerBlockMax],
      [recordsPerBlockMax + 1, 2 * recordsPerBlockMax],
      [2 * recordsPerBlockMax + 1, 600],
    ],
  );
});

test("a block with a byte changed is never read as if it were whole", () => {
  const records = fc.sample(draft, 8);
  for (const chain of chains) {
    const [block] = store(records, startOfChain, 1, chain);
    assert.ok(block);
    for (let at = 0; at < block.packed.length; at++) {
      const packed = Buffer.from(block.packed);
      packed[at] = (packed[at] ?? 0) ^ 1;
      assert.ok(isFound({ ...block, packed }) || isSame({ ...block, packed }, block), `byte ${at}`);
    }
  }
});

test("a record without its braces, which the hash of form 2 does not cover, is not read", () => {
  const [block] = store(fc.sample(draft, 1), startOfChain, 1, chainFormerBlock);
  assert.ok(block);
  const written = zstdDecompressSync(block.packed).toString();
  const end = written.indexOf("}\n");
  for (const changed of [
    `[${written.slice(1)}`,
    `${written.slice(0, end)}]${written.slice(end + 1)}`,
  ]) {
    assert.throws(() => readBlock({ ...block, packed: zstdCompressSync(changed) }), BrokenBlock);
  }
});

/** Whether a changed block cannot be read, or its records do not have their hashes. */
function isFound(block: Block): boolean {
  try {
    return hashAgain(block, startOfChain).hash !== lastHash(block);
  } catch (error) {
    assert.ok(error instanceof BrokenBlock);
    return true;
  }
}

/** A byte of the frame's head may change and mean the same. */
function isSame(changed: Block, block: Block): boolean {
  return JSON.stringify(readBlock(changed)) === JSON.stringify(readBlock(block));
}

test("things of one millisecond share few keys, in the order of their time", () => {
  const keys = Array.from({ length: 2_000 }, () => entityKey(newId("ord", now)));
  assert.ok(new Set(keys).size <= 32);
  const later = entityKey(newId("stl", new Date(now.getTime() + 1)));
  assert.ok(keys.every((key) => key < later && Number.isSafeInteger(key)));
  const others = ["RODTEP", "asha", "dlv_7zzzzzzzzzzzzzzzzzzzzzzzzz", ""].map(entityKey);
  assert.equal(new Set(others).size, 4);
  assert.ok(others.every((key) => Number.isSafeInteger(key) && key >= 0));
});
