import { payOutCommission, setCommission } from "../src/settlement/commissions.ts";
import { readConfig } from "../src/config.ts";
import { istTimestamp } from "../src/kernel/time.ts";
import { listDesks, showDesk } from "../src/overview/desks.ts";
import { command, naturalNumber, print, printOne, wholeNumber } from "./command.ts";
import { inIst, operatorOption, withOperator } from "./operators.ts";
import { pageOptions, printSearch, searchOptions, spanOptions } from "./search.ts";

const set = command({
  name: "desks set-commission",
  summary: "set what a desk earns on its clients' deals that settle from now on",
  options: {
    firm: { required: true, help: "id of the desk's own firm" },
    bps: { required: true, help: "basis points of face, 0 to 100" },
    ...operatorOption,
  },
  example: "npx scripdesk desks set-commission --firm frm_… --bps 5",
  async run(options) {
    const terms = { firmId: options.firm, bps: naturalNumber("bps", options.bps) };
    const act = { permission: "desks.write", about: [options.firm] } as const;
    printOne(
      await withOperator(options, act, ({ ctx, actor }) => setCommission(ctx, actor, terms)),
      options,
    );
  },
});

const pay = command({
  name: "desks pay-commission",
  summary: "say that a desk was paid its commission, by the bank's reference",
  options: {
    firm: { required: true, help: "id of the desk's own firm" },
    paise: { required: true, help: "how much, in paise" },
    utr: { required: true, help: "the bank's reference (UTR); saying it again changes nothing" },
    ...operatorOption,
  },
  example:
    "npx scripdesk desks pay-commission --firm frm_… --paise 1250000 --utr HDFCN52026120100012345",
  async run(options) {
    const payment = {
      firmId: options.firm,
      paise: wholeNumber("paise", options.paise),
      utr: options.utr,
      twoFromPaise: readConfig(process.env).twoOperatorsFromPaise,
    };
    const act = { permission: "commissions.pay", about: [options.firm] } as const;
    const told = await withOperator(options, act, ({ ctx, actor }) =>
      payOutCommission(ctx, actor, payment),
    );
    const { firmId: firm_id, paise, utr } = payment;
    printOne({ ...told, firm_id, paise, utr }, options);
  },
});

const list = command({
  name: "desks list",
  summary: "list desks with their plans, newest first",
  options: { env: searchOptions.env, ...spanOptions, ...pageOptions },
  async run(options) {
    await printSearch(options, {
      list: (ctx, search) => listDesks(ctx, search),
      listFirmIds: () => [],
      toRow: (desk) => ({
        desk: desk.legal_name,
        env: desk.environment,
        iec: desk.iec,
        state: desk.connection_state,
        plans: desk.plans,
        client_firms: desk.client_firms,
        created_at: istTimestamp(desk.created_at),
        id: desk.desk_id,
      }),
    });
  },
});

const show = command({
  name: "desks show",
  summary: "show a desk with its own firm, its keys and what it earns",
  operand: "DESK_ID",
  options: {},
  async run(options, deskId) {
    const reading = { permission: "read", about: [deskId] } as const;
    const desk = await withOperator(options, reading, ({ ctx }) => showDesk(ctx, deskId));
    const { firm, keys, ...facts } = desk;
    if (options.json) return printOne({ ...inIst(facts), firm, keys }, options);
    printOne({ ...inIst(facts), pan: firm.pan, gstin: firm.gstin, email: firm.email }, options);
    process.stdout.write("\nkeys\n");
    print(
      keys.map(({ key_id, kind, name, plan, status }) => ({ key_id, kind, name, plan, status })),
      options,
    );
    return undefined;
  },
});

export const deskCommands = [list, show, set, pay];
