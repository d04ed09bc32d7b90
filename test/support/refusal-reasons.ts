// The reasons that an operation can refuse with, read from the code: those of every `Failure` that is
// made by something the operation's route may call. A reason is the type of `detail.reason`, or of the
// argument where a function takes it.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import {
  isCallExpression,
  isClassDeclaration,
  isFunctionDeclaration,
  isIdentifier,
  isNewExpression,
  isPropertyAssignment,
  isShorthandPropertyAssignment,
  isStringLiteral,
} from "typescript/unstable/ast/is";
import { type Node, SyntaxKind } from "typescript/unstable/ast";
import { API, type Type } from "typescript/unstable/sync";

import type { FailureCode } from "../../src/kernel/failure.ts";
import { type CallGraph, findMember, reachFrom, readCallGraph, type Unit } from "./call-graph.ts";

const root = join(import.meta.dirname, "../..");

export const reasonsFile = join(root, "src/refusal-reasons.ts");

export type Refusal = { readonly code: FailureCode; readonly reason: string };

export type ReasonsOfCode = {
  readonly byOperation: ReadonlyMap<string, readonly Refusal[]>;
  /** What operators may be refused with. */
  readonly ofOperators: ReadonlySet<string>;
  /** Every reason of the code, with the files that refuse with it. */
  readonly everywhere: ReadonlyMap<string, readonly string[]>;
  /** Where an operation may refuse with a reason that is not known before it does. */
  readonly unknown: readonly string[];
};

export function readReasons(): ReasonsOfCode {
  const api = new API({ cwd: root });
  try {
    const graph = readCallGraph(api, join(root, "tsconfig.build.json"), join(root, "src/"));
    const { refusals, unknown } = new ReasonReader(graph).read();
    const byOperation = new Map(
      [...graph.operations].map(([operationId, unit]) => {
        const told = [...reachFrom([unit])].flatMap((used) => refusals.get(used) ?? []);
        return [operationId, told];
      }),
    );
    const reached = reachFrom(graph.operations.values());
    const ofOperators = reachFrom(
      [...graph.units.values()].filter((unit) => operatorsFiles.test(findFile(unit))),
    );
    const everywhere = new Map<string, string[]>();
    for (const [unit, told] of refusals) {
      const file = findFile(unit);
      for (const { reason } of told) {
        everywhere.set(reason, [...(everywhere.get(reason) ?? []), file]);
      }
    }
    const unclear = [...unknown]
      .filter((unit) => reached.has(unit))
      .map(({ node }) => describe(node));
    return {
      byOperation,
      ofOperators: new Set(
        [...ofOperators].flatMap((unit) => refusals.get(unit) ?? []).map(({ reason }) => reason),
      ),
      everywhere,
      unknown: unclear,
    };
  } finally {
    api.close();
  }
}

/** What the operators' API and commands begin with. */
const operatorsFiles =
  /^src\/(?:ops\/|ops-app\.|console\/|approval-kinds\.|rotate-master-key\.|operators\/recover\.)/;

function findFile({ node }: Unit): string {
  return node.getSourceFile().fileName.slice(root.length + 1);
}

class ReasonReader {
  readonly #graph: CallGraph;
  readonly #refusals = new Map<Unit, Refusal[]>();
  readonly #unknown = new Set<Unit>();
  /** Functions that take a reason, with the place of that parameter. */
  readonly #taking = new Map<Node, { readonly place: number; readonly code: FailureCode }>();

  constructor(graph: CallGraph) {
    this.#graph = graph;
  }

