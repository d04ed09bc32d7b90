// The trace that a caller's request belongs to, by the header `traceparent` of W3C Trace Context. It is
// logged and passed on to the webhooks of what the request did, and decides nothing.

/** Where a request stands in its caller's trace. */
export type Trace = {
  readonly traceId: string;
  /** Of our part, which what the request causes has as its parent. */
  readonly spanId: string;
  /** The header that passes it on. */
  readonly traceparent: string;
};

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const nothing = /^0+$/;
const invalidVersion = "ff";
const knownVersion = "00";
/** The only flag of version 00: the caller may have recorded its part. */
const sampledFlag = 1;

/**
 * Continues the trace of a header by a part of our own, whose id is 16 hex digits. A header that is not
 * as the recommendation has it counts as none; of a later version only what version 00 has is read.
 */
export function continueTrace(header: unknown, spanId: string): Trace | undefined {
  const parts = typeof header === "string" ? form.exec(header) : null;
  if (!parts) return undefined;
  const [, version, traceId = "", parentId = "", flags = "", more] = parts;
  if (version === invalidVersion || (version === knownVersion && more !== undefined)) {
    return undefined;
  }
  if (nothing.test(traceId) || nothing.test(parentId)) return undefined;
  const passed = (Number.parseInt(flags, 16) & sampledFlag).toString().padStart(2, "0");
  return { traceId, spanId, traceparent: `${knownVersion}-${traceId}-${spanId}-${passed}` };
}
