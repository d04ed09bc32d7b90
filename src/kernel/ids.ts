// Ids are a prefix that says what they name and a sortable body: 48 bits of time and 80 random bits
// in Crockford's base 32, so that new rows go to the end of their index.

import { randomFillSync } from "node:crypto";

import type { Environment } from "./caller.ts";
import { unprocessable } from "./failure.ts";

type IdPrefix =
  | "frm"
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
  | "stl"
  | "pay"
  | "enq"
  | "whk"
  | "dlv"
  | "opr"
  | "apr"
  | "fil"
  | "bst"
  | "bln"
  | "nad"
  | "ntc";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const timeDigits = 10;
const randomDigits = 16;

export const idBodyLength = timeDigits + randomDigits;
export const idBodyPattern = `[${alphabet}]{${idBodyLength}}`;

const idForm = new RegExp(`^[a-z]{3}_${idBodyPattern}$`);

export function newId(prefix: IdPrefix, now: Date): string {
  return `${prefix}_${timeBody(now.getTime())}${randomBody()}`;
}

/** The lower bound of all ids made at this time or later. */
export function firstId(prefix: IdPrefix, at: Date): string {
  return `${prefix}_${timeBody(at.getTime())}${"0".repeat(randomDigits)}`;
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
const pairsPerId = randomDigits / 2;

/** A pool of random bits: one fetch costs more than an id. */
const pool = new Uint16Array(pairsPerId * 512);
let poolUsed = pool.length;

function randomBody(): string {
  if (poolUsed === pool.length) {
    randomFillSync(pool);
    poolUsed = 0;
  }
  let body = "";
  for (let pair = 0; pair < pairsPerId; pair++) {
    body += pairs[(pool[poolUsed++] ?? 0) & 1_023] ?? "";
  }
  return body;
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
