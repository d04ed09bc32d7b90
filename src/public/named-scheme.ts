import { Failure } from "../kernel/failure.ts";
import { type Scheme, schemes } from "../kernel/scheme.ts";

/** The scheme a path names; a path that names none leads nowhere. */
export function namedScheme(text: string): Scheme {
  const scheme = schemes.find((known) => known === text);
  if (scheme) return scheme;
  throw new Failure("not_found", `there is no such scheme; there are ${schemes.join(" and ")}`);
}
