// An option that is misspelt, or that a call does not take, would be ignored in silence: a write whose
// idempotency key is dropped is made twice.

import type {
  CallOptions,
  ClientOptions,
  CreateOptions,
  Operation,
  StreamOptions,
  WriteOptions,
} from "./options.ts";

type Names<Options> = { readonly [Name in keyof Options]-?: true };

const limits = {
  attempt_timeout_ms: true,
  timeout_ms: true,
  max_retries: true,
  on_answer: true,
} as const;
const ofCalls: Names<CallOptions> = { ...limits, signal: true, request_id: true };
const ofWrites: Names<WriteOptions> = { ...ofCalls, dry_run: true };
const ofCreations: Names<CreateOptions> = { ...ofWrites, idempotency_key: true };
const ofStreams: Names<StreamOptions> = {
  ...ofCalls,
  last_event_id: true,
  reconnect_ms: true,
  idle_timeout_ms: true,
};
const ofClients: Names<ClientOptions> = {
  ...limits,
  base_url: true,
  api_key: true,
  retry_delay_ms: true,
  fetch: true,
};

export function checkOptions(operation: Operation, given: object): void {
  refuseUnknown(operation.id, given, findNames(operation));
}

export function checkClientOptions(given: object): void {
  refuseUnknown("Scripdesk", given, ofClients);
}

function findNames({ kind, method, takes_key: takesKey }: Operation): object {
  if (kind === "events") return ofStreams;
  if (takesKey === true) return ofCreations;
  return method === "GET" ? ofCalls : ofWrites;
}

function refuseUnknown(what: string, given: unknown, known: object): void {
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`the options of ${what} are an object`);
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name)) continue;
    const meant = Object.keys(known).find((one) => plain(one) === plain(name));
    throw new TypeError(
      `${what} takes no option ${name}${meant === undefined ? "" : `; it is ${meant}`}`,
    );
  }
}

/** `idempotencyKey` and `idempotency_key` are one name here. */
function plain(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}
