type Row<Page, Items extends keyof Page> = Page[Items] extends readonly (infer Item)[]
  ? Item
  : never;

/** A page of a list, as on the wire. */
export type ListPage<Page> = Page & {
  /** Rows on this page. */
  readonly count: number;
  /** Rows in the list when paging began. */
  readonly total: number;
  /** Where the next page begins; null on the last one. */
  readonly next_cursor: string | null;
  readonly has_more: boolean;
};

type Cursor = { readonly next_cursor?: string | null; readonly has_more?: boolean };

/**
 * A list that is asked for when it is used. Awaited it is one page, as on the wire; iterated it is all
 * rows of this page and of those after it, each page asked for when the one before is used up.
 */
export class List<Page, Items extends keyof Page> implements AsyncIterable<Row<Page, Items>> {
  readonly #items: Items;
  readonly #read: (cursor: string | undefined) => Promise<Page>;

  constructor(items: Items, read: (cursor: string | undefined) => Promise<Page>) {
    this.#items = items;
    this.#read = read;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row<Page, Items>, void, undefined> {
    for await (const page of this.pages()) {
      yield* page[this.#items] as Iterable<Row<Page, Items>>;
    }
  }

  /** The pages, for whoever keeps cursors. */
  async *pages(): AsyncGenerator<ListPage<Page>, void, undefined> {
    let cursor: string | undefined;
    for (;;) {
      const page = await this.#read(cursor);
      yield page as ListPage<Page>;
      const { next_cursor: next, has_more: hasMore } = page as Cursor;
      if (hasMore !== true || typeof next !== "string") return;
      cursor = next;
    }
  }

  // A list is awaited for its first page, as in other clients of this kind.
  // oxlint-disable-next-line unicorn/no-thenable
  then<Done = ListPage<Page>, Failed = never>(
    onDone?: ((page: ListPage<Page>) => Done | PromiseLike<Done>) | null,
    onFailed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    return (this.#read(undefined) as Promise<ListPage<Page>>).then(onDone, onFailed);
  }
}
