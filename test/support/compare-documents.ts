// What would break a client between two versions of the OpenAPI document: of what it may send, anything
// that is taken no longer; of what it reads, anything that is there no longer.

type Json = { readonly [name: string]: unknown };
type Documented = Json & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly webhooks?: Readonly<Record<string, { readonly post: Json }>>;
};

/** Every change for the worse, each as a line that names its place. */
export function listBreaks(before: unknown, after: unknown): string[] {
  const old = new Reader(before as Documented);
  const now = new Reader(after as Documented);
  const breaks: string[] = [];
  for (const [path, methods] of Object.entries(old.document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const place = `${method.toUpperCase()} ${path}`;
      const same = now.document.paths[path]?.[method];
      if (same) breaks.push(...compareOperations(place, [old, operation], [now, same]));
      else breaks.push(`${place} is gone`);
    }
  }
  for (const [event, { post }] of Object.entries(old.document.webhooks ?? {})) {
    const same = now.document.webhooks?.[event]?.post;
    if (!same) {
      breaks.push(`${event} is gone`);
      continue;
    }
    const told = [old.body(post), now.body(same)] as const;
    breaks.push(...compareAnswers(event, [old, told[0]], [now, told[1]]));
  }
  return breaks;
}

type Side = readonly [Reader, Json];

class Reader {
  readonly document: Documented;

  constructor(document: Documented) {
    this.document = document;
  }

  /** What a value refers to, or itself; of `allOf` the fields of all. */
  resolve(value: unknown): Json {
    const json = (value ?? {}) as Json;
    const reference = json["$ref"];
    if (typeof reference === "string") {
      const steps = reference.slice(2).split("/");
      return this.resolve(steps.reduce<unknown>((at, step) => (at as Json)[step], this.document));
    }
    const parts = json["allOf"];
    if (!Array.isArray(parts)) return json;
    const whole = parts.map((part) => this.resolve(part));
    return {
      type: "object",
      properties: Object.assign({}, ...whole.map((part) => part["properties"] ?? {})) as Json,
      required: whole.flatMap((part) => (part["required"] as string[] | undefined) ?? []),
    };
  }

  body(operation: Json): Json {
    const content = this.resolve(operation["requestBody"])["content"] as Json | undefined;
    return this.resolve((content?.["application/json"] as Json | undefined)?.["schema"]);
  }

  parameters(operation: Json): Json[] {
    return ((operation["parameters"] as unknown[] | undefined) ?? []).map((one) =>
      this.resolve(one),
    );
  }
}

function compareOperations(place: string, [old, was]: Side, [now, is]: Side): string[] {
  const breaks: string[] = [];
  for (const name of ["operationId", "x-scope"]) {
    if (was[name] !== is[name]) breaks.push(`${place}: ${name} is another`);
  }
  const given = now.parameters(is);
  const find = (list: readonly Json[], { name, in: where }: Json) =>
    list.find((one) => one["name"] === name && one["in"] === where);
  for (const parameter of old.parameters(was)) {
    const about = `${place}: ${String(parameter["name"])}`;
    const same = find(given, parameter);
    if (!same) breaks.push(`${about} is not taken`);
    else
      breaks.push(
        ...compareSent(
          about,
          [old, old.resolve(parameter["schema"])],
          [now, now.resolve(same["schema"])],
        ),
      );
    if (same && same["required"] === true && parameter["required"] !== true) {
      breaks.push(`${about} is required`);
    }
  }
  for (const parameter of given) {
    const isNew = !find(old.parameters(was), parameter);
    if (isNew && parameter["required"] === true) {
      breaks.push(`${place}: ${String(parameter["name"])} is required`);
    }
  }
  if (was["requestBody"] && !is["requestBody"]) breaks.push(`${place}: takes no body`);
  breaks.push(...compareSent(`${place}: body`, [old, old.body(was)], [now, now.body(is)]));
  const answers = is["responses"] as Json;
  for (const [status, response] of Object.entries(was["responses"] as Json)) {
    if (!status.startsWith("2")) continue;
    const content = (old.resolve(response)["content"] ?? {}) as Json;
    const same = now.resolve(answers[status]);
    if (!answers[status]) breaks.push(`${place}: ${status} is gone`);
    for (const [type, media] of Object.entries(content)) {
      const about = `${place}: ${status} ${type}`;
      const there = ((same["content"] ?? {}) as Json)[type] as Json | undefined;
      if (!there) breaks.push(`${about} is gone`);
      else
        breaks.push(
          ...compareAnswers(
            about,
            [old, old.resolve((media as Json)["schema"])],
            [now, now.resolve(there["schema"])],
          ),
        );
    }
  }
  return breaks;
}

