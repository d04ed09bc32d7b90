// Commands that are readings of the operators' operations: what the path, the query and the body take
// becomes a word and options, with the words of the schemas; the answer becomes a table, or JSON.

import { wireOps } from "../src/approval-kinds.ts";
import { readConfig } from "../src/config.ts";
import { commandLine } from "../src/operators/limit-attempts.ts";
import { findNames } from "../src/overview/desks.ts";
import type { Operation, OperatorCall } from "../src/platform/http/operation.ts";
import { toWire } from "../src/platform/http/serialization.ts";
import {
  type Command,
  command,
  naturalNumber,
  type Option,
  type Options,
  parseChoice,
  UsageError,
  wholeNumber,
} from "./command.ts";
import {
  type OperatorAct,
  collectRows,
  type Named,
  operatorOption,
  withOperator,
} from "./operators.ts";
import { print, printOne } from "./print.ts";

const rowsMost = 10_000;

/** What is asked or served, by the names of the wire. */
export type Fields = Readonly<Record<string, unknown>>;
type Values = Readonly<Record<string, string | boolean | undefined>>;

/** What a command says that its operation does not. */
type Spec = {
  readonly summary?: string;
  readonly example?: string;
  /** The field that is the word after the command; that of the path unless given, false for none. */
  readonly word?: string | false;
  /** What stands for it in the help. */
  readonly wordShown?: string;
  /** The options of fields that are not called as usual. */
  readonly as?: Readonly<Record<string, string>>;
  /** Fields that are no options, because they are always this. */
  readonly fixed?: Fields;
  /** What fields are when they are left out. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Other options, and the input that is made with them. */
  readonly own?: Options;
  readonly complete?: (input: Fields, values: Values) => Fields;
  /** The columns of a file that gives many at once; each row is about the first. */
  readonly csv?: string;
  /** Does all rows of a file as one act. */
  readonly set?: (call: OperatorCall, inputs: never) => Promise<object>;
  /** What is shown, such as `env holds=firm.holds.reason`; everything unless given. */
  readonly columns?: string;
  /** What is shown where columns cannot say it. */
  readonly view?: (
    answer: Fields,
    asked: { readonly json: boolean; readonly input: Fields },
  ) => Fields;
  /** Whether a table shows ids of firms and not their names. */
  readonly withIds?: true;
  /** The fields of desks and firms whose names are looked up. */
  readonly names?: string;
  readonly act?: Pick<OperatorAct, "create" | "named">;
  /** A field that may name a thing of the sandbox, besides those that are called ids. */
  readonly about?: string;
  /** What is shown of many, in the place of a row for each. */
  readonly sum?: (answers: readonly Fields[]) => Fields;
  /** Whether the command ends with 1. */
  readonly fails?: (answer: Fields) => boolean;
};

type Schema = {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly pattern?: string;
  readonly examples?: readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
};

export type Field = {
  readonly name: string;
  readonly option: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
};

/** Makes commands of these operations, by their ids. */
export function deriveFrom(operations: readonly Operation[]) {
  return (id: string, name: string, spec: Spec = {}): Command =>
    makeCommand(findOperation(operations, id), name, spec);
}

export function findOperation(operations: readonly Operation[], id: string): Operation {
  const found = operations.find((each) => each.id === id);
  if (found) return found;
  throw new Error(`there is no operation ${id}`);
}

/** How many were done, and the proposals of those that wait for a second person. */
export function sumUp(done: string, proposed: string) {
  return (answers: readonly Fields[]): Fields => {
    const ids = answers.flatMap(({ approval_id }) => approval_id ?? []);
    return { [done]: answers.length - ids.length, ...(ids.length > 0 && { [proposed]: ids }) };
  };
}

/** What was answered, or the proposal to answer it. */
export function viewAttested({ outcome, ...told }: Fields): Fields {
  return outcome === "done" ? told : { outcome, ...told };
}

/** Runs an operation for each of these, as whoever runs the command. */
async function callEach(
  operation: Operation,
  inputs: readonly Fields[],
  {
    options,
    ids,
    ...spec
  }: { readonly options: Named; readonly ids?: readonly string[] } & Pick<
    Spec,
    "act" | "about" | "names" | "set"
  >,
): Promise<Fields[]> {
  return await withOperator(
    options,
    toAct(operation, inputs, { ...spec, ids }),
    async ({ ctx, actor }) => {
      const wiring = wireOps(readConfig(process.env));
      const call = { ctx, actor, wiring, token: "", from: commandLine };
      // As it is registered.
      const run = (spec.set ?? operation.run) as (call: object, input: unknown) => Promise<object>;
      const answers: Fields[] = [];
      for (const input of spec.set ? [inputs] : inputs) {
        const answer = toWire(await run(call, input)) as Fields;
        const ids = spec.names
          ?.split(" ")
          .flatMap((name) => dig(listRows(operation, answer), [name]));
        answers.push(ids ? { ...answer, names: await findNames(ctx.db, ids as string[]) } : answer);
      }
      return answers;
    },
  );
}

