import { fundDeal } from "../src/bankbook/fund-deal.ts";
import { readConfig } from "../src/config.ts";
import { utrForm } from "../src/kernel/ids.ts";
import { attestSeen } from "./attest.ts";
import { command, printOne, UsageError, wholeNumber } from "./command.ts";
import { collectRows, operatorOption, required, withOperator } from "./operators.ts";

/** The command that says what the bank did about money that is waited for, by whatever waits for it. */
export function fundCommand({
  noun,
  name,
  ifMissing,
}: {
  readonly noun: "settlement" | "cross";
  readonly name: string;
  readonly ifMissing: string;
}) {
  const idColumn = `${noun}_id`;
  return command({
    name,
    summary: `say that the buyer's money for a ${noun} has arrived, or will not`,
    operand: idColumn.toUpperCase(),
    operandOptional: true,
    options: {
      reference: { help: "the bank's reference (UTR) of the money" },
      paise: { help: "how much came, where it is not the whole; what is short is waited for" },
      missing: { type: "boolean", help: `it will not come: ${ifMissing}` },
      csv: { help: `a file with the columns ${idColumn}, reference` },
      ...operatorOption,
    },
    example: `npx scripdesk ${name} ${noun === "cross" ? "crs" : "stl"}_… --reference HDFCR52026111500012345`,
    async run(options, id) {
      const { reference, csv } = options;
      if (options.paise !== undefined) {
        if (options.missing || csv !== undefined) {
          throw new UsageError("give --paise with one id and its --reference only");
        }
        const paise = wholeNumber("paise", options.paise);
        const utr = parseUtr(required("reference", reference ?? ""));
        const { twoOperatorsFromPaise: twoFromPaise } = readConfig(process.env);
        const told = await withOperator(
          options,
          { permission: "settlements.write", about: [id] },
          async ({ ctx, actor }) =>
            await fundDeal(ctx, actor, { dealId: id, paise, reference: utr, twoFromPaise }),
        );
        return printOne({ [idColumn]: id, paise, ...told }, options);
      }
      const rows = await collectRows(id, { csv, idColumn, columns: { reference } });
      const seen = rows.map((row) => ({
        subjectId: row.id,
        answer: {
          arrived: !options.missing,
          reference: options.missing ? null : parseUtr(row.reference),
        },
        reference: required("reference", row.reference),
      }));
      const attested = await withOperator(
        options,
        { permission: "settlements.write", about: rows.map((row) => row.id) },
        async ({ ctx, actor }) => await attestSeen(ctx, actor, { kind: "deal_funding", seen }),
      );
      printOne(attested, options);
      return undefined;
    },
  });
}

function parseUtr(reference: string): string {
  if (utrForm.test(reference)) return reference;
  throw new UsageError("--reference must be the bank's: 12 to 22 capitals and digits");
}
