import { after } from "node:test";

/** Stands in for a test context where a whole file shares a service: what opened last closes first. */
export function fileScope(): { after(work: unknown): void } {
  const undo: (() => unknown)[] = [];
  after(async () => {
    for (const work of undo.toReversed()) await work();
  });
  return { after: (work) => void undo.push(work as () => unknown) };
}
