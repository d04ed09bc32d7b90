// The OpenAPI document as the writers of the clients need it: what each operation takes and answers.

export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly "x-extensible-enum"?: readonly string[];
  /** Components that it is one of; itself it has the fields of all of them. */
  readonly "x-kinds"?: readonly string[];
  /** Of each list, a body has one form: its fields; what only other forms have is absent. */
  readonly "x-forms"?: readonly (readonly Schema[])[];
};

type Parameter = {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
};

type Content = Readonly<
  Record<
    string,
    {
      readonly schema?: Schema;
      readonly examples?: Readonly<Record<string, { readonly value: object }>>;
    }
  >
>;

type DocumentedOperation = {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly $ref?: string; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
  readonly security?: readonly object[];
  readonly "x-scope"?: string;
  readonly "x-or-scope"?: string;
  /** The media types of the formats that the query chooses between. */
  readonly "x-formats"?: Readonly<Record<string, string>>;
};

type Components = {
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly parameters?: Readonly<Record<string, Parameter>>;
  readonly requestBodies?: Readonly<Record<string, { readonly content: Content }>>;
};

export type Document = {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly webhooks?: Readonly<
    Record<string, { readonly post: { readonly requestBody: { readonly content: Content } } }>
  >;
  readonly components: Components;
};

export type Kind = "json" | "list" | "events" | "lines" | "text" | "bytes";

export type Described = {
  readonly id: string;
  /** The id as the beginning of a type's name. */
  readonly title: string;
  readonly method: string;
  readonly path: string;
  /** What the path names, in its order. */
  readonly named: readonly string[];
  /** The query as an object; undefined when there is none. */
  readonly query: Schema | undefined;
  /** The body; undefined when there is none. */
  readonly body: Schema | undefined;
  /** Whether the body is there and has nothing in it. */
  readonly isBodyEmpty: boolean;
  /** Whether the body may be left out, as all of it may. */
  readonly isBodyOptional: boolean;
  readonly isWrite: boolean;
  readonly takesKey: boolean;
  readonly isKeyless: boolean;
  readonly kind: Kind;
  /** The field of a page that holds its rows, and a row. */
  readonly items: { readonly field: string; readonly row: Schema } | undefined;
  /** Good answers as JSON: of 200, and of 201. */
  readonly answers: readonly Schema[];
  /** The forms that `format` chooses between, JSON last; none where there is one form only. */
  readonly formats: readonly { readonly format: string; readonly as: Kind }[];
  /** What the operation does, and how it is called on the wire. */
  readonly about: string;
};

export function describeOperations(document: Document): Described[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      describe(document, { path, method: method.toUpperCase(), operation }),
    ),
  );
}

