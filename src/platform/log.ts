// Structured logs: one JSON object per line, with the request's id and without secrets. Headers and
// bodies are never logged; the fields of a line are listed here.

import { type DestinationStream, type Logger, pino } from "pino";

import { maskSecrets } from "../kernel/secrets.ts";
import { nameRequest } from "./http/calls.ts";
import type { App } from "./http/server.ts";

/** Lines are written in blocks, so that not every request costs a system call. */
const bufferBytes = 4_096;

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

export type LogLevel = (typeof logLevels)[number];

type Log = { readonly log: Logger; readonly flush: () => void };

export function createLog(level: LogLevel, to?: DestinationStream): Log {
  const options = { level, base: undefined, serializers: { err: shownError } };
  if (to) return { log: pino(options, to), flush() {} };
  const stream = pino.destination({ dest: 1, sync: false, minLength: bufferBytes });
  const flushing = setInterval(() => stream.flush(), 1_000);
  flushing.unref();
  return {
    log: pino(options, stream),
    flush() {
      clearInterval(flushing);
      stream.flushSync();
    },
  };
}

/** An error of the driver holds its connection and row values; only these fields are logged. */
function shownError(error: Error) {
  const { type, message, stack, code, constraint } = pino.stdSerializers.err(error);
  return {
    type,
    message: maskSecrets(message),
    code: code as unknown,
    constraint: constraint as unknown,
    stack: maskSecrets(stack ?? ""),
  };
}

/**
 * One line per answered request. Writes and refusals are always logged; a successful read is counted
 * in the metrics, and logged at level debug only.
 */
export function logRequests(app: App): void {
  const logsAll = ["debug", "trace"].includes(app.log.level);
  app.addHook("onResponse", (request, reply, next) => {
    const { label, quiet = request.method === "GET" } = request.declared;
    const isQuiet = quiet && reply.statusCode < 400;
    if (isQuiet && !logsAll) {
      next();
      return;
    }
    request.log[isQuiet ? "debug" : "info"](
      {
        ...nameRequest(request),
        route: label,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 1_000) / 1_000,
        key_id: request.caller?.keyId,
        person: request.operator?.actor.id,
      },
      "answered",
    );
    next();
  });
}
