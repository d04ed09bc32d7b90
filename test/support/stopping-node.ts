// Another node of a service that takes the matching of the sandbox in both schemes, says so, and is
// stopped by the system before it can let go: to be run in a process of its own, with its database as
// its argument.

import { lockMatching } from "../../src/trading/order-store.ts";
import { openDatabase } from "../../src/platform/postgres/postgres.ts";

const db = openDatabase({
  connection: JSON.parse(process.argv[2] ?? "{}"),
  role: "scripdesk_app",
  onIdleError() {},
});
await db.transaction(async (tx) => {
  await tx.run(lockMatching("sandbox"));
  process.stdout.write("matching\n");
  process.kill(process.pid, "SIGSTOP");
});
