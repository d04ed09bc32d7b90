import type { IncomingMessage } from "node:http";

import { newId } from "../kernel/ids.ts";
import { maskSecrets } from "../kernel/secrets.ts";

/** Visible ASCII: what a header carries unchanged. */
const requestIdForm = /^[!-~]{1,200}$/;

/** The caller's own id, or one made here. A key that was sent in its place is not repeated. */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">, now: Date): string {
  const inbound = headers["x-request-id"];
  const isUsable = typeof inbound === "string" && requestIdForm.test(inbound);
  return isUsable && maskSecrets(inbound) === inbound ? inbound : newId("req", now);
}
