// Which declarations of the service use which, as the compiler resolves their names.
//
//   unit     a function, a method, a constant of a module, a member of an object, or the registration
//            of a route; it holds what is written in it, without the units inside it
//   edge     a unit names another, or holds a member whose value is made on the spot
//   member   what is called through a type (`desk.place`) leads to the members of all objects that are
//            returned or declared as that type, and what is called by a type of its own (`TakeQuote`)
//            to all functions that say they return one
//
// An edge says that one may call the other, not that it does.

import {
  isArrowFunction,
  isAsExpression,
  isCallExpression,
  isClassDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isImportSpecifier,
  isMethodDeclaration,
  isObjectLiteralExpression,
  isParameterDeclaration,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isPropertyDeclaration,
  isReturnStatement,
  isShorthandPropertyAssignment,
  isSourceFile,
  isSpreadAssignment,
  isStringLiteral,
  isTypeNode,
  isTypeReferenceNode,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";
import type {
  CallExpression,
  Node,
  ObjectLiteralElementLike,
  ObjectLiteralExpression,
  SourceFile,
} from "typescript/unstable/ast";
import {
  type API,
  type Project,
  SignatureKind,
  type Symbol,
  SymbolFlags,
} from "typescript/unstable/sync";

export type Unit = {
  readonly node: Node;
  readonly edges: Set<Unit>;
  readonly calls: CallExpression[];
};

export type CallGraph = {
  readonly project: Project;
  readonly units: ReadonlyMap<Node, Unit>;
  /** The registrations of routes, by operation. */
  readonly operations: ReadonlyMap<string, Unit>;
  /** The unit that a node is written in. */
  unitAround(node: Node): Unit;
  /** What a name stands for, in the file that declares it. */
  resolve(name: Node): readonly Node[];
};

/** Reads the files of a project that are under a folder. */
export function readCallGraph(api: API, config: string, folder: string): CallGraph {
  const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects();
  if (!project) throw new Error(`${config} is no project`);
  const { program } = project;
  const files = program.getSourceFileNames().flatMap((name) => {
    const file = name.startsWith(folder) ? program.getSourceFile(name) : undefined;
    return file ? [file] : [];
  });
  const builder = new GraphBuilder(project);
  for (const file of files) builder.collect(file);
  builder.link();
  return builder.graph;
}

/** All units that are reached from some, with these. */
export function reachFrom(starts: Iterable<Unit>): Set<Unit> {
  const reached = new Set(starts);
  for (const unit of reached) for (const next of unit.edges) reached.add(next);
  return reached;
}

export function findMember(
  literal: Node | undefined,
  name: string,
): ObjectLiteralElementLike | undefined {
  if (!literal || !isObjectLiteralExpression(literal)) return undefined;
  return literal.properties.find((member) => memberName(member) === name);
}

function memberName(member: ObjectLiteralElementLike): string | undefined {
  if (isSpreadAssignment(member)) return undefined;
  return isIdentifier(member.name) ? member.name.text : undefined;
}

/** A name that stands for nothing else. */
function isDeclaredName(name: Node): boolean {
  const { parent } = name;
  const isDeclaration =
    isVariableDeclaration(parent) ||
    isFunctionDeclaration(parent) ||
    isMethodDeclaration(parent) ||
    isPropertyAssignment(parent) ||
    isParameterDeclaration(parent) ||
    isImportSpecifier(parent);
  return isDeclaration && parent.name === name;
}

/** `takeQuote` in `takeQuote(asked)` and in `call.wiring.takeQuote(asked)`. */
function isCalledName(name: Node): boolean {
  const { parent } = name;
  const isMember = isPropertyAccessExpression(parent) && parent.name === name;
  const called = isMember ? parent : name;
  return isCallExpression(called.parent) && called.parent.expression === called;
}

function isFunction(node: Node | undefined): boolean {
  return node !== undefined && (isArrowFunction(node) || isFunctionExpression(node));
}

/** An object that is handed out: its members are called by whoever has it. */
function isHandedOut(literal: ObjectLiteralExpression): boolean {
  let { parent } = literal;
  while (isAsExpression(parent)) parent = parent.parent;
  if (isPropertyAssignment(parent) && isObjectLiteralExpression(parent.parent)) {
    return isHandedOut(parent.parent);
  }
  const isDeclared = isVariableDeclaration(parent) && parent.type !== undefined;
  return isReturnStatement(parent) || isDeclared || isFunction(parent);
}

/** Of a route, or of an operation; those of operators have no documented reasons. */
function findOperationId(call: CallExpression): string | undefined {
  const declares = isIdentifier(call.expression) && call.expression.text === "operation";
  for (const argument of call.arguments) {
    if (declares && findText(argument, "path")?.startsWith("/ops/")) return undefined;
    if (declares) return findText(argument, "id");
    const schema = findMember(argument, "schema");
    const id =
      schema && isPropertyAssignment(schema) && findText(schema.initializer, "operationId");
    if (id) return id;
  }
  return undefined;
}

function findText(literal: Node, name: string): string | undefined {
  const member = findMember(literal, name);
  const value = member && isPropertyAssignment(member) ? member.initializer : undefined;
  return value && isStringLiteral(value) ? value.text : undefined;
}

class GraphBuilder {
  readonly #project: Project;
  readonly #units = new Map<Node, Unit>();
  readonly #operations = new Map<string, Unit>();
  readonly #names: { readonly name: Node; readonly unit: Unit; readonly isCalled: boolean }[] = [];
  readonly #handedOut: ObjectLiteralExpression[] = [];
  /** Functions and constants that say of what type they are. */
  readonly #typed: { readonly type: Node; readonly unit: Unit }[] = [];
  readonly #aliased = new Map<number, Symbol | undefined>();

  constructor(project: Project) {
    this.#project = project;
  }

  get graph(): CallGraph {
    return {
      project: this.#project,
      units: this.#units,
      operations: this.#operations,
      unitAround: (node) => this.#unitAround(node),
      resolve: (name) => this.#declarations(this.#project.checker.getSymbolAtLocation(name)),
    };
  }

  collect(file: SourceFile): void {
    const unit = this.#add(file);
    file.forEachChild((child) => this.#walk(child, unit));
  }

  link(): void {
    const { checker } = this.#project;
    const members = this.#findMembers();
    const makers = this.#findMakers();
    const symbols = checker.getSymbolAtLocation(this.#names.map(({ name }) => name));
    for (const [at, { name, unit, isCalled }] of this.#names.entries()) {
      const found = this.#declarations(this.#valueSymbol(name, symbols[at])).flatMap((node) => [
        ...(this.#units.has(node) ? [this.#unitAround(node)] : []),
        ...(members.get(node) ?? []),
      ]);
      for (const used of found) unit.edges.add(used);
      if (!isCalled) continue;
      const alias = checker.getTypeAtLocation(name)?.getAliasSymbol();
      for (const node of this.#declarations(alias)) {
        for (const maker of makers.get(node) ?? []) unit.edges.add(maker);
      }
    }
  }

  #walk(node: Node, outer: Unit): void {
    if (isTypeNode(node)) return;
    const unit = this.#open(node, outer);
    if (isObjectLiteralExpression(node) && isHandedOut(node)) this.#handedOut.push(node);
    if (isCallExpression(node)) unit.calls.push(node);
    if (isIdentifier(node) && !isDeclaredName(node)) {
      this.#names.push({ name: node, unit, isCalled: isCalledName(node) });
    }
    node.forEachChild((child) => this.#walk(child, unit));
  }

  /** The unit of what is written in a node: a new one where it can be called on its own. */
  #open(node: Node, outer: Unit): Unit {
    if (isVariableDeclaration(node)) {
      // Other constants of a function are part of it.
      if (!isSourceFile(outer.node) && !isFunction(node.initializer)) return outer;
      return this.#addTyped(node, node.type);
    }
    if (isFunctionDeclaration(node)) return this.#addTyped(node, node.type);
    if (isClassDeclaration(node)) return this.#add(node);
    if (isPropertyDeclaration(node)) return this.#addHeld(node, outer, true);
    if (isMethodDeclaration(node)) {
      const literal = isObjectLiteralExpression(node.parent) ? node.parent : undefined;
      return this.#addHeld(node, outer, literal !== undefined && !isHandedOut(literal));
    }
    if (isPropertyAssignment(node) || isShorthandPropertyAssignment(node)) {
      const value: Node = isPropertyAssignment(node) ? node.initializer : node.name;
      const isReached = isFunction(value) || isIdentifier(value);
      const literal = node.parent as ObjectLiteralExpression;
      return this.#addHeld(node, outer, !(isReached && isHandedOut(literal)));
    }
    const operationId = isCallExpression(node) ? findOperationId(node) : undefined;
    if (operationId === undefined) return outer;
    const unit = this.#add(node);
    this.#operations.set(operationId, unit);
    return unit;
  }

  #add(node: Node): Unit {
    const unit: Unit = { node, edges: new Set(), calls: [] };
    this.#units.set(node, unit);
    return unit;
  }

  #addTyped(node: Node, type: Node | undefined): Unit {
    const unit = this.#add(node);
    if (type) this.#typed.push({ type, unit });
    return unit;
  }

  #addHeld(node: Node, outer: Unit, isHeld: boolean): Unit {
    const unit = this.#add(node);
    if (isHeld) outer.edges.add(unit);
    return unit;
  }

  #unitAround(node: Node): Unit {
    for (let around = node; ; around = around.parent) {
      const unit = this.#units.get(around);
      if (unit) return unit;
    }
  }

  /** By the member of a type that is a function: the members of objects that stand for it. */
  #findMembers(): Map<Node, Unit[]> {
    const { checker } = this.#project;
    const members = new Map<Node, Unit[]>();
    for (const literal of this.#handedOut) {
      const type = checker.getContextualType(literal);
      // What an async function returns may be the thing or a promise of it.
      const forms = type?.isUnionType() ? type.getTypes() : [type ?? []].flat();
      for (const member of literal.properties) {
        const name = memberName(member);
        const unit = this.#units.get(member);
        for (const form of name && unit ? forms : []) {
          const declared = checker.getPropertyOfType(form, name ?? "");
          const memberType = declared && checker.getTypeOfSymbol(declared);
          if (!memberType || !unit) continue;
          if (checker.getSignaturesOfType(memberType, SignatureKind.Call).length === 0) continue;
          for (const node of this.#declarations(declared)) {
            if (node !== member) members.set(node, [...(members.get(node) ?? []), unit]);
          }
        }
      }
    }
    return members;
  }

  /** By a type: the functions that say they return one, and the constants that say they are one. */
  #findMakers(): Map<Node, Unit[]> {
    const makers = new Map<Node, Unit[]>();
    const visit = (type: Node, unit: Unit): void => {
      if (isTypeReferenceNode(type)) {
        const symbol = this.#project.checker.getSymbolAtLocation(type.typeName);
        for (const node of this.#declarations(symbol)) {
          makers.set(node, [...(makers.get(node) ?? []), unit]);
        }
      }
      type.forEachChild((child) => visit(child, unit));
    };
    for (const { type, unit } of this.#typed) visit(type, unit);
    return makers;
  }

  #valueSymbol(name: Node, symbol: Symbol | undefined): Symbol | undefined {
    if (!isShorthandPropertyAssignment(name.parent)) return symbol;
    return this.#project.checker.getShorthandAssignmentValueSymbol(name.parent);
  }

  #declarations(symbol: Symbol | undefined): Node[] {
    const meant = symbol && symbol.flags & SymbolFlags.Alias ? this.#unalias(symbol) : symbol;
    return (meant?.declarations ?? []).flatMap((handle) => handle.resolve(this.#project) ?? []);
  }

  #unalias(symbol: Symbol): Symbol | undefined {
    if (!this.#aliased.has(symbol.id)) {
      this.#aliased.set(symbol.id, this.#project.checker.getAliasedSymbol(symbol));
    }
    return this.#aliased.get(symbol.id);
  }
}
