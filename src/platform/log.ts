// Structured logs: one JSON object a line, each with the request's id, none with a secret. Headers
// and bodies are never logged; what a log line may hold is listed here.

import { type DestinationStream, type Logger, pino } from "pino";

import type { App } from "./http.ts";

/** Lines are written in blocks, so that a busy service does not make a system call a request. */
const bufferBytes = 4_096;

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

export type LogLevel = (typeof logLevels)[number];

export type Log = { readonly log: Logger; readonly flush: () => void };

export function createLog(level: LogLevel, to?: DestinationStream): Log {
  if (to) return { log: pino({ level, base: undefined }, to), flush() {} };
  const stream = pino.destination({ dest: 1, sync: false, minLength: bufferBytes });
  const flushing = setInterval(() => stream.flush(), 1_000);
  flushing.unref();
  return {
    log: pino({ level, base: undefined }, stream),
    flush() {
      clearInterval(flushing);
      stream.flushSync();
    },
  };
}

/** One line per request once it is answered. */
export function logRequests(app: App): void {
  app.addHook("onResponse", (request, reply, next) => {
    request.log.info(
      {
        route: request.routeOptions.config.label,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 1_000) / 1_000,
        key_id: request.caller?.keyId,
      },
      "answered",
    );
    next();
  });
}
