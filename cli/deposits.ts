import { reverseDeposit } from "../src/bankbook/reverse-deposit.ts";
import { readConfig } from "../src/config.ts";
import { addDeposit } from "../src/payouts/deposits.ts";
import { environments } from "../src/kernel/caller.ts";
import { command, parseChoice, print, printOne, wholeNumber } from "./command.ts";
import { collectRows, operatorOption, required, withOperator } from "./operators.ts";

const add = command({
  name: "deposits add",
  summary: "add money that a firm has paid in; what its balance reaches for is funded from it",
  options: {
    env: { required: true, help: "live or sandbox" },
    firm: { help: "the firm's id" },
    paise: { help: "how much, in paise" },
    reference: { help: "the bank's reference (UTR); adding it again changes nothing" },
    csv: { help: "a file with the columns firm_id, paise, reference" },
    ...operatorOption,
  },
  example:
    "npx scripdesk deposits add --env live --firm frm_… --paise 250000000 --reference HDFCR52026111500012345",
  async run(options) {
    const environment = parseChoice("env", options.env, environments);
    const rows = await collectRows(options.firm ?? "", {
      csv: options.csv,
      idColumn: "firm_id",
      columns: { paise: options.paise, reference: options.reference },
    });
    const { twoOperatorsFromPaise: twoFromPaise } = readConfig(process.env);
    const lines: Record<string, unknown>[] = [];
    const act = { permission: "deposits.write", environment } as const;
    await withOperator(options, act, async ({ ctx, actor }) => {
      for (const { id: firmId, paise, reference } of rows) {
        const money = {
          paise: wholeNumber("paise", paise),
          reference: required("reference", reference),
        };
        const added = await addDeposit(ctx, actor, {
          environment,
          firmId,
          ...money,
          twoFromPaise,
        });
        const approval_id = "approval_id" in added ? added.approval_id : null;
        lines.push({ outcome: added.outcome, firm_id: firmId, ...money, approval_id });
      }
    });
    print(lines, options);
  },
});

const reverse = command({
  name: "deposits reverse",
  summary: "take back a deposit that was entered by mistake and that no bank line explains",
  options: {
    env: { default: "live", help: "live or sandbox" },
    reference: { required: true, help: "the bank's reference (UTR) that it was entered under" },
    reason: { required: true, help: "why" },
    ...operatorOption,
  },
  example:
    'npx scripdesk deposits reverse --reference HDFCR52026111500012345 --reason "wrong firm"',
  async run({ reference, reason, ...options }) {
    const environment = parseChoice("env", options.env, environments);
    const { twoOperatorsFromPaise: twoFromPaise } = readConfig(process.env);
    const act = { permission: "deposits.write", environment } as const;
    const reversed = await withOperator(options, act, ({ ctx, actor }) =>
      reverseDeposit(ctx, actor, { environment, reference, reason, twoFromPaise }),
    );
    printOne(reversed, options);
  },
});

export const depositCommands = [add, reverse];
