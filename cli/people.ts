// The people who run the service: `operators …`, signing in and out, `approvals …`, `notices …`.

import { hostname, userInfo } from "node:os";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

import { commandLine } from "../src/operators/limit-attempts.ts";
import { approvalStates } from "../src/operators/approval-rules.ts";
import {
  beginAuthenticator,
  beginEnrolment,
  confirmAuthenticator,
  confirmEnrolment,
  type NewFactor,
  type OfferedAuthenticator,
  renewRecoveryCodes,
} from "../src/operators/enrol.ts";
import { operatorRoles } from "../src/kernel/actor.ts";
import { machinePermissions } from "../src/operators/machine-rules.ts";
import { recoverAdmin } from "../src/operators/recover.ts";
import { signIn, signOut } from "../src/operators/sign-in.ts";
import { peopleOperations } from "../src/ops/people.ts";
import { printCode } from "../src/platform/draw-code.ts";
import { command, parseChoice, print, printOne, UsageError, withContext } from "./command.ts";
import {
  callOne,
  deriveFrom,
  type Fields,
  findOperation,
  listFields,
  pick,
  readInput,
} from "./derived.ts";
import { operatorOption, withOperator } from "./operators.ts";
import { forgetToken, readSecretFile, readToken, tokenPath, writeToken } from "./token-file.ts";

const derive = deriveFrom(peopleOperations);
const deciding = { act: { named: true } } as const;

const passwordOption = {
  "password-file": { help: "a file of mode 600 with the password; asked for when not given" },
} as const;

const ticketOptions = {
  ticket: { help: "the ticket that this command gave, where there is no terminal to go on at" },
  code: { help: "with it, the six digits that the new authenticator shows" },
} as const;

const ofMachines = "with --machine";

const add = command({
  name: "operators add",
  summary:
    "add a person, or with --machine a program; another admin approves it once there have been two",
  options: {
    name: { required: true, help: "the name; a person's is compared without case and spaces" },
    role: { help: `what a person may do: ${operatorRoles.join(", ")}` },
    machine: { type: "boolean", help: "it is a program; whoever approves is shown its token" },
    permissions: { help: `${ofMachines}, what it may do: ${machinePermissions.join(", ")}` },
    networks: { help: `${ofMachines}, where it may call from, such as 203.0.113.7/32` },
    "day-limit-paise": {
      help: `${ofMachines}, what it may do alone within 24 hours; from this sum on it waits for a person`,
    },
    "expires-at": { help: `${ofMachines}, when its token ends, within 366 days (ISO 8601)` },
    ...operatorOption,
  },
  example:
    "npx scripdesk operators add --name 'Asha Rao' --role admin\n  npx scripdesk operators add --machine --name night-run --permissions read,bank.write --networks 10.0.0.5/32 --day-limit-paise 200000000 --expires-at 2027-03-31T18:00:00+05:30",
  async run({ name, role, machine, ...options }) {
    const given = {
      permissions: options.permissions,
      networks: options.networks,
      day_limit_paise: options["day-limit-paise"],
      expires_at: options["expires-at"],
    };
    const [adding, others] = machine
      ? ([addingMachine, { role }] as const)
      : ([addingPerson, given] as const);
    const stray = Object.entries(others).find(([, value]) => value !== undefined);
    if (stray) {
      const option = stray[0].replaceAll("_", "-");
      throw new UsageError(`--${option} is ${machine ? "for people" : `taken ${ofMachines} only`}`);
    }
    const input = readInput(listFields(adding, {}), {
      name,
      role,
      permissions: given.permissions ?? "",
      networks: given.networks ?? "",
      "day-limit-paise": given.day_limit_paise,
      "expires-at": given.expires_at,
    });
    const added = await callOne(adding, input, { options });
    const next = machine || options.json ? {} : { next: tellNext(name, added) };
    printOne({ ...added, ...next }, options);
  },
});

/** What the person does with the code, or who has to approve before. */
function tellNext(name: string, { outcome, code }: Readonly<Record<string, unknown>>): string {
  if (outcome !== "added") return "another admin approves it: npx scripdesk approvals list";
  const quoted = `'${name.replaceAll("'", String.raw`'\''`)}'`;
  return `npx scripdesk operators enrol --name ${quoted} --codes ${String(code)}`;
}

const addingPerson = findOperation(peopleOperations, "addOperator");
const addingMachine = findOperation(peopleOperations, "addMachine");

const disable = command({
  name: "operators disable",
  summary: "shut a person out at once, or with --machine end a program's token",
  options: {
    name: { required: true, help: "the name" },
    machine: { type: "boolean", help: "it is a program" },
    ...operatorOption,
  },
  async run({ name, machine, ...options }) {
    const id = machine ? "disableMachine" : "disableOperator";
    printOne(await callOne(findOperation(peopleOperations, id), { name }, { options }), options);
  },
});

