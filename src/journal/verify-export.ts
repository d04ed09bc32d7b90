// Verifies an export from the file alone, line by line. The members of a line are used only after the
// hash or signature over its bytes has been verified. The records of a block of form 3 are hashed as
// they come, and compared with its header at the last of them.

import { createHash, type Hash } from "node:crypto";

import {
  blockForm,
  type Checkpoint,
  checkpointForm,
  formerForm,
  genesisHash,
  hashPart,
  type Head,
  isSigned,
  lineEncoding as encoding,
  recordForm,
  signatureEnd,
  startOfChain,
} from "./audit-rules.ts";

type ExportVerdict = {
  readonly whole: boolean;
  readonly desk: string | null;
  readonly records: number;
  readonly last_seq: number;
  readonly head_hash: string;
  /** The key that signed it, to be compared with the service's own key. */
  readonly public_key: string | null;
  /** The first line that fails, and why. */
  readonly first_break: { readonly line: number; readonly problem: string } | null;
};

const hashEnd = /^(.*),"hash":"([0-9a-f]{64})"\}$/s;

export async function verifyExport(
  chunks: AsyncIterable<Buffer>,
  expectedKey?: string,
): Promise<ExportVerdict> {
  const walk = new ExportVerifier(expectedKey);
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + chunk.toString(encoding)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) walk.take(line);
  }
  return walk.end(rest);
}

type Members = {
  readonly v: number;
  readonly environment: string;
  readonly desk_id: string;
  readonly prev_hash: string;
};
type RecordMembers = Members & { readonly seq: number };
type HeaderMembers = Members & {
  readonly first_seq: number;
  readonly last_seq: number;
  readonly count: number;
  readonly content_hash: string;
};

/** A block whose header was read, and not yet all of its records. */
type OpenBlock = {
  readonly line: number;
  readonly contentHash: string;
  readonly content: Hash;
  left: number;
};

class ExportVerifier {
  readonly #expectedKey: string | undefined;
  #lines = 0;
  #records = 0;
  #desk: string | null = null;
  #first: Head | undefined;
  #last: Head = startOfChain;
  #block: OpenBlock | undefined;
  #publicKey: string | null = null;
  #break: ExportVerdict["first_break"] = null;

  constructor(expectedKey: string | undefined) {
    this.#expectedKey = expectedKey;
  }

  take(line: string): void {
    this.#lines += 1;
    if (this.#break) return;
    if (this.#block) {
      this.#break = this.#addToBlock(this.#block, line);
      return;
    }
    const problem = this.#checkLine(line);
    if (problem) this.#break = { line: this.#lines, problem };
  }

  end(rest: string): ExportVerdict {
    const isEnded = rest === "" && this.#publicKey !== null;
    const problem = "the export breaks off: its checkpoint is missing";
    if (!isEnded) this.#break ??= { line: this.#lines + 1, problem };
    return {
      whole: this.#break === null,
      desk: this.#desk,
      records: this.#records,
      last_seq: this.#last.seq,
      head_hash: this.#last.hash,
      public_key: this.#publicKey,
      first_break: this.#break,
    };
  }

  #checkLine(line: string): string | undefined {
    if (this.#publicKey !== null) return "follows the checkpoint";
    const signed = signatureEnd.exec(line);
    if (signed) return this.#checkCheckpoint(signed);
    const [, part, hash] = hashEnd.exec(line) ?? [];
    if (part === undefined || hash !== hashPart(Buffer.from(part, encoding))) {
      return "was changed: its hash is another";
    }
    const members = JSON.parse(line) as RecordMembers | HeaderMembers;
    if ("seq" in members) return this.#checkRecord(members, hash);
    return this.#openBlock(members, hash);
  }

  #checkRecord({ seq, ...members }: RecordMembers, hash: string): string | undefined {
    const { v } = members;
    if (v !== recordForm && v !== formerForm) return `bytes of form ${v} are not known`;
    return this.#follow(members, { from: seq, to: seq, hash });
  }

  #openBlock({ first_seq, last_seq, ...members }: HeaderMembers, hash: string): string | undefined {
    const { v, count, content_hash: contentHash } = members;
    if (v !== blockForm) return `bytes of form ${v} are not known`;
    const problem = this.#follow(members, { from: first_seq, to: last_seq, hash });
    if (problem !== undefined) return problem;
    if (count < 1 || count !== last_seq - first_seq + 1) return "is a block without records";
    this.#block = { line: this.#lines, contentHash, content: createHash("sha256"), left: count };
    return undefined;
  }

  #addToBlock(block: OpenBlock, line: string): ExportVerdict["first_break"] {
    block.content.update(`${line}\n`, encoding);
    block.left -= 1;
    if (block.left > 0) return null;
    this.#block = undefined;
    if (block.content.digest("hex") === block.contentHash) return null;
    return { line: block.line, problem: "is of a block in which a record was changed" };
  }

  #follow(
    { environment, desk_id, prev_hash }: Members,
    { from, to, hash }: { readonly from: number; readonly to: number; readonly hash: string },
  ): string | undefined {
    this.#desk ??= `${environment} ${desk_id}`;
    this.#first ??= this.#last = { seq: from - 1, hash: prev_hash };
    if (this.#desk !== `${environment} ${desk_id}`) return "is another desk's";
    if (from !== this.#last.seq + 1)
      return `is number ${from}, where ${this.#last.seq + 1} belongs`;
    if (prev_hash !== this.#last.hash) return "does not follow what is before";
    this.#last = { seq: to, hash };
    this.#records += to - from + 1;
    return undefined;
  }

  #checkCheckpoint([line = "", part = "", key = "", signature = ""]: string[]) {
    if (!isSigned(part, key, signature)) return "the checkpoint was changed: it is not as signed";
    const told = JSON.parse(line) as Checkpoint & { readonly v: number };
    if (told.v !== checkpointForm) return `bytes of form ${told.v} are not known`;
    this.#publicKey = key;
    this.#desk ??= `${told.environment} ${told.desk_id}`;
    this.#first ??= this.#last = { seq: told.first_seq - 1, hash: told.prev_hash };
    if (this.#expectedKey !== undefined && key !== this.#expectedKey) {
      return "the checkpoint was signed by another key";
    }
    const [first, last] = [this.#first, this.#last];
    const describes =
      this.#desk === `${told.environment} ${told.desk_id}` &&
      told.count === this.#records &&
      told.first_seq === first.seq + 1 &&
      told.last_seq === last.seq &&
      told.prev_hash === first.hash &&
      told.head_hash === last.hash &&
      (first.seq > 0 || first.hash === genesisHash);
    return describes ? undefined : "the checkpoint is of other lines";
  }
}
