import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

/**
 * What V8 knows of the shapes of ticks, in a process that goes through a full collection while none
 * waits.
 */
async function shapesAfterCollection({ kept }: { readonly kept: boolean }): Promise<string[]> {
  const script = `
    import { setTimeout as sleep } from "node:timers/promises";
    import { keepTickShape } from ${JSON.stringify(new URL("./tick-shape.ts", import.meta.url).href)};
    if (${kept}) keepTickShape();
    async function tick() {
      for (let times = 0; times < 100; times++) process.nextTick(() => {});
      await sleep(1);
    }
    await tick();
    await tick();
    for (let times = 0; times < 4; times++) gc({ type: "major" });
    await tick();
    const known = %GetFeedback(process.nextTick);
    const names = known.filter((each) => each?.[0].startsWith("DefineKeyedOwnProperty"));
    console.log(JSON.stringify(names.map(([, state]) => state)));`;
  const flags = ["--expose-gc", "--allow-natives-syntax", "--no-maglev", "--no-turbofan"];
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...flags,
    "--input-type=module",
    "--eval",
    script,
  ]);
  return JSON.parse(stdout) as string[];
}

test("the hidden class of nextTick objects survives a full GC", async () => {
  const shapes = await shapesAfterCollection({ kept: true });
  assert.equal(shapes.length, 5);
  assert.deepEqual([...new Set(shapes)], ["MONOMORPHIC"]);
});

test("control: without a pinned object V8 drops the hidden class", async () => {
  const shapes = await shapesAfterCollection({ kept: false });
  assert.ok(shapes.includes("MEGAMORPHIC"), shapes.join());
});
