import { listAllCrosses } from "../src/crosses/read-crosses.ts";
import { crossStates, findWaitingOn } from "../src/crosses/rules.ts";
import { environments } from "../src/kernel/caller.ts";
import { Failure } from "../src/kernel/failure.ts";
import { istTimestamp } from "../src/kernel/time.ts";
import { command, oneOf, print, printOne, wholeNumber } from "./command.ts";
import { fundCommand } from "./funding.ts";
import { inIst, withOperator } from "./operators.ts";

const list = command({
  name: "crosses list",
  summary: "list crosses with what each waits for, newest first",
  options: {
    env: { help: "only live or only sandbox" },
    status: { help: `only ${crossStates.join(", ")}` },
    limit: { default: "100", help: "how many at most" },
  },
  async run(options) {
    const { env, status } = options;
    const search = {
      environment: env === undefined ? undefined : oneOf("env", env, environments),
      status: status === undefined ? undefined : oneOf("status", status, crossStates),
      limit: Math.min(wholeNumber("limit", options.limit), 10_000),
    };
    const rows = await withOperator(
      options,
      { permission: "read", environment: search.environment },
      async ({ ctx }) => await listAllCrosses(ctx, search),
    );
    print(
      rows.map((row) => ({
        cross_id: row.cross_id,
        env: row.environment,
        status: row.state,
        waiting_on: findWaitingOn(row),
        due_at: row.due_at && istTimestamp(row.due_at),
        kind: row.kind,
        seller_iec: row.seller_iec,
        buyer_iec: row.buyer_iec,
        face_paise: row.face_paise,
        buyer_paise: row.buyer_paise,
      })),
      options,
    );
  },
});

const show = command({
  name: "crosses show",
  summary: "show one cross with both of its sides",
  operand: "CROSS_ID",
  options: {},
  async run(options, crossId) {
    const [row] = await withOperator(
      options,
      { permission: "read", about: [crossId] },
      async ({ ctx }) => await listAllCrosses(ctx, { crossId, limit: 1 }),
    );
    if (!row) throw new Failure("not_found", `no cross ${crossId}`);
    printOne({ ...inIst(row), waiting_on: findWaitingOn(row) }, options);
  },
});

const fund = fundCommand({
  noun: "cross",
  name: "crosses fund",
  ifMissing: "the buyer can pay anew until the deadline",
});

export const crossCommands = [list, show, fund];
