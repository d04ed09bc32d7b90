// Calls of the operators' API. The session is a cookie that this script cannot read; the header says
// that a request was made by this page and not by somebody else's.

import { Refusal } from "../ask.js";

/** @typedef {Record<string, any>} Row */
/** @typedef {Readonly<Record<string, string | number | boolean | null | undefined>>} Query */

const consoleHeader = { "x-scripdesk-console": "1" };

/** What is asked takes a sign-in of this moment by the directory. */
export class SignInAgain extends Refusal {}

/** Nobody is signed in, or no longer. */
export class SignedOut extends Error {}

/**
 * @param {string} path
 * @param {{method?: string | undefined, body?: object | undefined, query?: Query | undefined, signal?: AbortSignal | undefined}} options
 * @returns {Promise<any>}
 */
export async function callOps(path, { method, body, query, signal } = {}) {
  const response = await send(path, { method, body, query, signal });
  const answer = await response.json().catch((error) => {
    if (signal?.aborted) throw error; // The page was left: half an answer is none.
    return {};
  });
  if (response.ok) return answer;
  throw toRefusal(response.status, answer);
}

/**
 * @param {string} path
 * @param {Query} [query]
 * @param {AbortSignal} [signal]
 */
export async function readOps(path, query, signal) {
  return await callOps(path, { query, signal });
}

/** The service's own document. @type {Promise<any> | undefined} */
let described;

/** @param {string} path */
async function readDescription(path) {
  described ??= callOps("/ops/openapi.json").catch((error) => {
    described = undefined;
    throw error;
  });
  return (await described).paths[path];
}

/**
 * The words that each parameter of a list may be, by its name; those that may be anything have none.
 *
 * @param {string} path
 * @returns {Promise<Readonly<Record<string, readonly string[] | undefined>>>}
 */
export async function readWords(path) {
  /** @type {{name: string, schema: {enum?: string[]}}[]} */
  const parameters = (await readDescription(path)).get.parameters;
  return Object.fromEntries(parameters.map(({ name, schema }) => [name, schema.enum]));
}

/**
 * The words of which a field of an act takes several.
 *
 * @param {string} path
 * @param {string} field
 * @returns {Promise<readonly string[]>}
 */
export async function readFieldWords(path, field) {
  const { requestBody } = (await readDescription(path)).post;
  return requestBody.content["application/json"].schema.properties[field].items.enum;
}

/**
 * Events of a stream, one after another, until the signal; a stream that breaks is opened anew.
 *
 * @param {string} path
 * @param {{query: Query, signal: AbortSignal, onEvent: (data: any) => void, onState: (isLive: boolean) => void}} options
 */
export async function followOps(path, { query, signal, onEvent, onState }) {
  while (!signal.aborted) {
    try {
      const response = await send(path, { query, signal });
      if (!response.ok || !response.body) throw toRefusal(response.status, {});
      onState(true);
      await readEvents(response.body, onEvent);
    } catch (error) {
      if (error instanceof SignedOut || signal.aborted) return;
    }
    onState(false);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
}

/**
 * @param {ReadableStream<Uint8Array>} body
 * @param {(data: any) => void} onEvent
 */
async function readEvents(body, onEvent) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (text + decoder.decode(value, { stream: true })).split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const data = part
        .split("\n")
        .filter((line) => line.startsWith("data: "))
        .map((line) => line.slice("data: ".length))
        .join("\n");
      if (data !== "") onEvent(JSON.parse(data));
    }
  }
}

/**
 * @param {string} path
 * @param {{method?: string | undefined, body?: object | undefined, query?: Query | undefined, signal?: AbortSignal | undefined}} options
 */
async function send(path, { method, body, query = {}, signal }) {
  const given = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  const asked = given.length === 0 ? path : `${path}?${search.toString()}`;
  const response = await fetch(asked, {
    method: method ?? (body ? "POST" : "GET"),
    headers: { ...consoleHeader, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error) => {
    if (signal?.aborted) throw error;
    throw new Refusal("The service cannot be reached. Check the connection and try again.");
  });
  if (response.status === 401 && path.startsWith("/ops/")) {
    await response.text(); // A connection whose answer is not read stays taken.
    throw new SignedOut("signed out");
  }
  return response;
}

/**
 * @param {number} status
 * @param {{message?: string, detail?: {reason?: string, fields?: readonly import("../ask.js").FieldProblem[], retry_after_s?: number}}} answer
 */
function toRefusal(status, { message, detail }) {
  const fields = detail?.fields ?? [];
  if (status >= 500) return new Refusal("Something went wrong in the service. Try again.", fields);
  const said = message ?? "The service refused this.";
  const sentence = `${said.charAt(0).toUpperCase()}${said.slice(1)}.`.replace(/\.\.$/, ".");
  return detail?.reason === "sign_in_again"
    ? new SignInAgain(sentence)
    : new Refusal(sentence, fields);
}
