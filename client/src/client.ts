import { checkClientOptions } from "./check-options.ts";
import { ScripdeskError } from "./errors.ts";
import { keepHead } from "./head.ts";
import { List } from "./list.ts";
import { Operations } from "./operations.ts";
import type { Call, ClientOptions, Operation } from "./options.ts";
import { followStream, readLines } from "./streams.ts";
import { type Received, Transport } from "./transport.ts";
import { type SettledOrder, untilSettled, type WaitOptions } from "./until-settled.ts";

const pageSizeDefault = 100;

/** The service as an object: a method for each operation, named as in its document. */
export class Scripdesk extends Operations {
  // Private to the language, so that a client that is logged shows no key.
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    super();
    checkClientOptions(options);
    this.#transport = new Transport(options);
  }

  /** Waits until the order rests no more and each of its deals is settled, failed or reversed. */
  async untilSettled(order_id: string, options: WaitOptions = {}): Promise<SettledOrder> {
    return await untilSettled(this, order_id, options);
  }

  protected override run(operation: Operation, call: Call): unknown {
    if (operation.kind === "events") return followStream(this.#transport, operation, call);
    if (operation.kind === "lines") return readLines(this.#transport, operation, call);
    if (operation.kind === "list" && !asksForFormat(call)) return this.#list(operation, call);
    return this.#read(operation, call);
  }

  async #read(operation: Operation, call: Call): Promise<unknown> {
    const received = await this.#transport.receive(operation, call);
    const answer = decode(operation, call, received);
    keepHead(answer, received);
    return answer;
  }

  /** Asks for paging even where the caller did not: a whole list may be longer than an answer. */
  #list(operation: Operation, call: Call): unknown {
    const items = operation.items as never;
    return new List<Record<string, unknown>, never>(items, async (cursor) => {
      const query = {
        limit: pageSizeDefault,
        ...call.query,
        ...(cursor !== undefined && { cursor }),
      };
      return (await this.#read(operation, { ...call, query })) as Record<string, unknown>;
    });
  }
}

function asksForFormat({ query = {} }: Call): boolean {
  const { format } = query as { readonly format?: string };
  return format !== undefined && format !== "json";
}

function decode(
  { id, kind }: Operation,
  call: Call,
  { status, headers, bytes }: Received,
): unknown {
  const type = headers.get("content-type") ?? "";
  if (type.startsWith("application/json")) {
    try {
      return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
    } catch (cause) {
      throw unexpected(id, status, headers, cause);
    }
  }
  if ((kind === "json" || kind === "list") && !asksForFormat(call)) {
    throw unexpected(id, status, headers);
  }
  return type.startsWith("text/")
    ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
    : bytes;
}

function unexpected(
  operation: string,
  status: number,
  headers: Headers,
  cause?: unknown,
): ScripdeskError {
  const error = new ScripdeskError({
    slug: "unexpected_answer",
    message: "the answer is not the JSON that the service would send",
    status,
    request_id: headers.get("x-request-id") ?? undefined,
    cause,
  });
  error.operation = operation;
  return error;
}
