// Ids are a prefix that says what they name and a sortable body in Crockford's base 32: 48 bits of time
// and 80 random bits. Ids that a process makes in one millisecond ascend, by random steps, so that the
// rows of a set go to the end of their index one behind the other.

import { randomFillSync } from "node:crypto";

import type { Environment } from "./caller.ts";
import { unprocessable } from "./failure.ts";

type IdPrefix =
  | "frm"
  | "acc"
  | "key"
  | "req"
  | "evt"
  | "aud"
  | "inq"
  | "grp"
  | "net"
  | "rqm"
  | "crd"
  | "qte"
  | "ord"
  | "cqt"
  | "crs"
  | "rep"
  | "stl"
  | "pay"
  | "enq"
  | "whk"
  | "dlv"
  | "opr"
  | "mch"
  | "drp"
  | "dap"
  | "apr"
  | "fil"
  | "bst"
  | "bln"
  | "nad"
  | "ntc"
  | "rqb";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const timeDigits = 10;
const randomDigits = 16;

export const idBodyLength = timeDigits + randomDigits;
export const idBodyPattern = `[${alphabet}]{${idBodyLength}}`;

const idForm = new RegExp(`^[a-z]{3}_${idBodyPattern}$`);

export function newId(prefix: IdPrefix, now: Date): string {
  const ms = now.getTime();
  return `${prefix}_${timeBody(ms)}${takeHigher(ms)}${takeDigits()}`;
}

/** The lower bound of all ids made at this time or later. */
export function firstId(prefix: IdPrefix, at: Date): string {
  return `${prefix}_${timeBody(at.getTime())}${"0".repeat(randomDigits)}`;
}

/** When an id was made. */
export function idTime(id: string): Date {
  let ms = 0;
  for (const digit of id.slice(4, 4 + timeDigits)) ms = ms * 32 + alphabet.indexOf(digit);
  return new Date(ms);
}

/** Whether a text has the form of an id of this kind. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && idForm.test(text);
}

let lastMs = -1;
let lastBody = "";

/** Cached: many ids are made in one millisecond. */
function timeBody(ms: number): string {
  if (ms === lastMs) return lastBody;
  let rest = ms;
  let body = "";
  for (let digit = 0; digit < timeDigits; digit++) {
    body = alphabet.charAt(rest % 32) + body;
    rest = Math.floor(rest / 32);
  }
  lastMs = ms;
  lastBody = body;
  return body;
}

/** Every pair of digits, so that one lookup turns ten random bits into text. */
const pairs = Array.from(
  { length: 1_024 },
  (_, bits) => alphabet.charAt(bits >> 5) + alphabet.charAt(bits & 31),
);
const halfBits = (randomDigits / 2) * 5;

let higherMs = -1;
let higher = 0;

/**
 * The upper half of the random digits: a random number, and a higher one for each further id of its
 * millisecond, by up to a million. It begins in the lower half of its range, so that there is room for
 * some hundred thousand.
 */
function takeHigher(ms: number): string {
  higher = ms === higherMs ? higher + 1 + take20Bits() : Infinity;
  if (higher >= 2 ** halfBits) higher = (take20Bits() >> 1) * 2 ** 20 + take20Bits();
  higherMs = ms;
  return toDigits(Math.floor(higher / 2 ** 20)) + toDigits(higher % 2 ** 20);
}

/** The lower half, random for each id. */
function takeDigits(): string {
  return toDigits(take20Bits()) + toDigits(take20Bits());
}

function toDigits(bits: number): string {
  return (pairs[bits >> 10] ?? "") + (pairs[bits & 1_023] ?? "");
}

/** A pool of random bits: one fetch costs more than an id. */
const pool = new Uint32Array(2_048);
let poolUsed = pool.length;

function take20Bits(): number {
  if (poolUsed === pool.length) {
    randomFillSync(pool);
    poolUsed = 0;
  }
  return (pool[poolUsed++] ?? 0) >>> 12;
}

/** Whether a text has the form of an id, whatever its kind. */
export function isAnyId(text: string): boolean {
  return idForm.test(text);
}

/** Whether a text begins like an id, also one that was cut or mistyped. */
export function looksLikeId(text: string): boolean {
  return /^[a-z]{3}_[0-9a-z]{6,}$/i.test(text.trim());
}

/** A bank's reference of a payment. */
export const utrForm = /^[A-Z0-9]{12,22}$/;

export function refuseBadUtr(path: "reference" | "utr", utr: string): void {
  if (utrForm.test(utr)) return;
  throw unprocessable({ path, problem: "must be 12 to 22 capitals and digits" });
}

/** The operator's own firm, the counterparty of every binding price. */
export const houseFirmId = {
  live: "frm_00000000000000000000000001",
  sandbox: "frm_00000000000000000000000002",
} as const satisfies Record<Environment, string>;

export function isHouse(firmId: string): boolean {
  return firmId === houseFirmId.live || firmId === houseFirmId.sandbox;
}
