import { houseSetting } from "../src/approval-kinds.ts";
import { listFirmsOfHouse } from "../src/firms/find-firms.ts";
import { alphabetNames } from "../src/funding/rules.ts";
import { listNumberForms, parseForm, setNumberForm } from "../src/funding/virtual-accounts.ts";
import { showHouse } from "../src/house/read-house.ts";
import { type HouseInLaw, formatState } from "../src/house/rules.ts";
import { setHouse } from "../src/house/set-house.ts";
import { environments } from "../src/kernel/caller.ts";
import { istTimestamp } from "../src/kernel/time.ts";
import { command, parseChoice, print, printOne, UsageError, wholeNumber } from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";

const show = command({
  name: "house show",
  summary: "show who the house is in law, and what it lacks of being complete",
  options: {
    env: { required: true, help: "live or sandbox" },
    history: { type: "boolean", help: "every version, the latest first" },
  },
  example: "npx scripdesk house show --env live",
  async run(options) {
    const environment = parseChoice("env", options.env, environments);
    const shown = await withOperator(
      options,
      { permission: "read", environment },
      async ({ ctx }) => {
        const found = await showHouse(ctx, environment);
        const firms = found.house ? await listFirmsOfHouse(ctx.db, found.house) : [];
        return {
          ...found,
          firms: firms.map(({ firm_id, legal_name }) => ({ firm_id, legal_name })),
        };
      },
    );
    const { house, missing, versions, firms } = shown;
    if (options.history) {
      print(versions.map(viewVersion), options);
      return;
    }
    if (options.json) {
      printOne({ env: environment, house: house && viewVersion(house), missing, firms }, options);
      return;
    }
    printOne(
      {
        ...(house ? readable(house) : { env: environment, legal_name: "" }),
        missing: missing.join(", ") || "nothing",
        clients_of_its_pan: firms.map(({ firm_id }) => firm_id).join(", ") || "none",
      },
      options,
    );
  },
});

const particularOptions = {
  "legal-name": { help: "the name in law" },
  iec: { help: "importer-exporter code: the PAN, or ten digits" },
  pan: { help: "PAN" },
  tan: { help: "TAN, under which tax is deducted" },
  gstin: { help: "GSTIN" },
  cin: { help: "CIN of a company" },
  address: { help: "lines separated by |" },
  state: { help: "the two digits of its state, as a GSTIN begins" },
  signatory: { help: "who signs for it, with the office they hold" },
} as const;

const bankOptions = {
  beneficiary: { help: "holder of the account that buyers pay into" },
  account: { help: "its number" },
  ifsc: { help: "its IFSC" },
  bank: { help: "the bank's name" },
} as const;

const set = command({
  name: "house set",
  summary: "say who the house is from a day on; what is left out stays, '' takes it away",
  options: {
    env: { required: true, help: "live or sandbox" },
    from: { help: "the first day of it; today unless given" },
    ...particularOptions,
    ...bankOptions,
    ...operatorOption,
  },
  example:
    "npx scripdesk house set --env live --legal-name 'Mint House Private Limited' --pan AAGCB7383J --iec AAGCB7383J --state 29",
  async run(options) {
    const environment = parseChoice("env", options.env, environments);
    const { beneficiary, account: account_no, ifsc, bank } = options;
    const parts = [beneficiary, account_no, ifsc, bank];
    const isWhole = parts.every((part) => part !== undefined);
    if (!isWhole && parts.some((part) => part !== undefined)) {
      throw new UsageError("--beneficiary, --account, --ifsc and --bank go together");
    }
    const done = await withOperator(
      options,
      { permission: "house.write", environment },
      async ({ ctx, actor }) =>
        await setHouse(ctx, actor, {
          kind: houseSetting,
          environment,
          from: options.from,
          particulars: {
            legal_name: options["legal-name"],
            iec: options.iec,
            pan: options.pan,
            tan: options.tan,
            gstin: options.gstin,
            cin: options.cin,
            address: options.address?.split("|"),
            state_code: options.state,
            signatory: options.signatory,
            ...(beneficiary !== undefined &&
              account_no !== undefined &&
              ifsc !== undefined &&
              bank !== undefined && { bank: { beneficiary, account_no, ifsc, bank } }),
          },
        }),
    );
    if (done.outcome === "proposed") printOne(done, options);
    else printOne(options.json ? viewVersion(done.house) : readable(done.house), options);
  },
});

function viewVersion({ environment, set_at, ...house }: HouseInLaw) {
  return { env: environment, ...house, set_at: istTimestamp(set_at) };
}

/** One line for each particular. */
function readable(house: HouseInLaw) {
  const { address, bank, state_code, approved_by, ...rest } = viewVersion(house);
  return {
    ...rest,
    address: address.join(", "),
    state: state_code && formatState(state_code),
    beneficiary: bank?.beneficiary ?? null,
    account_no: bank?.account_no ?? null,
    ifsc: bank?.ifsc ?? null,
    bank: bank?.bank ?? null,
    approved_by,
  };
}

const numbers = command({
  name: "house numbers",
  summary: "set the form of firms' own account numbers as the bank gave it, or list the forms",
  options: {
    env: { required: true, help: "live or sandbox" },
    prefix: { help: "how they begin" },
    length: { help: "how many characters they have" },
    alphabet: { help: alphabetNames.join(" or ") },
    ifsc: { help: "the branch that they are at" },
    off: { type: "boolean", help: "end the numbers: firms pay into the house's account" },
    ...operatorOption,
  },
  example:
    "npx scripdesk house numbers --env live --prefix SCRIP --length 16 --alphabet letters --ifsc HDFC0000001",
  async run(options) {
    const environment = parseChoice("env", options.env, environments);
    const { prefix, length, alphabet, ifsc, off } = options;
    if (!off && [prefix, length, alphabet, ifsc].every((part) => part === undefined)) {
      const forms = await withOperator(
        options,
        { permission: "read", environment },
        async ({ ctx }) => await listNumberForms(ctx.db, environment),
      );
      print(
        forms.map(({ environment: env, form, set_at, ...row }) => ({
          env,
          ...(form ?? { prefix: null, length: null, alphabet: null, ifsc: null }),
          ...row,
          set_at: istTimestamp(set_at),
        })),
        options,
      );
      return;
    }
    const form = parseForm({
      off,
      prefix,
      length: length === undefined ? undefined : wholeNumber("length", length),
      alphabet:
        alphabet === undefined ? undefined : parseChoice("alphabet", alphabet, alphabetNames),
      ifsc,
    });
    const done = await withOperator(
      options,
      { permission: "house.write", environment },
      async ({ ctx, actor }) => await setNumberForm(ctx, actor, { environment, form }),
    );
    printOne(done, options);
  },
});

export const commands = [show, set, numbers];
