import { schemes, sides } from "../src/kernel/scheme.ts";
import { findNames } from "../src/overview/desks.ts";
import { cancelAnyOrder } from "../src/trading/end-orders.ts";
import { orderStates } from "../src/trading/order-rules.ts";
import { listAllOrders, readAnyOrder } from "../src/trading/read-orders.ts";
import { command, print, printOne } from "./command.ts";
import { collectRows, operatorOption, withOperator } from "./operators.ts";
import { readOptionalWord, printSearch, searchOptions } from "./search.ts";

const list = command({
  name: "orders list",
  summary: "list orders of every desk, newest first",
  options: {
    ...searchOptions,
    status: { help: `only ${orderStates.join(", ")}` },
    side: { help: "only sell or only buy" },
    scheme: { help: `only ${schemes.join(" or only ")}` },
  },
  example: "npx scripdesk orders list --env live --status open",
  async run(options) {
    const narrower = {
      status: readOptionalWord("status", options.status, orderStates),
      side: readOptionalWord("side", options.side, sides),
      scheme: readOptionalWord("scheme", options.scheme, schemes),
    };
    await printSearch(options, {
      list: (ctx, search) => listAllOrders(ctx, { ...search, ...narrower }),
      listFirmIds: (order) => [order.desk_id, order.firm_id],
      toRow: (order) => ({
        order_id: order.order_id,
        env: order.environment,
        desk_id: order.desk_id,
        firm_id: order.firm_id,
        side: order.side,
        scheme: order.scheme,
        status: order.status,
        asked_paise: order.face_paise ?? order.requirement_paise ?? null,
        covered_paise: order.covered_paise,
        price_bps: order.price_bps,
        all_in_paise: order.all_in_paise,
        settlement_id: order.settlement_id,
        settlement_status: order.settlement_status,
        created_at: order.created_at,
      }),
    });
  },
});

const show = command({
  name: "orders show",
  summary: "show an order of any desk, with its history",
  operand: "ORDER_ID",
  options: {},
  async run(options, orderId) {
    const reading = { permission: "read", about: [orderId] } as const;
    const { order, names } = await withOperator(options, reading, async ({ ctx }) => {
      const found = await readAnyOrder(ctx.db, orderId);
      return { order: found, names: await findNames(ctx.db, [found.desk_id, found.firm_id]) };
    });
    if (options.json) return printOne(order, options);
    const history = order.history.map(({ status, at, reason }) =>
      [status, at, ...(reason === null ? [] : [`(${reason})`])].join(" "),
    );
    printOne({ ...order, history }, { ...options, names });
    return undefined;
  },
});

const cancel = command({
  name: "orders cancel",
  summary: "cancel what rests of an order; what was dealt stands, and the desk is told",
  operand: "ORDER_ID",
  operandOptional: true,
  options: { csv: { help: "a file with the column order_id" }, ...operatorOption },
  async run(options, orderId) {
    const rows = await collectRows(orderId, {
      csv: options.csv,
      idColumn: "order_id",
      columns: {},
    });
    const act = { permission: "orders.write", about: rows.map(({ id }) => id) } as const;
    const lines: Record<string, unknown>[] = [];
    await withOperator(options, act, async ({ ctx, actor }) => {
      for (const { id } of rows) {
        const { status, covered_paise } = await cancelAnyOrder(ctx, actor, id);
        lines.push({ order_id: id, status, covered_paise });
      }
    });
    print(lines, options);
  },
});

export const orderCommands = [list, show, cancel];