const listTypes = ({ type }: Json): unknown[] => [type ?? []].flat();
const listNames = (value: unknown): string[] => (value as string[] | undefined) ?? [];

/** Bounds of what is sent, with whether a change makes them narrower. */
const bounds: Readonly<Record<string, (was: number, is: number) => boolean>> = {
  minimum: (was, is) => is > was,
  minLength: (was, is) => is > was,
  minItems: (was, is) => is > was,
  maximum: (was, is) => is < was,
  maxLength: (was, is) => is < was,
  maxItems: (was, is) => is < was,
  maxProperties: (was, is) => is < was,
};

/** What was valid to send must still be. */
function compareSent(place: string, [old, was]: Side, [now, is]: Side, depth = 0): string[] {
  if (depth > 12) return [];
  const breaks: string[] = [];
  const lost = listTypes(was).filter((type) => !listTypes(is).includes(type));
  if (listTypes(is).length > 0 && lost.length > 0)
    breaks.push(`${place} may not be ${lost.join()}`);
  const allowed = is["enum"] as unknown[] | undefined;
  const known = (was["enum"] as unknown[] | undefined) ?? [];
  const gone = allowed ? known.filter((value) => !allowed.includes(value)) : [];
  if (gone.length > 0) breaks.push(`${place} may not be ${gone.join()}`);
  if (allowed && !was["enum"]) breaks.push(`${place} is a choice`);
  for (const [bound, isNarrower] of Object.entries(bounds)) {
    const [from, to] = [was[bound], is[bound]];
    if (typeof to !== "number") continue;
    if (typeof from !== "number" || isNarrower(from, to))
      breaks.push(`${place} has another ${bound}`);
  }
  for (const rule of ["pattern", "format"]) {
    const isWide = rule === "format" && is[rule] === "int64";
    if (is[rule] !== undefined && is[rule] !== was[rule] && !isWide) {
      breaks.push(`${place} has another ${rule}`);
    }
  }
  const required = listNames(is["required"]).filter(
    (name) => !listNames(was["required"]).includes(name),
  );
  for (const name of required) breaks.push(`${place}.${name} is required`);
  for (const [name, field] of Object.entries((was["properties"] ?? {}) as Json)) {
    const same = ((is["properties"] ?? {}) as Json)[name];
    const about = `${place}.${name}`;
    if (!same && is["additionalProperties"] === false) breaks.push(`${about} is not taken`);
    if (same)
      breaks.push(
        ...compareSent(about, [old, old.resolve(field)], [now, now.resolve(same)], depth + 1),
      );
  }
  if (was["items"] && is["items"]) {
    const items = [
      [old, old.resolve(was["items"])],
      [now, now.resolve(is["items"])],
    ] as const;
    breaks.push(...compareSent(`${place}[]`, items[0], items[1], depth + 1));
  }
  return breaks;
}

/** What could be relied on in an answer must still be there. */
function compareAnswers(place: string, [old, was]: Side, [now, is]: Side, depth = 0): string[] {
  if (depth > 12) return [];
  const breaks: string[] = [];
  const added = listTypes(is).filter((type) => !listTypes(was).includes(type));
  if (listTypes(was).length > 0 && added.length > 0) breaks.push(`${place} may be ${added.join()}`);
  if (was["const"] !== undefined && was["const"] !== is["const"])
    breaks.push(`${place} is another`);
  for (const name of listNames(was["required"])) {
    if (!listNames(is["required"]).includes(name)) breaks.push(`${place}.${name} may be absent`);
  }
  for (const [name, field] of Object.entries((was["properties"] ?? {}) as Json)) {
    const same = ((is["properties"] ?? {}) as Json)[name];
    const about = `${place}.${name}`;
    if (!same) breaks.push(`${about} is gone`);
    else
      breaks.push(
        ...compareAnswers(about, [old, old.resolve(field)], [now, now.resolve(same)], depth + 1),
      );
  }
  if (was["items"] && is["items"]) {
    const items = [
      [old, old.resolve(was["items"])],
      [now, now.resolve(is["items"])],
    ] as const;
    breaks.push(...compareAnswers(`${place}[]`, items[0], items[1], depth + 1));
  }
  return breaks;
}
