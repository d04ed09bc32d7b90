// Who the house is in law, like the commands `house set|show`.

import { type TProperties, Type } from "typebox";

import { listFirmsOfHouse } from "../firms/find-firms.ts";
import { firmStates } from "../firms/rules.ts";
import { showHouse } from "../house/read-house.ts";
import { findStateName, type HouseInLaw, neededParticulars } from "../house/rules.ts";
import { setHouse } from "../house/set-house.ts";
import { alphabetNames } from "../funding/rules.ts";
import { listNumberForms, parseForm, setNumberForm } from "../funding/virtual-accounts.ts";
import { type Operation, operation } from "../platform/http/operation.ts";
import { body, closedEnum, nullableObject, openEnum, timestamp } from "../platform/http/wire.ts";
import { environment, optional, query, under } from "./operation.ts";
import {
  count,
  day,
  doneOrProposed,
  environment as shownEnvironment,
  maybeText,
  Proposed,
  text,
} from "./schema.ts";

const house = under("House");

const bankFields = {
  beneficiary: text("The holder's name, as the bank has it."),
  account_no: text("The whole account number."),
  ifsc: text("The branch's code."),
  bank: text("The bank's name."),
};

const HouseVersion = Type.Object(
  {
    environment: shownEnvironment,
    version: count("Which version of the particulars it is."),
    effective_from: day("The first day on which they hold."),
    legal_name: text("The name in law."),
    iec: maybeText("Its importer-exporter code (IEC); null where none is told."),
    pan: maybeText(
      "Its PAN. A firm of this PAN is the house, and no client; null where none is told.",
    ),
    tan: maybeText("The tax deduction account number (TAN); null where none is told."),
    gstin: maybeText("The GSTIN; null until it is told."),
    cin: maybeText("Its number in the register of companies (CIN); null where none is told."),
    address: Type.Array(Type.String(), { description: "The address, line by line." }),
    state_code: maybeText(
      "The two digits of its state, as a GSTIN begins; null where none is told.",
    ),
    state_name: maybeText("The state that these two digits stand for; null without them."),
    signatory: maybeText("The name of who signs for it; null where none is told."),
    bank: nullableObject(bankFields, { description: "Where buyers pay; null until told." }),
    set_at: timestamp("When it was set."),
    set_by: text("Who proposed or set it."),
    approved_by: maybeText("The second person; null where one was enough."),
  },
  { title: "HouseVersion", description: "Who the house is, from a day on." },
);

const ShownHouse = Type.Object(
  {
    environment: shownEnvironment,
    house: Type.Union([HouseVersion, Type.Null()], {
      description: "The version in force; null before anybody has said who the house is.",
    }),
    missing: Type.Array(openEnum(neededParticulars, "What is missing."), {
      description: "What it lacks of being complete.",
    }),
    versions: Type.Array(HouseVersion, {
      description: "All there were and will be, latest first.",
    }),
    firms: Type.Array(
      Type.Object({
        firm_id: text("A client firm of the house's PAN."),
        desk_id: text("The id of the desk it belongs to."),
        legal_name: text("The firm's legal name."),
        status: openEnum(firmStates, "Its state: what it has open may end."),
      }),
      { description: "Client firms that are the house." },
    ),
  },
  { title: "ShownHouse", description: "Who the house is in law." },
);

const SetHouse = Type.Union(
  [
    Proposed,
    Type.Object({
      outcome: openEnum(["set"], "What came of the enquiry, in words."),
      house: HouseVersion,
    }),
  ],
  { title: "SetHouse", description: "The new version, or the proposal where it takes two people." },
);

const NumberForms = Type.Object(
  {
    forms: Type.Array(
      Type.Object({
        environment: shownEnvironment,
        version: count("Which form it is."),
        form: nullableObject(
          {
            prefix: text("How the numbers begin."),
            length: count("How many characters they have."),
            alphabet: openEnum(alphabetNames, "What they are written with."),
            ifsc: text("The branch that they are at."),
          },
          { description: "As the bank gave it; null where numbers of firms' own ended." },
        ),
        set_at: timestamp("When it was set."),
        set_by: text("Who proposed or set it."),
        approved_by: maybeText("The second person; null where one was enough."),
      }),
      { description: "The latest first. Firms are told numbers of that one; all are read." },
    ),
  },
  { title: "NumberForms", description: "The forms of firms' own account numbers." },
);

