import { Failure } from "./failure.ts";
import { parseInstant } from "./time.ts";

/** The instant that a query string names, null when it names none; what is no instant is refused. */
export function queryInstant(path: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const instant = parseInstant(text);
  if (instant) return instant;
  const problem = "must be ISO 8601 with an offset";
  throw new Failure("validation_error", `${path}: ${problem}`, {
    form: "transport",
    detail: { fields: [{ path, problem }] },
  });
}
