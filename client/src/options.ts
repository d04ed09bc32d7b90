/** An operation as its method sends it. */
export type Operation = {
  readonly id: string;
  readonly method: string;
  /** With `{name}` for what the method is given first. */
  readonly path: string;
  /** What it answers with. */
  readonly kind: "json" | "list" | "events" | "lines" | "text" | "bytes";
  /** The field of a page that holds its rows. */
  readonly items?: string;
  /** Whether it is sent under an idempotency key. */
  readonly takes_key?: true;
  /** Whether it is for everybody: the API key is not sent. */
  readonly is_keyless?: true;
};

export type Call = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly body?: unknown;
  readonly options: CreateOptions & StreamOptions;
};

/** An answer's head, for logs and meters. */
export type Answer = {
  /** The operation's name. */
  readonly operation: string;
  readonly status: number;
  /** Among them X-Request-ID, X-RateLimit-Remaining and Idempotent-Replayed. */
  readonly headers: Headers;
  /** 1 for the first time it was sent. */
  readonly attempt: number;
};

type Limits = {
  /** How long one attempt may take, in milliseconds. Default 30,000. */
  readonly attempt_timeout_ms?: number | undefined;
  /** How long a call may take with its attempts and the pauses between them. Default 180,000. */
  readonly timeout_ms?: number | undefined;
  /** How often a call is sent again at most. Default 4; 0 for never. */
  readonly max_retries?: number | undefined;
  /** Called with every answer, also with those that are followed by another attempt. */
  readonly on_answer?: ((answer: Answer) => void) | undefined;
};

export type ClientOptions = Limits & {
  /** Where the service is, such as `https://api.example`. */
  readonly base_url: string;
  /** Not needed for what is public. */
  readonly api_key?: string | undefined;
  /** The first pause before an attempt that nobody gave a time for; it doubles. Default 500. */
  readonly retry_delay_ms?: number | undefined;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
};

export type CallOptions = Limits & {
  /** Ends the call; it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Your own correlation id, up to 200 visible ASCII characters; echoed. */
  readonly request_id?: string | undefined;
};

export type WriteOptions = CallOptions & {
  /** Checks and computes as a real call would, and writes nothing. */
  readonly dry_run?: boolean | undefined;
};

export type CreateOptions = WriteOptions & {
  /** Yours, where the intent outlives this process; otherwise one is made for the call. */
  readonly idempotency_key?: string | undefined;
};

export type StreamOptions = CallOptions & {
  /** The last id you have seen; what came after it is sent first. */
  readonly last_event_id?: string | undefined;
  /** The pause before a stream that ended is opened again; as the service says unless given. */
  readonly reconnect_ms?: number | undefined;
  /** A stream that says nothing for so long is taken for cut. Default 45,000. */
  readonly idle_timeout_ms?: number | undefined;
};