function describe(
  { components }: Document,
  { path, method, operation }: { path: string; method: string; operation: DocumentedOperation },
): Described {
  const { operationId: id, summary, description, security = [] } = operation;
  const parameters = (operation.parameters ?? []).map((one) => resolveParameter(one, components));
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const body = findBody(operation, components);
  if (body && inQuery.length > 0) throw new Error(`${id} takes a query and a body`);
  const answers = findAnswers(operation);
  const isList = inQuery.some(({ name }) => name === "cursor");
  const kind = findKind(answers, isList);
  const { "x-scope": first, "x-or-scope": second } = operation;
  const scope = second === undefined ? first : `${first}\` or \`${second}`;
  return {
    id,
    title: id.charAt(0).toUpperCase() + id.slice(1),
    method,
    path,
    named: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name),
    query: inQuery.length > 0 ? toObject(inQuery) : undefined,
    body,
    isBodyEmpty: body !== undefined && takesNothing(resolveSchema(body, components)),
    isBodyOptional: body !== undefined && mayBeEmpty(resolveSchema(body, components)),
    isWrite: method !== "GET",
    takesKey: parameters.some(({ name }) => name === "Idempotency-Key"),
    isKeyless: security.length === 0,
    kind,
    items: isList ? findItems(operation, components) : undefined,
    answers: answers["application/json"] ?? [],
    formats: findFormats(operation, kind),
    about: [
      [summary, description].filter(Boolean).join(". "),
      `\`${method} ${path}\`${scope === undefined ? "" : `, scope \`${scope}\``}`,
    ].join("\n\n"),
  };
}

function toObject(parameters: readonly Parameter[]): Schema {
  const properties = parameters.map(({ name, schema, description }) => [
    name,
    { ...schema, ...(description !== undefined && { description }) },
  ]);
  const required = parameters.filter((parameter) => parameter.required === true);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: required.map(({ name }) => name),
  };
}

function findFormats(
  { "x-formats": formats = {} }: DocumentedOperation,
  kind: Kind,
): { format: string; as: Kind }[] {
  return Object.entries(formats)
    .toSorted(([a], [b]) => Number(a === "json") - Number(b === "json"))
    .map(([format, type]) => {
      if (format === "json") return { format, as: kind };
      return { format, as: type.startsWith("text/") ? "text" : "bytes" };
    });
}

function findKind(answers: Readonly<Record<string, readonly Schema[]>>, isList: boolean): Kind {
  if (isList) return "list";
  if (answers["application/json"]) return "json";
  if (answers["text/event-stream"]) return "events";
  if (answers["application/x-ndjson"]) return "lines";
  return Object.keys(answers).some((type) => type.startsWith("text/")) ? "text" : "bytes";
}

/** What a good answer may be, by content type. */
function findAnswers({ responses }: DocumentedOperation): Record<string, Schema[]> {
  const answers: Record<string, Schema[]> = {};
  for (const [status, { content = {} }] of Object.entries(responses)) {
    if (!status.startsWith("2")) continue;
    for (const [type, { schema = {} }] of Object.entries(content)) {
      (answers[type] ??= []).push(schema);
    }
  }
  return answers;
}

const pageFields = ["count", "total", "next_cursor", "has_more"];

/** The rows of a page are its first list of things, not of words. */
function findItems(
  operation: DocumentedOperation,
  components: Components,
): { field: string; row: Schema } {
  const [schema = {}] = findAnswers(operation)["application/json"] ?? [];
  const { properties = {} } = resolveSchema(schema, components);
  for (const [field, { type, items }] of Object.entries(properties)) {
    const isRows = type === "array" && items !== undefined && items.type !== "string";
    if (isRows && pageFields.every((name) => name in properties)) return { field, row: items };
  }
  throw new Error(`${operation.operationId} takes a cursor and answers with no page`);
}

function findBody(
  { requestBody }: DocumentedOperation,
  { requestBodies = {} }: Components,
): Schema | undefined {
  const reference = requestBody?.$ref;
  const body = reference === undefined ? requestBody : requestBodies[lastName(reference)];
  return body?.content["application/json"]?.schema;
}

function takesNothing({ type, properties = {}, additionalProperties }: Schema): boolean {
  return type === "object" && Object.keys(properties).length === 0 && additionalProperties !== true;
}

export function resolveParameter(parameter: Parameter, { parameters = {} }: Components): Parameter {
  if (parameter.$ref === undefined) return parameter;
  const found = parameters[lastName(parameter.$ref)];
  if (!found) throw new Error(`there is no ${parameter.$ref}`);
  return found;
}

export function resolveSchema(schema: Schema, { schemas }: Components): Schema {
  return schema.$ref === undefined ? schema : (schemas[lastName(schema.$ref)] ?? {});
}

function mayBeEmpty({ required = [], "x-forms": lists = [] }: Schema): boolean {
  const isEmpty = (form: Schema) => !form.required?.length;
  return required.length === 0 && lists.every((forms) => forms.some(isEmpty));
}

/** The fields of a body that are in every form, and the forms of each list with all that is known of their fields. */
export function splitForms(schema: Schema): { common: Schema; lists: Schema[][] } {
  const { properties = {}, required = [], "x-forms": lists = [], ...others } = schema;
  const named = new Set(lists.flat().flatMap((form) => Object.keys(form.properties ?? {})));
  const plain = Object.entries(properties).filter(([name]) => !named.has(name));
  const describeForm = (form: Schema): Schema => {
    const fields = Object.entries(form.properties ?? {});
    const told = fields.map(([name, field]) => [name, { ...properties[name], ...field }]);
    return { ...form, type: "object", properties: Object.fromEntries(told) };
  };
  return {
    common: {
      ...others,
      properties: Object.fromEntries(plain),
      required: required.filter((name) => !named.has(name)),
    },
    lists: lists.map((forms) => forms.map(describeForm)),
  };
}

/** Every choice of one form per list, as a body of its own; a choice that no body can meet is none. */
export function joinForms(schema: Schema): Schema[] {
  const { common, lists } = splitForms(schema);
  const choices = lists.reduce<Schema[][]>(
    (chosen, forms) => chosen.flatMap((before) => forms.map((form) => [...before, form])),
    [[]],
  );
  return choices.flatMap((chosen) => {
    const lacks = (name: string) =>
      chosen.some(
        (form, at) => !hasField(form, name) && lists[at]?.some((one) => hasField(one, name)),
      );
    const required = [common, ...chosen].flatMap((form) => form.required ?? []);
    if (required.some(lacks)) return [];
    const fields = [common, ...chosen].flatMap((form) => Object.entries(form.properties ?? {}));
    const properties = Object.fromEntries(fields.filter(([name]) => !lacks(name)));
    return [{ ...common, properties, required: [...new Set(required)] }];
  });
}

function hasField({ properties = {} }: Schema, name: string): boolean {
  return name in properties;
}

/** What each event carries, and the component that is the same for all of them. */
export function listEvents({ webhooks = {} }: Document): {
  base: string;
  data: [event: string, data: Schema][];
} {
  let base = "";
  const data = Object.entries(webhooks).map(([event, { post }]): [string, Schema] => {
    const [all, own] = post.requestBody.content["application/json"]?.schema?.allOf ?? [];
    base = lastName(all?.$ref ?? "");
    return [event, own?.properties?.["data"] ?? {}];
  });
  return { base, data };
}

export function lastName(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

/** The components that callers send, and that no answer has. */
export function findSent({ paths, components }: Document): ReadonlySet<string> {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const sent = findNamed(
    operations.map((operation) => findBody(operation, components)),
    components,
  );
  const answered = findNamed(
    operations.map(({ responses }) => responses),
    components,
  );
  return sent.difference(answered);
}

function findNamed(roots: readonly unknown[], { schemas }: Components): Set<string> {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    const references = JSON.stringify(value ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g);
    for (const [, name = ""] of references) {
      if (found.has(name)) continue;
      found.add(name);
      visit(schemas[name]);
    }
  };
  roots.forEach(visit);
  return found;
}

/** A description without what the type says. */
export function describeField({ description = "" }: Schema): string {
  return description
    .replace(/ ?Open set; known today: [^;]*$/, "")
    .replaceAll(/\s*\n\s*/g, " ")
    .trim();
}
