import { boundFirm } from "../firms/doer.ts";
import type { Caller } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";

/** For a live key these operations are not there. */
export function onlySandbox({ environment }: Caller): void {
  if (environment !== "sandbox") throw notFound();
}

/** What concerns the whole desk is not for a key that is bound to one firm. */
export function onlyWholeDesk(caller: Caller): void {
  onlySandbox(caller);
  if (boundFirm(caller) === null) return;
  throw new Failure("forbidden", "a sub_account key may not set the desk's sandbox", {
    detail: { reason: "sub_account_key" },
  });
}
