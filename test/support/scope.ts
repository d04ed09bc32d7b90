import { after } from "node:test";

/** Stands in for a test context where a whole file shares a service: what opened last closes first. */
export function fileScope(): { after(work: unknown): void } {
  const undo: (() => unknown)[] = [];
  after(async () => {
    for (const work of undo.toReversed()) await work();
  });
  return { after: (work) => void undo.push(work as () => unknown) };
}

/**
 * Runs work after a test and lets go of it. The runner keeps what it was given until its process ends,
 * and with it whatever the work refers to: a whole service.
 */
export function runAfter(t: { after(work: () => Promise<void>): void }, work: () => unknown): void {
  let left: (() => unknown) | undefined = work;
  t.after(async () => {
    const last = left;
    left = undefined;
    await last?.();
  });
}
