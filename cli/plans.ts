import { listPlans, setPlan } from "../src/access/plans.ts";
import { command, naturalNumber, print, printOne, wholeNumber } from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";

const list = command({
  name: "plans list",
  summary: "list the plans that keys are metered by",
  options: {},
  async run(options) {
    print(
      await withOperator(options, { permission: "read" }, async ({ ctx }) => await listPlans(ctx)),
      options,
    );
  },
});

const set = command({
  name: "plans set",
  summary: "make or change a plan; its keys follow from their next call",
  options: {
    name: { required: true, help: "name of the plan" },
    "per-minute": { required: true, help: "calls per 60-second sliding window" },
    monthly: { required: true, help: "calls per IST month" },
    "child-keys": { help: "child keys of a desk at a time; kept, or 25, when left out" },
    "unfunded-max-paise": { help: "deals of a firm that may wait for money; left out, as it is" },
    "unfunded-desk-max-paise": { help: "the same of all firms of a desk together" },
    "unpaid-days": { help: "working days for which a deal that was not paid counts; 0 for none" },
    ...operatorOption,
  },
  example: "npx scripdesk plans set --name tiny --per-minute 5 --monthly 100",
  async run(options) {
    const plan = {
      name: options.name,
      perMinute: wholeNumber("per-minute", options["per-minute"]),
      monthlyQuota: wholeNumber("monthly", options.monthly),
      unfundedMaxPaise: readNatural("unfunded-max-paise", options["unfunded-max-paise"]),
      unfundedDeskMaxPaise: readNatural(
        "unfunded-desk-max-paise",
        options["unfunded-desk-max-paise"],
      ),
      unpaidDays: readNatural("unpaid-days", options["unpaid-days"]),
      childKeysMax: readNatural("child-keys", options["child-keys"]),
    };
    printOne(
      await withOperator(
        options,
        { permission: "plans.write" },
        async ({ ctx, actor }) => await setPlan(ctx, plan, actor),
      ),
      options,
    );
  },
});

/** Undefined where it was left out. */
function readNatural(name: string, given: string | undefined): number | undefined {
  return given === undefined ? undefined : naturalNumber(name, given);
}

export const planCommands = [list, set];
