import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import {
  cutBlock,
  cutIntoBlocks,
  deliveriesPerBlockMax,
  packDelivered,
  readDelivered,
} from "./block-rules.ts";

const delivered = fc.record(
  {
    deliveryId: fc
      .string({
        unit: fc.constantFrom(...Array.from({ length: 16 }, (_, digit) => digit.toString(16))),
        minLength: 26,
        maxLength: 26,
      })
      .map((digits) => `dlv_${digits}`),
    sequence: fc.nat(),
    at: fc.date({ noInvalidDate: true }),
    durationMs: fc.nat(10_000),
    status: fc.integer({ min: 200, max: 299 }),
    answer: fc.string({ unit: "binary", maxLength: 512 }),
  },
  { noNullPrototype: true },
);

test("what a block says of its deliveries is read as it was written", () => {
  fc.assert(
    fc.property(fc.array(delivered, { maxLength: deliveriesPerBlockMax }), (list) => {
      assert.deepEqual(readDelivered(packDelivered(list)), list);
    }),
  );
});

test("blocks hold what is wanted in its order, and none is empty or too long", () => {
  fc.assert(
    fc.property(fc.array(fc.nat()), (wanted) => {
      const blocks = cutIntoBlocks(wanted);
      assert.deepEqual(blocks.flat(), wanted);
      for (const { length } of blocks) assert.ok(length >= 1 && length <= deliveriesPerBlockMax);
    }),
  );
});

test("a cut takes the next ones that can be read and have room, and loses none", () => {
  const block = fc.uniqueArray(fc.nat(), { minLength: 1, maxLength: deliveriesPerBlockMax });
  fc.assert(
    fc.property(
      block,
      fc.integer({ min: 1, max: 32 }),
      fc.func(fc.boolean()),
      (sequences, room, choose) => {
        const isReadable = (sequence: number) => choose(sequence);
        const { taken, rest, sent } = cutBlock(sequences, room, isReadable);
        assert.deepEqual([...taken, ...rest], sequences);
        assert.ok(taken.length >= 1 && taken.length <= room);
        assert.ok(!sent || taken.every(isReadable), "only what can be read is sent");
        assert.ok(sent || (taken.length === 1 && !isReadable(taken[0]!)), "it is put aside alone");
        const isCutShort = taken.length < room && rest.length > 0;
        if (sent && isCutShort) assert.ok(!isReadable(rest[0]!), "as many as can be");
      },
    ),
  );
});
