// What tests of the audit trail need: records without a trade behind them, exports, and the
// stand-alone verifier as a function.

import assert from "node:assert/strict";
import { createHash, createPublicKey, verify } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { verifyChain } from "../../src/journal/verify-chain.ts";
import { recordChanges } from "../../src/journal/record-changes.ts";
import type { Actor, Change } from "../../src/kernel/actor.ts";
import type { Context } from "../../src/platform/context.ts";
import type { Tx } from "../../src/platform/postgres/postgres.ts";
import type { Service } from "./service.ts";

export const verifierFile = join(import.meta.dirname, "../../docs/verify-audit.mjs");

export const worker: Actor = { kind: "worker", id: "test", requestId: null };

export function changeOn(deskId: string, entityId: string, fields: Partial<Change> = {}): Change {
  return {
    environment: "sandbox",
    deskId,
    firmId: deskId,
    action: "test.change",
    entity: { type: "thing", id: entityId, version: 1, href: "/" },
    after: { entityId },
    ...fields,
  };
}

/** Records in the transaction of the caller; told to nobody. */
export async function record(tx: Tx, deskId: string, entityIds: readonly string[], now: Date) {
  await recordChanges(
    tx,
    worker,
    entityIds.map((id) => changeOn(deskId, id)),
    now,
  );
}

export async function fetchExport({ send }: Service, key: string, query = ""): Promise<string> {
  return (await send("GET", `/v1/audit/export${query}`, { key, expect: 200 })).text;
}

/** To be called after faults: every record has its place, once, and every hash is right. */
export async function assertChainWhole(ctx: Pick<Context, "db">): Promise<void> {
  assert.equal((await verifyChain(ctx)).first_break, null);
}

type Verify = (...given: unknown[]) => Promise<void>;

/** The published verifier, with its file and its end replaced; the lines are the ones published. */
export async function standAloneVerifier() {
  const text = (await readFile(verifierFile, "utf8")).replaceAll(/^import .*$/gm, "");
  const makeAsync = (async () => {}).constructor as new (...parts: string[]) => Verify;
  const given = [
    "createHash",
    "createPublicKey",
    "verify",
    "createReadStream",
    "process",
    "console",
  ];
  const run = new makeAsync(...given, text);
  return async (bytes: Buffer, expectedKey?: string): Promise<string | undefined> => {
    let problem: string | undefined;
    const ended = new Error("the verifier ends here");
    const process = {
      argv: ["node", "verify-audit.mjs", "FILE", expectedKey],
      exit() {
        throw ended;
      },
    };
    const console = { error: (said: string) => (problem = said), log() {} };
    const open = (_file: string, encoding: BufferEncoding) => [bytes.toString(encoding)];
    try {
      await run(createHash, createPublicKey, verify, open, process, console);
    } catch (error) {
      if (error !== ended) throw error;
    }
    return problem;
  };
}
