import { payOutCommission, setCommission } from "../src/settlement/commissions.ts";
import { readConfig } from "../src/config.ts";
import { command, naturalNumber, printOne, wholeNumber } from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";

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

export const deskCommands = [set, pay];
