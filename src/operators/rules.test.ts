import assert from "node:assert/strict";
import { test } from "node:test";

import { networksOfNeighbourhood } from "../kernel/networks.ts";
import { computeWaitS } from "./rules.ts";

const dayS = 86_400;

/** How often one can fail in a day, who tries again as soon as they may. */
function countAttemptsInADay(networks: number): number {
  let failures = 0;
  for (let atS = 0; atS < dayS; atS += computeWaitS(failures, networks)) failures += 1;
  return failures;
}

test("a network has some 110 attempts at a name in a day, and its neighbourhood sixteen times as many", () => {
  assert.equal(countAttemptsInADay(1), 107);
  assert.equal(countAttemptsInADay(networksOfNeighbourhood), 1_592);
});

test("the wait never shrinks, begins after three failures of each network, and ends to grow at its bound", () => {
  for (const networks of [1, networksOfNeighbourhood]) {
    let before = 0;
    for (let failures = 0; failures < 200; failures++) {
      const waitS = computeWaitS(failures, networks);
      assert.ok(waitS >= before && waitS <= 900 / networks);
      assert.equal(waitS === 0, failures <= 3 * networks);
      before = waitS;
    }
    assert.equal(before, 900 / networks);
  }
});