/** Empty text takes a particular away. */
const given = (description: string, maxLength = 200) =>
  optional(Type.String({ maxLength, description }));
const needed = <Fields extends TProperties>(fields: Fields, description: string) =>
  optional(Type.Object(fields, { additionalProperties: false, description }));

function viewHouse(version: HouseInLaw) {
  return { ...version, state_name: findStateName(version.state_code) };
}

export const houseOperations: readonly Operation[] = [
  operation({
    ...house.read("showHouse", "/ops/house"),
    summary: "Show who the house is in law, what it lacks, and client firms that are the house",
    query: query({ environment }),
    answer: ShownHouse,
    run: async ({ ctx }, asked) => {
      const shown = await showHouse(ctx, asked.environment);
      const firms = shown.house ? await listFirmsOfHouse(ctx.db, shown.house) : [];
      return {
        ...shown,
        house: shown.house && viewHouse(shown.house),
        versions: shown.versions.map(viewHouse),
        firms: firms.map(({ firm_id, desk_id, legal_name, connection_state: state }) => ({
          firm_id,
          desk_id,
          legal_name,
          state,
        })),
      };
    },
  }),
  operation({
    ...house.act("setHouse", "/ops/house", "house.write"),
    summary: "Say who the house is from a day on; in live it takes two people once two may",
    body: body({
      environment,
      from: optional(
        Type.String({
          pattern: "^\\d{4}-\\d{2}-\\d{2}$",
          description: "The first day of it; today unless given.",
          examples: ["2027-04-01"],
        }),
      ),
      legal_name: given("The name in law. What is left out stays; empty text takes it away."),
      iec: given("Its importer-exporter code: its PAN, or ten digits.", 20),
      pan: given("The house's PAN.", 20),
      tan: given("The tax deduction account number (TAN).", 20),
      gstin: given("The number of the house's GST registration (GSTIN).", 20),
      cin: given("The corporate identity number (CIN).", 30),
      address: optional(
        Type.Array(Type.String({ maxLength: 200 }), {
          description: "The address, line by line.",
          maxItems: 10,
        }),
      ),
      state_code: given("The two digits of its state, as a GSTIN begins.", 2),
      signatory: given("Who signs for it, with the office they hold."),
      bank: needed(bankFields, "The bank account that buyers pay to."),
    }),
    answer: SetHouse,
    run: async (
      { ctx, actor, wiring: { houseSetting: kind } },
      { environment: where, from, ...particulars },
    ) => {
      const done = await setHouse(ctx, actor, { kind, environment: where, from, particulars });
      return done.outcome === "set" ? { ...done, house: viewHouse(done.house) } : done;
    },
  }),
  operation({
    ...house.read("listNumberForms", "/ops/house/virtual-accounts"),
    summary: "List the forms of firms' own account numbers at the house's bank",
    query: query({ environment }),
    answer: NumberForms,
    run: async ({ ctx }, asked) => ({ forms: await listNumberForms(ctx.db, asked.environment) }),
  }),
  operation({
    ...house.act("setNumberForm", "/ops/house/virtual-accounts", "house.write"),
    summary:
      "Give each firm an account number of its own, by the bank's form; two people once two may",
    body: body({
      environment,
      prefix: optional(Type.String({ maxLength: 12, description: "How the numbers begin." })),
      length: optional(
        Type.Integer({ minimum: 1, maximum: 30, description: "How many characters they have." }),
      ),
      alphabet: optional(closedEnum(alphabetNames, { description: "What they are written with." })),
      ifsc: optional(Type.String({ maxLength: 20, description: "The branch that they are at." })),
      off: optional(
        Type.Boolean({ description: "End the numbers: firms pay the house's account." }),
      ),
    }),
    answer: doneOrProposed("SetNumberForm", ["set"]),
    run: ({ ctx, actor }, { environment: where, ...form }) =>
      setNumberForm(ctx, actor, { environment: where, form: parseForm(form) }),
  }),
];
