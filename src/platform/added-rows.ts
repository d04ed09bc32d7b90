// Counts the rows that are loaded into tables, and has the server look at a table (ANALYZE) when there
// were many. Left to itself it looks a minute later at best, and until then it plans lists for a table
// that is no longer what it was. Each look comes at twice as many rows as the one before: once a table
// is large, the server's own looks are often enough.

const firstLookRows = 5_000;

export type AddedRows = {
  /** After a commit. */
  note(added: ReadonlyMap<string, number>): void;
  /** Resolves when nothing is being looked at. */
  settled(): Promise<void>;
};

export function countAddedRows(lookAt: (table: string) => Promise<void>): AddedRows {
  const rows = new Map<string, number>();
  const nextLook = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  return {
    note(added) {
      for (const [table, more] of added) {
        const sum = (rows.get(table) ?? 0) + more;
        rows.set(table, sum);
        if (sum < (nextLook.get(table) ?? firstLookRows)) continue;
        nextLook.set(table, sum * 2);
        // A table that could not be looked at now is looked at by the server in its own time.
        const look = lookAt(table)
          .catch(() => {})
          .finally(() => underWay.delete(look));
        underWay.add(look);
      }
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}