const enrol = command({
  name: "operators enrol",
  summary:
    "choose your password and get your authenticator and recovery codes, with the codes you hold",
  options: {
    name: { required: true, help: "your name" },
    codes: { required: true, help: "the codes you were given, separated by commas" },
    ...passwordOption,
    ...ticketOptions,
  },
  example: "npx scripdesk operators enrol --name 'Asha Rao' --codes 1f…,9c…",
  async run(options) {
    const who = { name: options.name, codes: options.codes.split(","), from: commandLine };
    await withContext(async ({ ctx }) => {
      await install(options, {
        begin: async () => {
          const password = await askPassword(options["password-file"]);
          return await beginEnrolment(ctx, { ...who, password });
        },
        confirm: async (given) => await confirmEnrolment(ctx, { ...who, ...given }),
      });
    });
  },
});

const proofOptions = {
  ...passwordOption,
  "code-file": {
    help: "a file of mode 600 with a code of your authenticator, or a recovery code; asked for when not given",
  },
} as const;

const authenticator = command({
  name: "operators authenticator",
  summary: "get another authenticator in the place of yours, and new recovery codes",
  options: { ...proofOptions, ...ticketOptions },
  example: "npx scripdesk operators authenticator",
  async run(options) {
    await withOperator(options, asOneself, async ({ ctx, actor }) => {
      const token = await readToken(tokenPath());
      await install(options, {
        begin: async () => await beginAuthenticator(ctx, actor, await askProof(options)),
        confirm: async (given) =>
          await confirmAuthenticator(ctx, actor, { ...given, from: commandLine, token }),
      });
    });
  },
});

const recoveryCodes = command({
  name: "operators recovery-codes",
  summary: "make ten new recovery codes; the former ones end",
  options: { ...proofOptions },
  example: "npx scripdesk operators recovery-codes",
  async run(options) {
    const { recovery_codes } = await withOperator(
      options,
      asOneself,
      async ({ ctx, actor }) => await renewRecoveryCodes(ctx, actor, await askProof(options)),
    );
    printOne({ recovery_codes }, options);
  },
});

/** Whoever is signed in, whatever their role. */
const asOneself = { permission: "read", named: true } as const;

async function askProof(options: {
  readonly "password-file"?: string | undefined;
  readonly "code-file"?: string | undefined;
}) {
  const password = await askPassword(options["password-file"]);
  const file = options["code-file"];
  const code =
    file === undefined ? await ask("code: ", { hidden: false }) : await readSecretFile(file);
  return { password, code, from: commandLine };
}

/** On a terminal in one go; elsewhere the ticket is given, and comes back with a code. */
async function install(
  options: {
    readonly ticket?: string | undefined;
    readonly code?: string | undefined;
    readonly json: boolean;
  },
  {
    begin,
    confirm,
  }: {
    readonly begin: () => Promise<OfferedAuthenticator>;
    readonly confirm: (given: {
      readonly ticket: string;
      readonly code: string;
    }) => Promise<NewFactor>;
  },
): Promise<void> {
  const { ticket, code } = options;
  if ((ticket === undefined) !== (code === undefined)) {
    throw new UsageError("--ticket and --code go together");
  }
  if (ticket !== undefined && code !== undefined) {
    return tellFactor(await confirm({ ticket, code }), options);
  }
  const { totp_qr: _drawn, ...offered } = await begin();
  if (!process.stdin.isTTY || options.json) return printOne(offered, options);
  process.stderr.write(`${printCode(offered.totp_uri)}\nor by hand: ${offered.totp_secret}\n`);
  const shown = await ask("code that the authenticator shows: ", { hidden: false });
  return tellFactor(await confirm({ ticket: offered.ticket, code: shown }), options);
}

function tellFactor(
  { operator: { name, role }, recovery_codes }: NewFactor,
  options: { readonly json: boolean },
): void {
  printOne({ name, role, recovery_codes }, options);
}

const recover = command({
  name: "operators recover",
  summary: "let an admin in on this machine, where no two are left who could; every admin is told",
  options: {
    name: { required: true, help: "the admin, who loses password, authenticator and sessions" },
    reason: { required: true, help: "why, for the audit trail and the other admins" },
  },
  example: "npx scripdesk operators recover --name 'Asha Rao' --reason 'phone lost, no codes left'",
  async run({ name, reason, ...options }) {
    const by = `${userInfo().username}@${hostname()}`;
    const recovered = await withContext(({ ctx }) => recoverAdmin(ctx, { name, reason, by }));
    const { operator, code } = recovered;
    printOne({ name: operator.name, role: operator.role, status: operator.status, code }, options);
  },
});

