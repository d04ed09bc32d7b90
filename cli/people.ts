// The people who run the service: `operators …`, and signing in and out.

import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

import { operatorRoles } from "../src/kernel/actor.ts";
import {
  addOperator,
  disableOperator,
  listOperators,
  resetOperator,
} from "../src/operators/manage-operators.ts";
import { commandLine } from "../src/operators/limit-attempts.ts";
import { enrolOperator, signIn, signOut } from "../src/operators/sign-in.ts";
import { command, parseChoice, print, printOne, UsageError, withContext } from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";
import { forgetToken, readSecretFile, readToken, tokenPath, writeToken } from "./token-file.ts";

const writing = { permission: "operators.write" } as const;

const add = command({
  name: "operators add",
  summary: "let a person in; the first makes the service ask for people in live",
  options: {
    name: { required: true, help: "their name, as the audit trail will show it" },
    role: { required: true, help: operatorRoles.join(", ") },
    ...operatorOption,
  },
  example: "npx scripdesk operators add --name 'Asha Rao' --role admin",
  async run(options) {
    const person = { name: options.name, role: parseChoice("role", options.role, operatorRoles) };
    const added = await withOperator(options, writing, ({ ctx, actor }) =>
      addOperator(ctx, actor, person),
    );
    printOne(added, options);
  },
});

const reset = command({
  name: "operators reset",
  summary: "end a person's credentials and sessions, and let them enrol anew",
  options: {
    name: { required: true, help: "whose" },
    role: { help: "another role from then on" },
    ...operatorOption,
  },
  async run(options) {
    const role =
      options.role === undefined ? undefined : parseChoice("role", options.role, operatorRoles);
    const done = await withOperator(options, writing, ({ ctx, actor }) =>
      resetOperator(ctx, actor, { name: options.name, role }),
    );
    printOne(done, options);
  },
});

const disable = command({
  name: "operators disable",
  summary: "shut a person out at once; `operators reset` lets them in again",
  options: { name: { required: true, help: "whom" }, ...operatorOption },
  async run(options) {
    const person = await withOperator(options, writing, ({ ctx, actor }) =>
      disableOperator(ctx, actor, options.name),
    );
    printOne(person, options);
  },
});

const list = command({
  name: "operators list",
  summary: "list the people who run the service",
  options: {},
  async run(options) {
    const reading = { permission: "read" } as const;
    print(await withOperator(options, reading, ({ ctx }) => listOperators(ctx)), options);
  },
});

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

export const peopleCommands = [add, enrol, list, disable, reset, signInCommand, signOutCommand];
