// The messages between the service and a thread. An error is packed into plain fields: structured
// clone keeps only message and stack, and a Failure must arrive as a Failure.

import { Failure, type FailureCode } from "../../kernel/failure.ts";

export type Asked = { readonly kind: string; readonly input: unknown };

export type HeavyAnswer =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly refusal: Refusal }
  | { readonly ok: false; readonly fault: string };

type Refusal = {
  readonly code: FailureCode;
  readonly message: string;
  readonly detail: Failure["detail"];
  readonly form: Failure["form"];
};

export function packError(error: unknown): HeavyAnswer {
  if (error instanceof Failure) {
    const { code, message, detail, form } = error;
    return { ok: false, refusal: { code, message, detail, form } };
  }
  return {
    ok: false,
    fault: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}

export function unpackError(answered: Exclude<HeavyAnswer, { ok: true }>): Error {
  if ("fault" in answered) return new Error(`in a thread: ${answered.fault}`);
  const { code, message, detail, form } = answered.refusal;
  return new Failure(code, message, { form, ...(detail && { detail }) });
}
