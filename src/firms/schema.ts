import { type Static, Type } from "typebox";

import { checkNames } from "../outside/question-rules.ts";
import { environments } from "../kernel/caller.ts";
import {
  body,
  closedEnum,
  maybeText,
  nullable,
  nullableObject,
  openEnum,
  removable,
  timestamp,
  version,
} from "../platform/http/wire.ts";
import { firmHoldReasons } from "./hold-rules.ts";
import { firmRoles, firmStates, transferInitiators } from "./rules.ts";

const firmId = Type.String({
  description: "The firm's id.",
  examples: ["frm_01jd2m7q4x8r5v6w9y0abcdefg"],
});

const legalName = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "As registered with customs.",
  examples: ["Acme Exports Private Limited"],
});
const iec = Type.String({
  maxLength: 40,
  description: "Importer-exporter code: the PAN, or ten digits for an old one.",
  examples: ["AAGCB7383J"],
});
const pan = Type.String({
  maxLength: 40,
  description: "Permanent account number (PAN).",
  examples: ["AAGCB7383J"],
});
const gstin = {
  type: "string",
  maxLength: 40,
  description:
    "The number of the GST registration; it holds the PAN, and its last character is a check.",
  examples: ["29AAGCB7383J1Z4"],
} as const;
const cin = {
  type: "string",
  maxLength: 40,
  description: "Corporate identity number (CIN), of companies only.",
  examples: ["U51909KA2015PTC082321"],
} as const;
const email = Type.String({
  maxLength: 254,
  description: "Where people of the firm are reached.",
  examples: ["accounts@acme.example"],
});
const phone = {
  type: "string",
  maxLength: 40,
  description: "Ten Indian digits, or with + and a country code.",
  examples: ["+919820012345"],
} as const;
export const bankFields = {
  account_no: Type.String({
    maxLength: 40,
    description: "9 to 18 digits. Never shown again.",
    examples: ["50200012345678"],
  }),
  ifsc: Type.String({
    maxLength: 40,
    description: "The branch's IFSC.",
    examples: ["HDFC0000001"],
  }),
  name: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "The name the account bears.",
    examples: ["Acme Exports Private Limited"],
  }),
};
const role = closedEnum(firmRoles, {
  description: "What the firm does: exporter, importer or both.",
  examples: ["exporter"],
});
const groupId = {
  type: "string",
  maxLength: 64,
  description: "The group of your desk that it belongs to.",
} as const;
const externalId = {
  type: "string",
  minLength: 1,
  maxLength: 100,
  description: "Your own name for the firm, unique on your desk.",
  examples: ["ERP-1042"],
} as const;

export const RegisterFirmBody = body({
  legal_name: legalName,
  iec,
  pan,
  gstin: Type.Optional(Type.String(gstin)),
  cin: Type.Optional(Type.String(cin)),
  email,
  phone: Type.Optional(Type.String(phone)),
  bank: Type.Optional(
    body(bankFields, { description: "The bank account that its money goes to." }),
  ),
  role,
  group_id: Type.Optional(Type.String(groupId)),
  external_id: Type.Optional(Type.String(externalId)),
});
export type RegisterFirmBody = Static<typeof RegisterFirmBody>;

export const UpdateFirmBody = body({
  legal_name: Type.Optional(legalName),
  iec: Type.Optional(iec),
  pan: Type.Optional(pan),
  gstin: Type.Optional(removable(gstin)),
  cin: Type.Optional(removable(cin)),
  email: Type.Optional(email),
  phone: Type.Optional(removable(phone)),
  bank: Type.Optional(
    Type.Unsafe<Static<ReturnType<typeof body<typeof bankFields>>> | null>({
      ...body(bankFields, { description: "Where its money goes; null takes it away." }),
      type: ["object", "null"],
    }),
  ),
  role: Type.Optional(role),
  group_id: Type.Optional(removable(groupId)),
  external_id: Type.Optional(removable(externalId)),
});
export type UpdateFirmBody = Static<typeof UpdateFirmBody>;

export const NoFields = body({}, { description: "An empty object: the call takes no fields." });

const transfersText =
  "Who initiates the firm's transfers on the customs portal: the house for it, or the firm. A firm that " +
  "initiates, or accepts, after its deadline pays the other side `default_bps` of face, where that is " +
  "proved; what the house does late is nobody's default.";

export const AuthorizeFirmBody = body({
  mandate: body(
    {
      signatory_name: Type.String({
        minLength: 1,
        maxLength: 200,
        description: "Who signed for the firm.",
        examples: ["R. Mehta"],
      }),
      reference: Type.String({
        minLength: 1,
        maxLength: 200,
        description: "Where the signed mandate is found.",
        examples: ["MND-2026-0042"],
      }),
      valid_until: Type.String({
        maxLength: 40,
        description: "ISO 8601 with an offset, or a day: then to the end of it, IST.",
        examples: ["2027-03-31T23:59:59+05:30"],
      }),
      transfers: Type.Optional(
        closedEnum(transferInitiators, {
          description: `${transfersText} The house where it is left out.`,
        }),
      ),
    },
    { description: "The firm's permission to trade for it." },
  ),
});
export type AuthorizeFirmBody = Static<typeof AuthorizeFirmBody>;

