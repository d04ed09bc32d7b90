// Node makes an object for every step that it puts off with `process.nextTick`, about a dozen for a
// request. Its names are computed, and V8 makes such an object fast only while it always sees the
// same shapes. At a full collection V8 forgets shapes of which no object is left; a process that had
// no step waiting at that moment makes new ones, is taken for one that knows no shape, and pays for
// every step, as long as it runs, what the first one cost: a tenth of a short request.
//
// One such object that stays keeps the shapes.

import { executionAsyncResource } from "node:async_hooks";

/** What must not be collected. */
const kept: object[] = [];

export function keepTickShape(): void {
  process.nextTick(() => kept.push(executionAsyncResource()));
}
