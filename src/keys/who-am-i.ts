import type { Caller } from "../kernel/caller.ts";
import type { WhoAmI } from "./schema.ts";

export function whoAmI(caller: Caller): WhoAmI {
  return {
    key_id: caller.keyId,
    kind: caller.kind,
    environment: caller.environment,
    firm_id: caller.firmId,
    desk_id: caller.deskId,
    parent_key_id: caller.kind === "root" ? null : caller.rootKeyId,
    scopes: [...caller.scopes],
    buy_side: caller.buySide,
  };
}