export async function callOne(
  operation: Operation,
  input: Fields,
  act: Parameters<typeof callEach>[2],
): Promise<Fields> {
  const [answer = {}] = await callEach(operation, [input], act);
  return answer;
}

/** Shows what was asked, and then what was answered. */
export function echo(...names: readonly string[]) {
  return (answer: Fields, { input }: { readonly input: Fields }): Fields => ({
    ...pick(input, names.join(" ")),
    ...answer,
  });
}

/** Who may: by the environment that is asked about, or else by the things that are named. */
function toAct(
  { permission = "read" }: Operation,
  inputs: readonly Fields[],
  {
    act,
    about,
    ids: given,
  }: Pick<Spec, "act" | "about"> & { readonly ids: readonly string[] | undefined },
): OperatorAct {
  const environment = inputs[0]?.["environment"] as OperatorAct["environment"]; // By its schema.
  if (environment !== undefined) return { ...act, permission, environment };
  const found = inputs.flatMap((input) =>
    Object.entries(input).flatMap(([name, value]) =>
      (name === about || name.endsWith("_id")) && typeof value === "string" ? [value] : [],
    ),
  );
  const ids = given ?? found;
  return { ...act, permission, ...(ids.length > 0 && { about: ids }) };
}

function makeCommand(operation: Operation, name: string, spec: Spec): Command {
  const fields = listFields(operation, spec);
  const wordName = spec.word ?? listPathNames(operation)[0];
  const word = fields.find((field) => field.name === wordName);
  const [about, ...columns] = spec.csv?.split(" ") ?? [];
  const subject = fields.find((field) => field.name === about);
  const inRow = fields.filter((field) => columns.includes(toColumn(field)));
  const options: Options = {
    ...Object.fromEntries(
      fields
        .filter((field) => field !== word)
        .map((field) => [
          field.option,
          toOption(field, spec, field === subject || inRow.includes(field)),
        ]),
    ),
    ...spec.own,
    ...(subject && {
      csv: {
        help: `a file with the column${columns.length > 0 ? "s" : ""} ${[about, ...columns].join(", ")}`,
      },
    }),
    ...(operation.method !== "GET" && operatorOption),
  };
  return command({
    name,
    summary: spec.summary ?? toClause(operation.summary),
    ...(spec.example !== undefined && { example: spec.example }),
    ...(word && { operand: spec.wordShown ?? word.name.toUpperCase() }),
    ...(subject && { operandOptional: true }),
    options,
    async run(given, operand) {
      const values: Values = { ...given, ...(word && { [word.option]: operand }) };
      const inputs = subject
        ? (await readRows(values, subject, inRow)).map((row) => readInput(fields, row, spec))
        : [readInput(fields, values, spec)];
      const answers = await callEach(operation, inputs, { options: given, ...spec });
      const isMany = subject !== undefined && spec.set === undefined;
      return show(operation, { inputs, answers, isMany, json: given.json }, spec);
    },
  });
}

function show(
  { answer: schema }: Operation,
  {
    inputs,
    answers,
    isMany,
    json,
  }: {
    readonly inputs: readonly Fields[];
    readonly answers: readonly Fields[];
    readonly isMany: boolean;
    readonly json: boolean;
  },
  spec: Spec,
): number {
  const [answer = {}] = answers;
  const list = isMany ? undefined : findList(schema);
  const names = spec.withIds ? undefined : (answer["names"] as Record<string, string> | undefined);
  const options = { json, ...(names && { names }) };
  if (list !== undefined) {
    print(
      (answer[list] as readonly Fields[]).map((row) => choose(row, {}, { ...spec, json })),
      options,
    );
    const next = answer["next_cursor"];
    if (typeof next === "string" && !json) {
      process.stderr.write(`scripdesk: there are more: add --cursor ${next}\n`);
    }
  } else {
    const rows = answers.map((row, at) => choose(row, inputs[at] ?? {}, { ...spec, json }));
    if (spec.sum) printOne(spec.sum(answers), options);
    else if (isMany) print(rows, options);
    else printOne(rows[0] ?? {}, options);
  }
  return spec.fails?.(answer) ? 1 : 0;
}

/** The name of the list that an answer is, if it is one. */
function findList({ properties = {} }: Schema): string | undefined {
  const names = Object.keys(properties);
  const lists = names.filter((name) => properties[name]?.type === "array");
  return lists.length === 1 && (names.length === 1 || "next_cursor" in properties)
    ? lists[0]
    : undefined;
}

function listRows({ answer: schema }: Operation, answer: Fields): unknown {
  const list = findList(schema);
  return list === undefined ? [answer] : answer[list];
}

/** The columns of an answer; what it does not say is what was asked. */
function choose(
  answer: Fields,
  input: Fields,
  { columns, view, json }: Pick<Spec, "columns" | "view"> & { readonly json: boolean },
): Fields {
  const { names: _names, ...told } = answer;
  if (view) return view(told, { json, input });
  return columns === undefined ? told : pick({ ...input, ...told }, columns);
}

const shortNames: Readonly<Record<string, string>> = { env: "environment" };

