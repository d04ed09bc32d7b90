import type { Environment } from "./caller.ts";
import type { PageQuery } from "./page.ts";
import type { TimeSpan } from "./query-time.ts";

/** What an operator's list is narrowed to; null for everything. */
export type DeskSearch = TimeSpan & {
  readonly environment: Environment | null;
  /** Set whenever a firm is. */
  readonly deskId: string | null;
  readonly firmId: string | null;
};

/** What one list is narrowed to besides, and which page of it. */
export type ListSearch<Narrower> = DeskSearch &
  PageQuery & { readonly [Name in keyof Narrower]?: Narrower[Name] | undefined };

/** Everything, of every desk. */
export const everything: DeskSearch = {
  environment: null,
  deskId: null,
  firmId: null,
  from: null,
  to: null,
};