  read(): { refusals: ReadonlyMap<Unit, readonly Refusal[]>; unknown: ReadonlySet<Unit> } {
    const units = [...this.#graph.units.values()];
    for (const { node } of units) {
      if (node.kind === SyntaxKind.SourceFile) this.#findFailures(node);
    }
    for (const unit of units) for (const call of unit.calls) this.#readCall(unit, call);
    return { refusals: this.#refusals, unknown: this.#unknown };
  }

  #findFailures(node: Node): void {
    const isMade =
      isNewExpression(node) && isIdentifier(node.expression) && node.expression.text === "Failure";
    const isMadeBySubclass =
      isCallExpression(node) && node.expression.kind === SyntaxKind.SuperKeyword;
    if (isMade || isMadeBySubclass) this.#readFailure(node, node.arguments ?? []);
    node.forEachChild((child) => this.#findFailures(child));
  }

  #readFailure(node: Node, [code, , options]: readonly Node[]): void {
    const detail = findMember(options, "detail");
    const literal = detail && isPropertyAssignment(detail) ? detail.initializer : undefined;
    const member = findMember(literal, "reason");
    if (!member || !code || !isStringLiteral(code)) return;
    const refusal = { code: code.text as FailureCode, unit: this.#graph.unitAround(node) };
    const isShort = isShorthandPropertyAssignment(member);
    if (!isShort && !isPropertyAssignment(member)) return;
    const value: Node = isShort ? member.name : member.initializer;
    const type = isShort
      ? this.#shorthandType(member)
      : this.#graph.project.checker.getTypeAtLocation(value);
    const reasons = listLiterals(type);
    if (reasons) this.#add(refusal.unit, refusal.code, reasons);
    else this.#noteParameter(refusal.unit, refusal.code, value);
  }

  #shorthandType(member: Node): Type | undefined {
    const { checker } = this.#graph.project;
    const symbol = checker.getShorthandAssignmentValueSymbol(member);
    return symbol && checker.getTypeOfSymbolAtLocation(symbol, member);
  }

  #noteParameter(unit: Unit, code: FailureCode, value: Node): void {
    const { node } = unit;
    const place =
      isFunctionDeclaration(node) && isIdentifier(value)
        ? node.parameters.findIndex(({ name }) => isIdentifier(name) && name.text === value.text)
        : -1;
    if (place >= 0) this.#taking.set(node, { place, code });
    else this.#unknown.add(unit);
  }

  #readCall(unit: Unit, call: Node): void {
    if (!isCallExpression(call) || !isIdentifier(call.expression)) return;
    for (const callee of this.#taking.size > 0 ? this.#graph.resolve(call.expression) : []) {
      const taking = this.#taking.get(callee);
      const argument = taking && call.arguments[taking.place];
      if (!taking || !argument) continue;
      const reasons = listLiterals(this.#graph.project.checker.getTypeAtLocation(argument));
      if (reasons) this.#add(unit, taking.code, reasons);
      else this.#unknown.add(unit);
    }
  }

  #add(unit: Unit, code: FailureCode, reasons: readonly string[]): void {
    const known = this.#refusals.get(unit) ?? [];
    this.#refusals.set(unit, [...known, ...reasons.map((reason) => ({ code, reason }))]);
    // A subclass refuses where it is made, and its class is what is named there.
    const made = unit.node.parent;
    if (made && isClassDeclaration(made)) this.#add(this.#graph.unitAround(made), code, reasons);
  }
}

/** The module that the document takes them from. */
export function writeReasons({ byOperation }: ReasonsOfCode): string {
  const lines = [...byOperation]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .flatMap(([operationId, refusals]) => {
      const codes = [...new Set(refusals.map(({ code }) => code))].toSorted();
      const parts = codes.map((code) => {
        const reasons = refusals.filter((one) => one.code === code).map(({ reason }) => reason);
        return `    ${code}: ${JSON.stringify([...new Set(reasons)].toSorted())},\n`;
      });
      return parts.length > 0 ? [`  ${operationId}: {\n${parts.join("")}  },\n`] : [];
    });
  return `// Written by \`npm run golden\` from the code: the \`detail.reason\`s that each operation can answer with,
// by their slug. The document shows them.

import type { FailureCode } from "./kernel/failure.ts";

export type ReasonsByCode = { readonly [Code in FailureCode]?: readonly string[] };

export const reasonsByOperation: Readonly<Record<string, ReasonsByCode>> = {
${lines.join("")}};
`;
}

/** The values of a type that is one or several texts; undefined for any other. */
function listLiterals(type: Type | undefined): string[] | undefined {
  if (!type) return undefined;
  if (type.isStringLiteralType()) return [type.value];
  if (!type.isUnionType()) return undefined;
  const parts = type.getTypes().map(listLiterals);
  return parts.some((part) => part === undefined) ? undefined : parts.flatMap((part) => part ?? []);
}

function describe(node: Node): string {
  return `${node.getSourceFile().fileName.slice(root.length + 1)}: ${node.getText().slice(0, 80)}`;
}

if (import.meta.main) await writeFile(reasonsFile, writeReasons(readReasons()));
