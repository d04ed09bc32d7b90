// The hash chain of a desk's audit records: its bytes, hashes and signatures.
//
//   line         bytes that never change: JSON without spaces, its members in the order written here,
//                `hash` last. The hash is over every byte of the line before `,"hash"`, and `prev_hash`
//                among them is the hash of the line before.
//   block        a set of records that are hashed as one: a header, which is such a line, and below it
//                a line for each record. `content_hash` in the header is the hash of these lines; they
//                have no hash of their own.
//   checkpoint   the last line of an export, signed over every byte before `,"signature"`: the number
//                of records, the first and last `seq`, and the hashes they begin and end with
//
// `v` is the form of a line. A form never changes; new bytes get the next number:
//
//   1   a line for each record
//   2   the same with `event_hash`, the hash of the body of the event that told of the change, so that
//       the chain covers what was told too
//   3   a block. A record has `event_hash`, over the body without the digits of its `sequence`, or else
//       `after_hash`; the header has the numbers of the events. So all of a block but its header is
//       hashed before the desk is locked, and whoever reads a desk's chain reads one hash for a set.
//
// A chain goes on from each form to the others.

import {
  createPrivateKey,
  createPublicKey,
  hash as digest,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";

import { exactJson } from "../kernel/json.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { istTimestamp } from "../kernel/time.ts";

/** The forms of records before there were blocks, of records each with a hash, and of blocks. */
export const [formerForm, recordForm, blockForm] = [1, 2, 3];
export const checkpointForm = 1;

/** `prev_hash` of the first record of a desk. */
export const genesisHash = "0".repeat(64);

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

/** Pads the milliseconds of a Date to the microseconds that the hashed text has. */
export function formatMicroseconds(instant: Date): string {
  const text = istTimestamp(instant);
  const end = text.lastIndexOf("+");
  return `${text.slice(0, end)}000${text.slice(end)}`;
}

/** The end of a chain: the `seq` and hash of its last record, or `startOfChain`. */
export type Head = { readonly seq: number; readonly hash: string };

export const startOfChain: Head = { seq: 0, hash: genesisHash };

/** What a line is made of, beside the head that it follows. */
export type Link = Pick<AuditRecord, "environment" | "desk_id"> & {
  readonly form: number;
  /** The record by itself, as `writeRecord` makes it. */
  readonly text: string;
  /** Of the event's body; null without an event. A line of version 1 does not have it. */
  readonly event_hash: string | null;
};

/** The one text of a record: it is hashed, stored and exported as it is here. */
export function writeRecord(record: Omit<AuditRecord, "environment" | "desk_id">): string {
  return exactJson({
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
  });
}

/** The text of a record in a block of form 3, whose header has the time. */
export function writeBlockRecord(
  record: Omit<
    AuditRecord,
    "environment" | "desk_id" | "at_text" | "before_hash" | "after_hash"
  > & {
    /** Absent where an event tells of the change, whose hash is there when the record is hashed. */
    readonly after_hash?: string | null;
  },
): string {
  return exactJson({
    record_id: record.record_id,
    actor_kind: record.actor_kind,
    actor_id: record.actor_id,
    request_id: record.request_id,
    action: record.action,
    entity_type: record.entity_type,
    entity_id: record.entity_id,
    entity_version: record.entity_version,
    after_hash: record.after_hash,
  });
}

/** Reads the text of a record of any form; what a form does not have is null. */
export function readRecord(
  text: string,
): Omit<AuditRecord, "environment" | "desk_id" | "at_text"> & { readonly at: string | null } {
  const absent = { at: null, before_hash: null, after_hash: null };
  return { ...absent, ...(JSON.parse(text) as Omit<AuditRecord, keyof typeof absent>) };
}

/** What the header of a block says, beside the hash that it follows. */
type Header = Pick<AuditRecord, "environment" | "desk_id" | "at_text"> & {
  readonly first_seq: number;
  readonly last_seq: number;
  /** Of the events, in the order of their records; null when none has one. */
  readonly first_sequence: number | null;
  readonly last_sequence: number | null;
  readonly content_hash: string;
};

/** The bytes hashed for a block behind this hash. */
export function headerPart(header: Header, prevHash: string): string {
  const text = exactJson({
    v: blockForm,
    environment: header.environment,
    desk_id: header.desk_id,
    first_seq: header.first_seq,
    last_seq: header.last_seq,
    count: header.last_seq - header.first_seq + 1,
    first_sequence: header.first_sequence,
    last_sequence: header.last_sequence,
    at: header.at_text,
    prev_hash: prevHash,
    content_hash: header.content_hash,
  });
  return text.slice(0, -1);
}

/** The bytes hashed for a record that follows this head. */
function hashedPart(link: Link, { seq, hash }: Head): string {
  const { form, environment, desk_id, text, event_hash } = link;
  const told = event_hash === null ? "null" : `"${event_hash}"`;
  return (
    `{"v":${form},"environment":"${environment}","desk_id":${exactJson(desk_id)},` +
    `"seq":${seq + 1},${text.slice(1, -1)}` +
    `${form === formerForm ? "" : `,"event_hash":${told}`},"prev_hash":"${hash}"`
  );
}

export function hashPart(part: string | Buffer): string {
  return digest("sha256", part);
}

/** The head of a chain once the record is added. */
export function linkAfter(head: Head, link: Link): Head {
  return { seq: head.seq + 1, hash: hashPart(hashedPart(link, head)) };
}

/** An exported line carries the stored hash, so that a changed record fails verification. */
export function writeLine(link: Link, before: Head, storedHash: string): string {
  return `${hashedPart(link, before)},"hash":"${storedHash}"}\n`;
}

export type Checkpoint = {
  readonly environment: Environment;
  readonly desk_id: string;
  readonly count: number;
  readonly first_seq: number;
  readonly last_seq: number;
  /** The hash before the first line; `head_hash` is that of the last line. */
  readonly prev_hash: string;
  readonly head_hash: string;
  readonly at: string;
};

export function writeCheckpoint(checkpoint: Checkpoint, key: KeyObject): string {
  const text = exactJson({
    v: checkpointForm,
    checkpoint: true,
    environment: checkpoint.environment,
    desk_id: checkpoint.desk_id,
    count: checkpoint.count,
    first_seq: checkpoint.first_seq,
    last_seq: checkpoint.last_seq,
    prev_hash: checkpoint.prev_hash,
    head_hash: checkpoint.head_hash,
    // Records are chained in the transaction that makes them, so none is ever pending.
    pending: 0,
    at: checkpoint.at,
    public_key: publicKeyHex(key),
  });
  const part = text.slice(0, -1);
  return `${part},"signature":"${sign(null, Buffer.from(part), key).toString("hex")}"}\n`;
}

/** Latin-1 maps each byte to one character, so that no byte is lost in decoding. */
export const lineEncoding = "latin1";

export const signatureEnd = /^(.*,"public_key":"([0-9a-f]{64})"),"signature":"([0-9a-f]{128})"\}$/s;

/** Splits a checkpoint into signed bytes, key, signature and members. It verifies nothing. */
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

/** The SPKI prefix of an Ed25519 public key of 32 bytes. */
const publicKeyHead = Buffer.from("302a300506032b6570032100", "hex");

export function isSigned(part: string, publicKey: string, signature: string): boolean {
  const der = Buffer.concat([publicKeyHead, Buffer.from(publicKey, "hex")]);
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  return verify(null, Buffer.from(part, lineEncoding), key, Buffer.from(signature, "hex"));
}

/** The PKCS #8 prefix of an Ed25519 private key of 32 bytes. */
const privateKeyHead = Buffer.from("302e020100300506032b657004220420", "hex");

export function buildSigningKey(seed: Buffer): KeyObject {
  const der = Buffer.concat([privateKeyHead, seed]);
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

/** The raw 32 bytes as 64 hex digits, which people can compare. */
export function publicKeyHex(key: KeyObject): string {
  return createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32).toString("hex");
}
