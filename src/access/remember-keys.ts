// Keys that this process has verified lately. What is remembered counts for nothing by itself: whoever
// uses it has the database confirm its stamp in the same moment, and otherwise authenticates anew.
// Of the header only a digest is kept, so that no key can be read from here.

import { hash, timingSafeEqual } from "node:crypto";

import type { Authenticated } from "./authenticate.ts";
import { sliceIdBody, parseApiKey } from "./key-rules.ts";

/** Of a root key whose stamp can be confirmed. */
export type Remembered = Authenticated & { readonly stamp: string };

export type KeyMemory = {
  /** Whether it is worth a look; cheap, and not to be relied on. */
  mayKnow(header: string): boolean;
  find(header: string): Remembered | undefined;
  keep(header: string, known: Authenticated): void;
};

const rememberedMax = 10_000;

export function keyMemory({ most = rememberedMax } = {}): KeyMemory {
  /** By the end of the key id, as it stands in the header. */
  const kept = new Map<string, { readonly digest: Buffer; readonly known: Remembered }>();

  return {
    mayKnow: (header) => kept.has(sliceIdBody(header)),
    find(header) {
      const found = parseApiKey(header) && kept.get(sliceIdBody(header));
      return found && timingSafeEqual(found.digest, hashHeader(header)) ? found.known : undefined;
    },
    keep(header, known) {
      const { stamp } = known;
      if (stamp === null) return;
      kept.set(sliceIdBody(header), { digest: hashHeader(header), known: { ...known, stamp } });
      if (kept.size > most) forgetOldest();
    },
  };

  function forgetOldest(): void {
    for (const idBody of kept.keys()) {
      kept.delete(idBody);
      return;
    }
  }
}

function hashHeader(header: string): Buffer {
  return hash("sha256", header, "buffer");
}
