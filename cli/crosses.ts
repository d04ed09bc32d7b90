import { listAllCrosses, readAnyCross } from "../src/crosses/read-crosses.ts";
import { crossStates, findWaitingOn } from "../src/crosses/rules.ts";
import { istTimestamp } from "../src/kernel/time.ts";
import { command, printOne } from "./command.ts";
import { fundCommand } from "./funding.ts";
import { inIst, withOperator } from "./operators.ts";
import { readOptionalWord, printSearch, searchOptions } from "./search.ts";

const list = command({
  name: "crosses list",
  summary: "list crosses with what each waits for, newest first",
  options: { ...searchOptions, status: { help: `only ${crossStates.join(", ")}` } },
  async run(options) {
    const status = readOptionalWord("status", options.status, crossStates);
    await printSearch(options, {
      list: (ctx, search) => listAllCrosses(ctx, { ...search, status }),
      listFirmIds: () => [],
      toRow: (row) => ({
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
      }),
    });
  },
});

const show = command({
  name: "crosses show",
  summary: "show one cross with both of its sides",
  operand: "CROSS_ID",
  options: {},
  async run(options, crossId) {
    const row = await withOperator(
      options,
      { permission: "read", about: [crossId] },
      async ({ ctx }) => await readAnyCross(ctx.db, crossId),
    );
    printOne({ ...inIst(row), waiting_on: findWaitingOn(row) }, options);
  },
});

const fund = fundCommand({
  noun: "cross",
  name: "crosses fund",
  ifMissing: "the buyer can pay anew until the deadline",
});

export const crossCommands = [list, show, fund];
