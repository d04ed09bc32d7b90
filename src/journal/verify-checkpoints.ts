// Verifies the chains in the database against signed checkpoints, from the operator's file, the end of
// an export or a saved event. The owner of a database can truncate a chain without a trace inside it,
// but cannot forge a record with the hash that a checkpoint carries.

import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { findTrustedKeys } from "./read-audit.ts";
import { type Checkpoint, isSigned, splitCheckpoint } from "./audit-rules.ts";
import { findHead } from "./audit-store.ts";
import { findLink } from "./find-records.ts";
import { type ChainBreak, type ChainVerdict, walkChains } from "./verify-chain.ts";

type CheckpointVerdict = ChainVerdict & { readonly checkpoints: number };

export async function verifyCheckpoints(
  { db, auditKey }: Pick<Context, "db" | "auditKey">,
  text: string,
): Promise<CheckpointVerdict> {
  const lines = findCheckpoints(text);
  return await db.transaction(
    async (tx) => {
      const chain = await walkChains(tx);
      const keys = await findTrustedKeys(tx, { auditKey });
      const first_break = chain.first_break ?? (await findFirstBreak(tx, lines, keys));
      return { ...chain, whole: first_break === null, first_break, checkpoints: lines.length };
    },
    { snapshot: true },
  );
}

async function findFirstBreak(
  tx: Tx,
  lines: readonly string[],
  publicKeys: readonly string[],
): Promise<ChainBreak | null> {
  /** The last verified `seq` of each desk. */
  const good = new Map<string, number>();
  const known = lines.map((line) => ({ line, ...splitCheckpoint(line) }));
  for (const one of known.toSorted((a, b) => a.told.last_seq - b.told.last_seq)) {
    const { told } = one;
    const desk = { environment: told.environment, desk_id: told.desk_id };
    const name = `${told.environment} ${told.desk_id}`;
    const broken = (seq: number, problem: string) => ({ ...desk, seq, record_id: null, problem });
    if (!publicKeys.includes(one.publicKey) || !isSigned(one.part, one.publicKey, one.signature)) {
      return broken(told.last_seq, "the checkpoint was not signed by this service's key");
    }
    const found = await compareWithChain(tx, told);
    if (found === "missing") {
      const { seq } = await findHead(tx, desk);
      const problem = `records up to ${told.last_seq} were signed on ${told.at} and are missing`;
      return broken(seq + 1, problem);
    }
    if (found === "another") {
      const problem = `the records up to ${told.last_seq} are not those signed on ${told.at}`;
      return broken((good.get(name) ?? 0) + 1, problem);
    }
    good.set(name, told.last_seq);
  }
  return null;
}

async function compareWithChain(
  tx: Tx,
  told: Checkpoint,
): Promise<"missing" | "another" | undefined> {
  if (told.last_seq === 0) return undefined;
  const link = await findLink(tx, told, told.last_seq);
  if (!link) return "missing";
  return link.seq === told.last_seq && link.hash === told.head_hash ? undefined : "another";
}

/** Finds checkpoint lines, whether plain or as strings inside the JSON of events. */
function findCheckpoints(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim());
  const found = lines.flatMap((line) => {
    if (line === "" || isCheckpointLine(line)) return line === "" ? [] : [line];
    return collectStrings(parseJson(line)).filter(isCheckpointLine);
  });
  return found.length > 0 ? found : collectStrings(parseJson(text)).filter(isCheckpointLine);
}

function isCheckpointLine(line: string): boolean {
  return /^\{"v":1,"checkpoint":true,.*,"signature":"[0-9a-f]{128}"\}$/.test(line);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function collectStrings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(collectStrings);
}
