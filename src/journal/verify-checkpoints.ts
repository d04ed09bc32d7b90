// Whether the database's chains still hold what was signed of them before: the checkpoints that went
// out, from the operator's file, the end of an export or a saved event. The owner of a database can
// cut a chain short and leave it whole; it cannot make the record that a checkpoint has the hash of.

import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { knownAuditKeys } from "./read-audit.ts";
import { type Checkpoint, isSigned, splitCheckpoint } from "./audit-rules.ts";
import { findHead, findLink } from "./trail-store.ts";
import { type ChainBreak, type ChainVerdict, walkChains } from "./verify-chain.ts";

export type AnchoredVerdict = ChainVerdict & { readonly checkpoints: number };

export async function verifyCheckpoints(
  { db, auditKey }: Pick<Context, "db" | "auditKey">,
  text: string,
): Promise<AnchoredVerdict> {
  const lines = findCheckpoints(text);
  return await db.transaction(
    async (tx) => {
      const chain = await walkChains(tx);
      const keys = await knownAuditKeys(tx, { auditKey });
      const first_break = chain.first_break ?? (await firstBreak(tx, lines, keys));
      return { ...chain, whole: first_break === null, first_break, checkpoints: lines.length };
    },
    { snapshot: true },
  );
}

async function firstBreak(
  tx: Tx,
  lines: readonly string[],
  publicKeys: readonly string[],
): Promise<ChainBreak | null> {
  /** How far each desk's chain was found as it was signed. */
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
    const found = await problemAt(tx, told);
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

async function problemAt(tx: Tx, told: Checkpoint): Promise<"missing" | "another" | undefined> {
  if (told.last_seq === 0) return undefined;
  const link = await findLink(tx, told, told.last_seq);
  if (!link) return "missing";
  return link.hash === told.head_hash ? undefined : "another";
}

/** Lines as they are, or as the text of a member of events, alone or in a list. */
function findCheckpoints(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim());
  const found = lines.flatMap((line) => {
    if (line === "" || splitsAsCheckpoint(line)) return line === "" ? [] : [line];
    return textsIn(parse(line)).filter(splitsAsCheckpoint);
  });
  return found.length > 0 ? found : textsIn(parse(text)).filter(splitsAsCheckpoint);
}

function splitsAsCheckpoint(line: string): boolean {
  return /^\{"v":1,"checkpoint":true,.*,"signature":"[0-9a-f]{128}"\}$/.test(line);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