export const SuspendFirmBody = body({
  reason: Type.String({
    minLength: 1,
    maxLength: 500,
    description: "Why, for whoever looks later.",
    examples: ["mandate under review"],
  }),
});
export type SuspendFirmBody = Static<typeof SuspendFirmBody>;

export const OffboardFirmBody = body({
  mode: Type.Optional(
    closedEnum(["drain"], {
      description: "Take no new business, and leave by itself when the open business is done.",
    }),
  ),
});
export type OffboardFirmBody = Static<typeof OffboardFirmBody>;

/** An account as it is read: the number masked. */
export const maskedBankFields = {
  account_no_masked: Type.String({
    description: "The account number, of which the last four digits are shown.",
    examples: ["XXXXXX5678"],
  }),
  ifsc: Type.String({ description: "The branch's IFSC.", examples: ["HDFC0000001"] }),
  name: Type.String({
    description: "The name the account bears.",
    examples: ["Acme Exports Private Limited"],
  }),
};

const connectionFields = {
  connection_state: openEnum(firmStates, "How far the connection has come."),
  checks: Type.Array(
    Type.Object({
      check: openEnum(checkNames, "What was asked."),
      outcome: openEnum(["pass", "fail", "pending"], "What was found."),
      cure: maybeText("What to do about a failure; null for a check that has not failed."),
      as_of: nullable<string>({
        type: "string",
        format: "date-time",
        description: "When it was found; null while pending.",
      }),
    }),
    { description: "What the registry and the bank said about the firm." },
  ),
  holds: Type.Array(
    Type.Object({
      on: openEnum(["payouts"], "What is held back."),
      reason: openEnum(firmHoldReasons, "Why it is held back."),
      until: nullable<string>({
        type: "string",
        format: "date-time",
        description: "When it ends by itself; null when the bank or a person decides first.",
      }),
    }),
    { description: "What is held back for now, and until when." },
  ),
  mandate: nullableObject(
    {
      signatory_name: Type.String({ description: "Who signed it for the firm." }),
      reference: Type.String({ description: "The mandate's reference." }),
      valid_until: timestamp("When it ends."),
      transfers: openEnum(transferInitiators, transfersText),
    },
    { description: "The firm's permission to trade for it; null before it is given." },
  ),
  suspension: nullableObject(
    {
      by: openEnum(["desk", "operator"], "Who suspended it; the operator's only they can lift."),
      reason: Type.String({ description: "The reason in words." }),
    },
    { description: "Who suspended the firm, and why; null while it is not suspended." },
  ),
};
const actionFields = {
  version,
  allowed_actions: Type.Array(Type.String(), {
    description: "What its state allows now; see GET /v1/meta/states.",
    examples: [["verify", "offboard", "drain"]],
  }),
};

export const Firm = Type.Object(
  {
    firm_id: firmId,
    environment: openEnum(environments, "Chosen by the key's prefix."),
    legal_name: Type.String({
      description: "The name it is registered under with customs.",
      examples: ["Acme Exports Private Limited"],
    }),
    iec: maybeText("The importer-exporter code (IEC); null while none is given."),
    pan: maybeText("Permanent account number (PAN); null while none is given."),
    gstin: maybeText("The number of the GST registration (GSTIN); null without one."),
    cin: maybeText("Corporate identity number (CIN); null without one."),
    email: maybeText("Masked after offboarding; null while none is given."),
    phone: maybeText("Masked after offboarding; null while none is given."),
    role: openEnum(firmRoles, "What the firm does: exporter, importer or both."),
    bank: nullableObject(maskedBankFields, {
      description: "Where its money goes; null before it is given.",
    }),
    group_id: maybeText("The group it belongs to; null for a firm of none."),
    external_id: maybeText("Your own name for the firm; null when it has none."),
    ...connectionFields,
    created_at: timestamp("When it was registered."),
    updated_at: timestamp("When it last changed."),
    ...actionFields,
  },
  { title: "Firm", description: "A company that your desk trades for." },
);
export type Firm = Static<typeof Firm>;

export const Connection = Type.Object(
  {
    firm_id: firmId,
    ...connectionFields,
    ports: Type.Array(
      Type.Object({
        port: openEnum(["registry", "bank"], "Who answers outside."),
        state: openEnum(["up", "outage"], "During an outage questions wait."),
        since: nullable<string>({
          type: "string",
          format: "date-time",
          description: "When the outage began; null without one.",
        }),
      }),
      { description: "Whether the world outside answers." },
    ),
    ...actionFields,
    as_of: timestamp("When this was read."),
  },
  {
    title: "Connection",
    description: "How far a firm's connection has come, and what it waits for.",
  },
);
export type Connection = Static<typeof Connection>;

export const FirmParams = Type.Object({ firm_id: firmId });
