import assert from "node:assert/strict";
import { test } from "node:test";

import { notFound } from "../../kernel/failure.ts";
import { Overloaded } from "../postgres/coalesce.ts";
import { type EndedJob, NobodyWaits } from "./kinds.ts";
import { openPieces } from "./pool.ts";

const live = { by: { environment: "live", deskId: "one" } } as const;
const sandbox = { by: { environment: "sandbox", deskId: "two" } } as const;

function open(limits: Partial<Parameters<typeof openPieces>[0]> = {}) {
  const ended: string[] = [];
  const onEnded = ({ kind, outcome }: EndedJob) => void ended.push(`${kind} ${outcome}`);
  const wide = { perDeskMax: 10, perEnvironmentMax: 10, places: 2, sandboxPlaces: 1 };
  return { pieces: openPieces({ ...wide, onEnded, ...limits }), ended };
}

test("sandbox work takes only the sandbox's places, and waits in order", async () => {
  const { pieces, ended } = open({ perDeskMax: 1 });
  const gate = Promise.withResolvers<string>();
  const first = pieces.run("held", () => gate.promise, sandbox);
  const second = pieces.run("next", async () => "next", sandbox);
  assert.deepEqual([pieces.running("sandbox"), pieces.waiting("sandbox")], [1, 1]);
  await assert.rejects(
    pieces.run("more", async () => "more", sandbox),
    Overloaded,
  );
  assert.equal(await pieces.run("live", async () => "live", live), "live");
  gate.resolve("held");
  assert.deepEqual(await Promise.all([first, second]), ["held", "next"]);
  assert.deepEqual(ended, ["more refused", "live done", "held done", "next done"]);
  assert.deepEqual([pieces.running("sandbox"), pieces.waiting("sandbox")], [0, 0]);
});

test("a refusal, a fault and a disconnected caller each free their place", async () => {
  const { pieces, ended } = open({ places: 1 });
  await assert.rejects(pieces.run("refusal", () => Promise.reject(notFound()), live));
  await assert.rejects(pieces.run("fault", () => Promise.reject(new Error("a bug")), live));
  const gone = new AbortController();
  const begun = Promise.withResolvers<void>();
  const working = pieces.run(
    "work",
    async (pace) => {
      begun.resolve();
      for (;;) await pace.turn();
    },
    { ...live, signal: gone.signal },
  );
  await begun.promise;
  const waiting = pieces.run("wait", async () => "wait", { ...live, signal: gone.signal });
  const kept = pieces.run("kept", async () => "kept", live);
  gone.abort();
  await assert.rejects(waiting, NobodyWaits);
  await assert.rejects(working, NobodyWaits);
  assert.equal(await kept, "kept");
  assert.deepEqual(ended.slice(0, 2), ["refusal refused", "fault failed"]);
  assert.deepEqual(ended.slice(2).toSorted(), ["kept done", "wait abandoned", "work abandoned"]);
});

test("work that waits when the service closes is refused", async () => {
  const { pieces } = open({ places: 1 });
  const gate = Promise.withResolvers<string>();
  const first = pieces.run("held", () => gate.promise, live);
  const refused = assert.rejects(
    pieces.run("late", async () => "late", live),
    Overloaded,
  );
  pieces.close();
  await refused;
  gate.resolve("held");
  assert.equal(await first, "held");
});
