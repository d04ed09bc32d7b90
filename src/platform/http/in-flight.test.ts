import assert from "node:assert/strict";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";

import fc from "fast-check";

import { InFlight } from "./in-flight.ts";

test("the requests in flight equal those of a plain set, in any order of begin and end", () => {
  const message = new IncomingMessage(new Socket());
  const answers = Array.from({ length: 6 }, () => new ServerResponse(message));
  const step = fc.record({
    does: fc.constantFrom("add", "delete"),
    which: fc.nat({ max: answers.length - 1 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const inFlight = new InFlight();
      const model = new Set<ServerResponse>();
      for (const { does, which } of steps) {
        const answer = answers[which] as ServerResponse;
        // Each comes once, as its request does; it may be said twice that it has gone.
        if (does === "add" && model.has(answer)) continue;
        inFlight[does](answer);
        model[does](answer);
        const seen = new Set<ServerResponse>();
        inFlight.forEach((each) => seen.add(each));
        assert.deepEqual(seen, model);
      }
      for (const answer of model) inFlight.delete(answer);
      inFlight.forEach(() => assert.fail("all have ended"));
    }),
    { numRuns: 200 },
  );
});
