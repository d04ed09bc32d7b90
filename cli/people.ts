// The people who run the service: `operators …`, signing in and out, `approvals …`, `notices …`.

import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

import { commandLine } from "../src/operators/limit-attempts.ts";
import { approvalStates } from "../src/operators/approval-rules.ts";
import { enrolOperator, signIn, signOut } from "../src/operators/sign-in.ts";
import { peopleOperations } from "../src/ops/people.ts";
import { command, parseChoice, print, printOne, UsageError, withContext } from "./command.ts";
import { callOne, deriveFrom, type Fields, findOperation, pick } from "./derived.ts";
import { forgetToken, readSecretFile, readToken, tokenPath, writeToken } from "./token-file.ts";

const derive = deriveFrom(peopleOperations);
const deciding = { act: { named: true } } as const;

const passwordOption = {
  "password-file": { help: "a file of mode 600 with the password; asked for when not given" },
} as const;

const enrol = command({
  name: "operators enrol",
  summary: "choose your password and get the secret of your authenticator, with the codes you hold",
  options: {
    name: { required: true, help: "your name" },
    codes: { required: true, help: "the codes you were given, separated by commas" },
    ...passwordOption,
  },
  example: "npx scripdesk operators enrol --name 'Asha Rao' --codes 1f…,9c…",
  async run(options) {
    const password = await askPassword(options["password-file"]);
    const codes = options.codes.split(",");
    const enrolled = await withContext(({ ctx }) =>
      enrolOperator(ctx, { name: options.name, codes, password, from: commandLine }),
    );
    const { operator, totp_secret, totp_uri } = enrolled;
    printOne({ name: operator.name, role: operator.role, totp_secret, totp_uri }, options);
  },
});

const signInCommand = command({
  name: "sign-in",
  summary: "sign in with password and authenticator code; commands act as you for 12 hours",
  options: {
    name: { required: true, help: "your name" },
    code: { help: "the six digits of your authenticator; asked for when not given" },
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
  derive("addOperator", "operators add", {
    example: "npx scripdesk operators add --name 'Asha Rao' --role admin",
  }),
  enrol,
  derive("listOperators", "operators list"),
  derive("disableOperator", "operators disable"),
  derive("resetOperator", "operators reset"),
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
