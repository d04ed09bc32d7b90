// Whether an export is whole, line by line and byte by byte, from the file alone.

import { createPublicKey, verify } from "node:crypto";

import { type Head, hashOf, nothingBefore, startOfChain } from "./rules.ts";

export type ExportVerdict = {
  readonly whole: boolean;
  readonly records: number;
  readonly last_seq: number;
  readonly head_hash: string;
  /** Who signed it, to be compared with the service's own key. */
  readonly public_key: string | null;
  /** The first line that does not hold, and why. */
  readonly first_break: { readonly line: number; readonly problem: string } | null;
};

/** Bytes are read as Latin-1 so that each of them counts, whatever text they make. */
const encoding = "latin1";

const recordForm =
  /^(\{"v":1,"environment":"([a-z]+)","desk_id":"(\w+)","seq":(\d+),"record_id":.*,"prev_hash":"([0-9a-f]{64})"),"hash":"([0-9a-f]{64})"\}$/;
const checkpointForm =
  /^(\{"v":1,"checkpoint":true,"environment":"([a-z]+)","desk_id":"(\w+)","count":(\d+),"first_seq":(\d+),"last_seq":(\d+),"prev_hash":"([0-9a-f]{64})","head_hash":"([0-9a-f]{64})","pending":\d+,"at":"[^"]+","public_key":"([0-9a-f]{64})"),"signature":"([0-9a-f]{128})"\}$/;

/** How a public Ed25519 key of 32 bytes begins in SPKI. */
const publicKeyHead = Buffer.from("302a300506032b6570032100", "hex");

export async function verifyExport(
  chunks: AsyncIterable<Buffer>,
  expectedKey?: string,
): Promise<ExportVerdict> {
  const walk = new Walk(expectedKey);
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + chunk.toString(encoding)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) walk.take(line);
  }
  return walk.end(rest);
}

class Walk {
  readonly #expectedKey: string | undefined;
  #line = 0;
  #desk: string | undefined;
  #first: Head | undefined;
  #last: Head = startOfChain;
  #records = 0;
  #key: string | null = null;
  #break: ExportVerdict["first_break"] = null;

  constructor(expectedKey: string | undefined) {
    this.#expectedKey = expectedKey;
  }

  take(line: string): void {
    this.#line += 1;
    if (this.#break) return;
    const problem = this.#key ? "follows the checkpoint" : this.#problemOf(line);
    if (problem) this.#break = { line: this.#line, problem };
  }

  end(rest: string): ExportVerdict {
    const isEnded = rest === "" && this.#key !== null;
    const problem = "the export breaks off: its checkpoint is missing";
    if (!isEnded) this.#break ??= { line: this.#line + 1, problem };
    return {
      whole: this.#break === null,
      records: this.#records,
      last_seq: this.#last.seq,
      head_hash: this.#last.hash,
      public_key: this.#key,
      first_break: this.#break,
    };
  }

  #problemOf(line: string): string | undefined {
    const record = recordForm.exec(line);
    if (record) return this.#problemOfRecord(record);
    const checkpoint = checkpointForm.exec(line);
    if (checkpoint) return this.#problemOfCheckpoint(checkpoint);
    return "is neither a record nor a checkpoint";
  }

  #problemOfRecord([, part = "", environment, desk, number, prev = "", hash = ""]: string[]) {
    const seq = Number(number);
    this.#first ??= this.#last = { seq: seq - 1, hash: prev };
    this.#desk ??= `${environment} ${desk}`;
    if (this.#desk !== `${environment} ${desk}`) return "is another desk's";
    if (seq !== this.#last.seq + 1) return `is number ${seq} where ${this.#last.seq + 1} belongs`;
    if (prev !== this.#last.hash) return "does not follow the line before";
    if (hashOf(Buffer.from(part, encoding)) !== hash) return "was changed: its hash is another";
    this.#last = { seq, hash };
    this.#records += 1;
    return undefined;
  }

  #problemOfCheckpoint(found: string[]): string | undefined {
    const [, part = "", environment, desk, ...rest] = found;
    const [count, firstSeq, lastSeq, prev = "", head, key = "", signature = ""] = rest;
    const first = this.#first ?? { seq: Number(firstSeq) - 1, hash: prev };
    const last = this.#first ? this.#last : first;
    this.#key = key;
    this.#last = last;
    if (!isSigned(part, key, signature))
      return "the checkpoint was changed: its signature is wrong";
    if (this.#expectedKey !== undefined && key !== this.#expectedKey) {
      return "the checkpoint was signed by another key";
    }
    const describes =
      (this.#desk ?? `${environment} ${desk}`) === `${environment} ${desk}` &&
      Number(count) === this.#records &&
      Number(firstSeq) === first.seq + 1 &&
      Number(lastSeq) === last.seq &&
      prev === first.hash &&
      head === last.hash &&
      (first.seq > 0 || first.hash === nothingBefore);
    return describes ? undefined : "the checkpoint is of other lines";
  }
}

function isSigned(part: string, publicKey: string, signature: string): boolean {
  const der = Buffer.concat([publicKeyHead, Buffer.from(publicKey, "hex")]);
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  return verify(null, Buffer.from(part, encoding), key, Buffer.from(signature, "hex"));
}
