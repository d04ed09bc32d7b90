import type { Caller } from "../kernel/caller.ts";
import type { Holder } from "./store.ts";

/** A key that is bound to one firm sees that firm's credits; any other key those of its desk. */
export function holderOf(caller: Caller): Holder {
  return {
    deskId: caller.deskId,
    firmId: caller.kind === "sub_account" ? caller.firmId : null,
  };
}
