// The reasons of the document are those of the code.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { readReasons, reasonsFile, writeReasons } from "./support/refusal-reasons.ts";

test("the document names the reasons that the code refuses with, and no other", async () => {
  const read = readReasons();
  assert.equal(await readFile(reasonsFile, "utf8"), writeReasons(read));
  assert.deepEqual(read.unknown, [], "every reason is known before it is told");
  const told = new Set([...read.byOperation.values()].flat().map(({ reason }) => reason));
  assert.ok(told.has("quote_used"));
  const lost = [...read.everywhere].filter(
    ([reason]) => !told.has(reason) && !read.ofOperators.has(reason),
  );
  assert.deepEqual(lost, [], "every reason is told to a desk or to operators");
});
