import assert from "node:assert/strict";
import { test } from "node:test";

import { startService } from "./support/service.ts";
import { settlingWorkers, worksOn } from "./support/turns.ts";

test("a worker that turns leave out has nothing to do while nobody made a thing of its kind", async (t) => {
  const workers = new Map((await startService(t)).workers().map((spec) => [spec.name, spec.work]));
  for (const name of Object.keys(worksOn)) {
    assert.equal(await workers.get(name)?.(), "idle", name);
  }
  const unknown = settlingWorkers.filter((name) => !workers.has(name));
  assert.deepEqual(unknown, [], "workers that there are take deals further");
});