/** `payout_id env holds=firm.holds.reason amount=face|asked`: fields by their names or places. */
export function pick(row: Fields, columns: string): Fields {
  const chosen = columns.split(" ").map((column) => {
    const [name = "", place = shortNames[name] ?? name] = column.split("=");
    const found = place.split("|").map((way) => dig(row, way.split(".")));
    return [
      name,
      found.find((value) => value !== null && value !== undefined) ?? found[0],
    ] as const;
  });
  return Object.fromEntries(chosen.filter(([, value]) => value !== undefined));
}

function dig(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined || value === null || value === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => dig(item, [name, ...rest]));
  return dig((value as Fields)[name], rest);
}

function listPathNames({ path }: Operation): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
}

export function listFields(operation: Operation, { as = {}, fixed = {} }: Spec): Field[] {
  const { params, query, body } = operation;
  const inPath = listPathNames(operation).map((name) => ({
    name,
    schema: params?.properties[name] ?? { type: "string" },
    isRequired: true,
  }));
  const rest = [query, body].flatMap((shape) =>
    Object.entries(shape?.properties ?? {}).map(([name, schema]) => ({
      name,
      schema,
      isRequired: shape?.required?.includes(name) ?? false,
    })),
  );
  return [...inPath, ...rest]
    .filter(({ name }) => !(name in fixed))
    .map(({ schema, ...field }) => ({
      ...field,
      schema: schema as Schema, // What our schemas are made of.
      option: as[field.name] ?? usualOptions[field.name] ?? toOptionName(field.name),
    }));
}

const usualOptions: Readonly<Record<string, string>> = {
  environment: "env",
  amount_paise: "paise",
};

/** What a person does with what programs take. */
const usualHelp: Readonly<Record<string, string>> = {
  cursor: "go on after the last page, which said this",
};

function toOptionName(name: string): string {
  return name.replace(/_id$/, "").replaceAll("_", "-");
}

function toColumn({ option }: Field): string {
  return option.replaceAll("-", "_");
}

export function toOption(
  { name, schema, isRequired }: Field,
  { defaults = {} }: Spec = {},
  isInRow = false,
): Option {
  const help =
    usualHelp[name] ?? toClause(schema.description?.replace(/ Default [^.]+\.$/, "") ?? name);
  const words = schema.enum ?? schema.items?.enum ?? [];
  const listed = words.every((word) => help.includes(word)) ? "" : `: ${words.join(", ")}`;
  const usual = defaults[name] ?? (name === "limit" ? "100" : undefined);
  return {
    help: `${help}${listed}`,
    ...(schema.type === "boolean" && { type: "boolean" }),
    ...(usual !== undefined && { default: usual }),
    ...(isRequired && !isInRow && usual === undefined && { required: true }),
  };
}

/** A sentence of the document as a part of one. */
function toClause(sentence: string): string {
  const text = sentence.replace(/\.$/, "");
  return /^[A-Z][a-z ]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text;
}

async function readRows(
  values: Values,
  subject: Field,
  inRow: readonly Field[],
): Promise<Values[]> {
  const text = (name: string) => values[name] as string | undefined; // Rows have no flags.
  const rows = await collectRows(text(subject.option) ?? "", {
    csv: text("csv"),
    idColumn: subject.name,
    columns: Object.fromEntries(inRow.map((field) => [toColumn(field), text(field.option)])),
  });
  return rows.map(({ id, ...row }) => ({
    ...values,
    [subject.option]: id,
    ...Object.fromEntries(inRow.map((field) => [field.option, row[toColumn(field)] || undefined])),
  }));
}

export function readInput(fields: readonly Field[], values: Values, spec: Spec = {}): Fields {
  const read = fields.map((field) => [field.name, parseField(field, values[field.option])]);
  const input = {
    ...spec.fixed,
    ...Object.fromEntries(read.filter(([, value]) => value !== undefined)),
  };
  return spec.complete?.(input, values) ?? input;
}

export function parseField({ option, schema, isRequired }: Field, given: Values[string]): unknown {
  if (typeof given === "boolean") return given || undefined;
  const text = given?.trim() ?? "";
  if (schema.type !== "array" && text === "" && isRequired) {
    throw new UsageError(`--${option} is required`);
  }
  if (given === undefined) return undefined;
  if (schema.type !== "array") return parseText(option, schema, text);
  const words = text.split(",").flatMap((word) => word.trim() || []);
  return words.map((word) => parseText(option, schema.items ?? {}, word));
}

function parseText(option: string, schema: Schema, text: string): unknown {
  if (schema.enum) return parseChoice(option, text, schema.enum);
  if (schema.type === "integer") {
    const parse = (schema.minimum ?? 0) > 0 ? wholeNumber : naturalNumber;
    return option === "limit" ? Math.min(parse(option, text), rowsMost) : parse(option, text);
  }
  if (schema.pattern === undefined || new RegExp(schema.pattern).test(text)) return text;
  throw new UsageError(`--${option} must be like ${schema.examples?.[0]}, not "${text}"`);
}
