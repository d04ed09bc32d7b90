import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { SlidingWindow, windowMs, type WindowState } from "./usage-rules.ts";

/** What a window must do, told in the plainest way: a list with the time of every call. */
class Model {
  #calls: number[] = [];

  take(nowMs: number, limit: number): WindowState {
    this.#calls = this.#calls.filter((time) => nowMs - time < windowMs);
    const admitted = this.#calls.length < limit;
    if (admitted) this.#calls.push(nowMs);
    return this.#state(nowMs, admitted);
  }

  giveBack(nowMs: number, takenAtMs: number): WindowState {
    this.#calls = this.#calls.filter((time) => nowMs - time < windowMs);
    const index = this.#calls.indexOf(takenAtMs);
    if (index >= 0) this.#calls.splice(index, 1);
    return this.#state(nowMs, false);
  }

  #state(nowMs: number, admitted: boolean): WindowState {
    const latest = this.#calls.at(-1);
    const clearsInMs = latest === undefined ? 0 : latest + windowMs - nowMs;
    return { admitted, atMs: nowMs, used: this.#calls.length, clearsInMs };
  }
}

type Window = Pick<SlidingWindow, "take" | "giveBack">;

type Step = {
  readonly gapMs: number;
  /** Calls at one instant. */
  readonly burst: number;
  readonly limit: number;
  /** Which of the earlier calls is taken back afterwards, counted from the latest. */
  readonly giveBack: number | undefined;
};

// Gaps crowd around nothing at all and around the very edge of the window.
const gaps = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1, max: 50 }),
  fc.integer({ min: 1, max: windowMs }),
  fc.constantFrom(windowMs - 1, windowMs, windowMs + 1, windowMs / 2, 3 * windowMs),
);

const bursts = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 12 }));

function stepsWith(limits: fc.Arbitrary<number>, giveBack: Step["giveBack"][] | "any") {
  const backs =
    giveBack === "any"
      ? fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined })
      : fc.constantFrom(...giveBack);
  return fc.array(fc.record({ gapMs: gaps, burst: bursts, limit: limits, giveBack: backs }), {
    minLength: 1,
    maxLength: 40,
  });
}

/** Every answer of a window is the model's, whatever the limits and whatever is taken back. */
function agreesWithModel(newWindow: () => Window) {
  const limits = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constant(Infinity));
  return fc.property(stepsWith(limits, "any"), (steps) => {
    const window = newWindow();
    const model = new Model();
    const admittedAt: number[] = [];
    let nowMs = 1_000;
    for (const { gapMs, burst, limit, giveBack } of steps) {
      nowMs += gapMs;
      for (let call = 0; call < burst; call++) {
        const state = window.take(nowMs, limit);
        assert.deepEqual(state, model.take(nowMs, limit));
        if (state.admitted) admittedAt.push(nowMs);
      }
      if (giveBack === undefined) continue;
      const [takenAtMs] = admittedAt.splice(-1 - giveBack, 1);
      if (takenAtMs === undefined) continue;
      assert.deepEqual(window.giveBack(nowMs, takenAtMs), model.giveBack(nowMs, takenAtMs));
    }
  });
}

/** The promise itself, without a model: never more than the limit in any 60 seconds, never fewer. */
function holdsExactly(newWindow: () => Window) {
  const patterns = fc.tuple(
    fc.integer({ min: 1, max: 15 }),
    stepsWith(fc.constant(0), [undefined]),
  );
  return fc.property(patterns, ([limit, steps]) => {
    const window = newWindow();
    const admittedAt: number[] = [];
    let nowMs = 1_000;
    for (const { gapMs, burst } of steps) {
      nowMs += gapMs;
      for (let call = 0; call < burst; call++) {
        const inLastMinute = admittedAt.filter((time) => nowMs - time < windowMs).length;
        const { admitted } = window.take(nowMs, limit);
        assert.equal(admitted, inLastMinute < limit, `${inLastMinute} of ${limit} at ${nowMs}`);
        if (admitted) admittedAt.push(nowMs);
      }
    }
  });
}

const numRuns = 10_000;

test("a window answers as a plain list of calls does, on ten thousand patterns", () => {
  fc.assert(
    agreesWithModel(() => new SlidingWindow()),
    { numRuns },
  );
});

test("any 60 seconds admit exactly as many calls as the limit allows", () => {
  fc.assert(
    holdsExactly(() => new SlidingWindow()),
    { numRuns },
  );
});

test("a window that is full for minutes drops old calls and stays exact", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 9 }), (gapMs, skew) => {
      const window = new SlidingWindow();
      const model = new Model();
      const limit = 1_500;
      for (let call = 0; call < 6_000; call++) {
        const nowMs = call * gapMs + (call % skew === 0 ? 0 : 1);
        const state = window.take(nowMs, limit);
        assert.deepEqual(state, model.take(nowMs, limit));
        if (state.admitted && call % 7 === 0) {
          assert.deepEqual(window.giveBack(nowMs, nowMs), model.giveBack(nowMs, nowMs));
        }
      }
      assert.equal(window.isEmpty(6_000 * gapMs + windowMs + 1), true);
    }),
    { numRuns: 5 },
  );
});

/** Counts calls per minute of the clock: two full minutes fit into the seconds around its turn. */
class FixedWindow implements Window {
  #minute = -1;
  #calls: number[] = [];

  take(nowMs: number, limit: number): WindowState {
    const minute = Math.floor(nowMs / windowMs);
    if (minute !== this.#minute) this.#calls = [];
    this.#minute = minute;
    const admitted = this.#calls.length < limit;
    if (admitted) this.#calls.push(nowMs);
    return { admitted, atMs: nowMs, used: this.#calls.length, clearsInMs: windowMs };
  }

  giveBack(nowMs: number): WindowState {
    this.#calls.pop();
    return { admitted: false, atMs: nowMs, used: this.#calls.length, clearsInMs: windowMs };
  }
}

/** Lets refused calls in as well, so that a caller who keeps asking is never served again. */
class RestlessWindow implements Window {
  #model = new Model();

  take(nowMs: number, limit: number): WindowState {
    const state = this.#model.take(nowMs, limit);
    if (!state.admitted) this.#model.take(nowMs, Infinity);
    return state;
  }

  giveBack(nowMs: number, takenAtMs: number): WindowState {
    return this.#model.giveBack(nowMs, takenAtMs);
  }
}

/** Takes back the latest call, whichever call it was that had to go. */
class CarelessWindow implements Window {
  #model = new Model();
  #latestMs = 0;

  take(nowMs: number, limit: number): WindowState {
    const state = this.#model.take(nowMs, limit);
    if (state.admitted) this.#latestMs = nowMs;
    return state;
  }

  giveBack(nowMs: number): WindowState {
    return this.#model.giveBack(nowMs, this.#latestMs);
  }
}

test("control: the same properties reject a fixed window, one that counts refusals and one that gives back the wrong call", () => {
  const isCaught = (property: fc.IProperty<unknown>) => fc.check(property, { numRuns }).failed;
  assert.equal(isCaught(holdsExactly(() => new FixedWindow()) as fc.IProperty<unknown>), true);
  assert.equal(isCaught(holdsExactly(() => new RestlessWindow()) as fc.IProperty<unknown>), true);
  assert.equal(
    isCaught(agreesWithModel(() => new CarelessWindow()) as fc.IProperty<unknown>),
    true,
  );
});
