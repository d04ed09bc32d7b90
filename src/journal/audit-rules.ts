// The chain of a desk's audit records: what is hashed, and what a whole chain is.
//
//   line         one record as bytes that never change: JSON without spaces, its members in this
//                order, `hash` last. The hash is over every byte of the line before `,"hash"`, and
//                `prev_hash` among them is the hash of the line before.
//   checkpoint   the last line of an export, signed over every byte before `,"signature"`: how many
//                lines there are, from which number to which, and the hash they begin and end with
//
// `v` is the form of the bytes. A form is never changed; another one gets the next number.

import {
  createPrivateKey,
  createPublicKey,
  hash as digest,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";

import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { istTimestamp } from "../kernel/time.ts";

export const chainForm = 1;

/** What comes before the first record of a desk. */
export const nothingBefore = "0".repeat(64);

export type AuditRecord = {
  readonly environment: Environment;
  readonly desk_id: string;
  readonly record_id: string;
  /** To the microsecond, as the database keeps it: `2026-11-15T14:45:00.000000+05:30`. */
  readonly at_text: string;
  readonly actor_kind: Actor["kind"];
  readonly actor_id: string;
  readonly request_id: string | null;
  readonly action: string;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly entity_version: number;
  readonly before_hash: string | null;
  readonly after_hash: string | null;
};

/** The moment a record is made has no microseconds, but its text does. */
export function atText(instant: Date): string {
  const text = istTimestamp(instant);
  const end = text.lastIndexOf("+");
  return `${text.slice(0, end)}000${text.slice(end)}`;
}

/** Where a chain stands: the number and the hash of a record, or of nothing before the first. */
export type Head = { readonly seq: number; readonly hash: string };

export const startOfChain: Head = { seq: 0, hash: nothingBefore };

/** The bytes that are hashed for a record that follows this one. */
export function sealedPart(record: AuditRecord, { seq, hash }: Head): string {
  const text = JSON.stringify({
    v: chainForm,
    environment: record.environment,
    desk_id: record.desk_id,
    seq: seq + 1,
    record_id: record.record_id,
    at: record.at_text,
    actor_kind: record.actor_kind,
    actor_id: record.actor_id,
    request_id: record.request_id,
    action: record.action,
    entity_type: record.entity_type,
    entity_id: record.entity_id,
    entity_version: record.entity_version,
    before_hash: record.before_hash,
    after_hash: record.after_hash,
    prev_hash: hash,
  });
  return text.slice(0, -1);
}

export function hashOf(part: string | Buffer): string {
  return digest("sha256", part);
}

/** The next link of a chain. */
export function linkAfter(head: Head, record: AuditRecord): Head {
  return { seq: head.seq + 1, hash: hashOf(sealedPart(record, head)) };
}

/** A line as it is exported: its hash is the one that was stored, whatever the record is now. */
export function lineOf(record: AuditRecord, before: Head, storedHash: string): string {
  return `${sealedPart(record, before)},"hash":"${storedHash}"}\n`;
}

export type Checkpoint = {
  readonly environment: Environment;
  readonly desk_id: string;
  readonly count: number;
  readonly first_seq: number;
  readonly last_seq: number;
  /** The hash before the first line, and that of the last one. */
  readonly prev_hash: string;
  readonly head_hash: string;
  readonly at: string;
};

export function checkpointLine(checkpoint: Checkpoint, key: KeyObject): string {
  const text = JSON.stringify({
    v: chainForm,
    checkpoint: true,
    environment: checkpoint.environment,
    desk_id: checkpoint.desk_id,
    count: checkpoint.count,
    first_seq: checkpoint.first_seq,
    last_seq: checkpoint.last_seq,
    prev_hash: checkpoint.prev_hash,
    head_hash: checkpoint.head_hash,
    // A record is chained when it is made; the form has this for what would not be.
    pending: 0,
    at: checkpoint.at,
    public_key: publicKeyOf(key),
  });
  const part = text.slice(0, -1);
  return `${part},"signature":"${sign(null, Buffer.from(part), key).toString("hex")}"}\n`;
}

/** Bytes are read as Latin-1 so that each of them counts, whatever text they make. */
export const lineEncoding = "latin1";

export const signatureEnd = /^(.*,"public_key":"([0-9a-f]{64})"),"signature":"([0-9a-f]{128})"\}$/s;

/** A checkpoint's signed bytes, who signed them, and what they say: to be believed if so signed. */
export function splitCheckpoint(line: string) {
  const [, part = "", publicKey = "", signature = ""] = signatureEnd.exec(line) ?? [];
  return { part, publicKey, signature, told: readCheckpoint(line) };
}

export function readCheckpoint(line: string) {
  return JSON.parse(line) as Checkpoint & {
    readonly v: number;
    readonly public_key: string;
    readonly signature: string;
  };
}

/** How a public Ed25519 key of 32 bytes begins in SPKI. */
const publicKeyHead = Buffer.from("302a300506032b6570032100", "hex");

export function isSigned(part: string, publicKey: string, signature: string): boolean {
  const der = Buffer.concat([publicKeyHead, Buffer.from(publicKey, "hex")]);
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  return verify(null, Buffer.from(part, lineEncoding), key, Buffer.from(signature, "hex"));
}

/** How a private Ed25519 key of 32 bytes begins in PKCS #8. */
const privateKeyHead = Buffer.from("302e020100300506032b657004220420", "hex");

export function signingKeyFrom(seed: Buffer): KeyObject {
  const der = Buffer.concat([privateKeyHead, seed]);
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

/** 64 hex digits: short enough to be compared as it is. */
export function publicKeyOf(key: KeyObject): string {
  return createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32).toString("hex");
}
