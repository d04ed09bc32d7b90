// What commands that change something share: who runs them, and files of many at once.

import { readFile } from "node:fs/promises";

import {
  type Actor,
  isSamePerson,
  namedOperator,
  operator,
  type Permission,
} from "../src/kernel/actor.ts";
import type { Environment } from "../src/kernel/caller.ts";
import type { OpenedContext } from "../src/open-context.ts";
import { nameForm, refuseUnpermitted } from "../src/operators/rules.ts";
import { findSignedIn, hasPeople } from "../src/operators/sign-in.ts";
import { findEnvironmentById } from "../src/overview/find-anything.ts";
import type { Context } from "../src/platform/context.ts";
import { UsageError, withContext } from "./command.ts";
import { readRows } from "./csv.ts";
import { readToken, tokenPath } from "./token-file.ts";

export const operatorOption = {
  operator: {
    help: "your name, for the audit trail (SCRIPDESK_OPERATOR); whoever signs in needs none",
  },
} as const;

/** The options of a command; those that only read have no name among them. */
export type Named = { readonly operator?: string | undefined; readonly json?: boolean };

export type OperatorAct = {
  readonly permission: Permission;
  /** The environment that it is about; left out, it may be about both. */
  readonly environment?: Environment | null | undefined;
  /** Or the things that it is about, by their ids. */
  readonly about?: readonly string[];
  /** Whether a name is required even while the service knows no people. */
  readonly named?: boolean;
  /** Whether to make the embedded database where there is none. */
  readonly create?: boolean;
  /** As the service itself, where nothing else may run on the same folder. */
  readonly as?: "service";
};

/**
 * Runs as the person who is signed in, if their role lets them. The sandbox asks nobody, and before
 * the first person is added a command says who runs it by --operator.
 */
export async function withOperator<Result>(
  options: Named,
  act: OperatorAct,
  work: (opened: OpenedContext & { readonly actor: Actor }) => Promise<Result>,
): Promise<Result> {
  return await withContext(
    async (opened) => await work({ ...opened, actor: await actorFor(opened.ctx, options, act) }),
    { create: act.create ?? false, as: act.as ?? "visitor" },
  );
}

async function actorFor(
  ctx: Context,
  options: Named,
  { permission, environment, about, named = false }: OperatorAct,
): Promise<Actor> {
  const isStaffed = await hasPeople(ctx);
  if (!isStaffed && !named) return parseActor(options);
  const isSandbox = environment === "sandbox" || (about && (await isAllSandbox(ctx, about)));
  if (isSandbox) return parseActor(options);
  if (!isStaffed) return requireNamedActor(options);
  const actor = await findSignedIn(ctx, await readToken(tokenPath()));
  if (options.operator !== undefined && !isSamePerson(options.operator, actor.id)) {
    throw new UsageError(`you are signed in as ${actor.id}, not as ${options.operator}`);
  }
  refuseUnpermitted(actor.role, permission);
  return actor;
}

/** Whether all of these are of the sandbox; what nobody knows is taken for live. */
async function isAllSandbox(ctx: Context, ids: readonly string[]): Promise<boolean> {
  for (const id of new Set(ids)) {
    if ((await findEnvironmentById(ctx, id)) !== "sandbox") return false;
  }
  return ids.length > 0;
}

function parseActor(options: Named): Actor {
  const name = findName(options);
  if (name === undefined) return operator;
  if (nameForm.test(name)) return namedOperator(name);
  throw new UsageError("--operator must be a name of letters, digits, spaces and . _ @ -");
}

/** Said with the command, or once for all commands of a shell. */
function findName({ operator: name }: Named): string | undefined {
  return name?.trim() ?? (process.env["SCRIPDESK_OPERATOR"]?.trim() || undefined);
}

/** Where it matters who of several it was. */
function requireNamedActor(options: Named): Actor {
  if (findName(options) === undefined) throw new UsageError("--operator is required");
  return parseActor(options);
}

/** One thing by its id, or the rows of a file that has a column for each of these. */
export async function collectRows<Column extends string>(
  id: string,
  {
    csv,
    idColumn,
    columns,
  }: {
    readonly csv: string | undefined;
    readonly idColumn: string;
    readonly columns: Readonly<Record<Column, string | undefined>>;
  },
): Promise<({ readonly id: string } & Readonly<Record<Column, string>>)[]> {
  const names = Object.keys(columns) as Column[];
  if (csv === undefined) {
    if (id === "") throw new UsageError(`give one ${idColumn.toUpperCase()}, or --csv FILE`);
    return [row(id, (name) => columns[name] ?? "")];
  }
  if (id !== "") throw new UsageError("give --csv alone, or one id without it");
  const text = await readCsv(csv);
  return (await readRows(text, [idColumn, ...names])).map(({ cells }) =>
    row(cells[idColumn] ?? "", (name) => cells[name] ?? ""),
  );

  function row(of: string, readCell: (name: Column) => string) {
    const values = Object.fromEntries(names.map((name) => [name, readCell(name)]));
    return { id: of, ...values } as { readonly id: string } & Readonly<Record<Column, string>>; // By these names.
  }
}

export async function readCsv(path: string): Promise<string> {
  return await readFile(path, "utf8").catch((error: Error) => {
    throw new UsageError(`--csv cannot be read: ${error.message}`);
  });
}