const signInCommand = command({
  name: "sign-in",
  summary: "sign in with password and authenticator code; commands act as you for 12 hours",
  options: {
    name: { required: true, help: "your name" },
    code: {
      help: "the six digits of your authenticator, or a recovery code; asked for when not given",
    },
    ...passwordOption,
  },
  example: "npx scripdesk sign-in --name 'Asha Rao'",
  async run(options) {
    const password = await askPassword(options["password-file"]);
    const code = options.code ?? (await ask("code: ", { hidden: false }));
    const { token, ...person } = await withContext(({ ctx }) =>
      signIn(ctx, { name: options.name, password, code, from: commandLine }),
    );
    await writeToken(tokenPath(), token);
    printOne(person, options);
  },
});

const signOutCommand = command({
  name: "sign-out",
  summary: "end your session and remove its token",
  options: {},
  async run(options) {
    const token = await readToken(tokenPath());
    try {
      await withContext(({ ctx }) => signOut(ctx, token));
    } finally {
      await forgetToken(tokenPath());
    }
    printOne({ signed_out: true }, options);
  },
});

const showProposal = command({
  name: "approvals show",
  summary: "read a proposal: its terms, and what will happen",
  operand: "APPROVAL_ID",
  options: {},
  async run(options, approval_id) {
    const asked = { approval_id };
    const reading = findOperation(peopleOperations, "readApproval");
    const approval = await callOne(reading, asked, { options });
    if (options.json) return printOne(approval, options);
    const { shown, ...facts } = approval;
    printOne(facts, options);
    for (const { title, rows } of shown as readonly Shown[]) {
      process.stdout.write(`\n${title}\n`);
      print(rows, options);
    }
    return undefined;
  },
});

/** A table of what is approved. */
type Shown = { readonly title: string; readonly rows: readonly Fields[] };

async function askPassword(file: string | undefined): Promise<string> {
  if (file === undefined) return await ask("password: ", { hidden: true });
  return await readSecretFile(file);
}

/** From the terminal, without an echo for what others must not see. */
async function ask(question: string, { hidden }: { readonly hidden: boolean }): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageError("there is no terminal: see --help for files");
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  process.stderr.write(question);
  const lines = createInterface({
    input: process.stdin,
    output: hidden ? silent : process.stderr,
    terminal: true,
  });
  try {
    return await lines.question("");
  } finally {
    lines.close();
    if (hidden) process.stderr.write("\n");
  }
}

export const commands = [
  add,
  enrol,
  authenticator,
  recoveryCodes,
  derive("listOperators", "operators list"),
  derive("listMachines", "operators machines"),
  disable,
  derive("resetOperator", "operators reset"),
  derive("grantRole", "operators grant", {
    example: "npx scripdesk operators grant --name 'Asha Rao' --role dealer",
  }),
  recover,
  signInCommand,
  signOutCommand,
  derive("listApprovals", "approvals list", {
    fixed: { status: undefined },
    own: { status: { default: "proposed", help: `${approvalStates.join(", ")} or all` } },
    complete: (input, { status }) =>
      status === "all"
        ? input
        : { ...input, status: parseChoice("status", String(status), approvalStates) },
    view: ({ terms: _terms, reason: _reason, ...row }) => row,
  }),
  showProposal,
  derive("approveProposal", "approvals approve", {
    ...deciding,
    view: ({ approval, result }) => ({
      ...pick(approval as Fields, "approval_id status summary proposed_by decided_by"),
      ...(result as Fields | null),
    }),
  }),
  derive("rejectProposal", "approvals reject", {
    ...deciding,
    columns: "approval_id status reason",
  }),
  derive("listNotices", "notices list", {
    columns:
      "notice_id environment desk_id occasion email subject events reason attempts due_at created_at updated_at status",
    names: "desk_id",
  }),
  derive("sendNoticeAgain", "notices send-again", { columns: "notice_id status" }),
  derive("listNoticeAddresses", "notices addresses", {
    view: ({ removed_at: _removed, ...row }) => row,
    names: "desk_id",
  }),
  derive("addNoticeAddress", "notices add", {
    word: "email",
    complete(input) {
      if ((input["desk_id"] === undefined) !== (input["person"] === undefined)) return input;
      throw new UsageError("say whose it is: --desk or --person");
    },
    example:
      "npx scripdesk notices add accounts@acme.example --desk frm_01jd2m7q4x8r5v6w9y0abcdefg",
  }),
  derive("removeNoticeAddress", "notices remove"),
  derive("setNoticeOptOuts", "notices opt-out", {
    as: { opted_out: "of" },
    defaults: { opted_out: "" },
    example: "npx scripdesk notices opt-out nad_01jd2m7q4x8r5v6w9y0abcdefg --of payout.paid",
  }),
];
