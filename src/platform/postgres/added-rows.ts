// Counts the rows that are written into tables, and runs ANALYZE when there were many. Autovacuum comes
// a minute later at best, and until then lists are planned with old statistics, and connections keep
// plans that were made for an empty table. Each ANALYZE comes at four times as many rows as the last:
// for a large table autovacuum is often enough, and at twice as many a batch of orders took a third
// more of PostgreSQL's processor time.

const firstAnalyzeRows = 5_000;
const nextAnalyzeFactor = 4;

export type AddedRows = {
  /** Called after a commit. */
  note(added: ReadonlyMap<string, number>): void;
  /** Resolves when no ANALYZE is under way. */
  settled(): Promise<void>;
};

export function countAddedRows(analyzeTable: (table: string) => Promise<void>): AddedRows {
  const rows = new Map<string, number>();
  const nextAnalyze = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  return {
    note(added) {
      for (const [table, more] of added) {
        const sum = (rows.get(table) ?? 0) + more;
        rows.set(table, sum);
        if (sum < (nextAnalyze.get(table) ?? firstAnalyzeRows)) continue;
        nextAnalyze.set(table, sum * nextAnalyzeFactor);
        // When it fails, autovacuum analyzes the table later.
        const analyzing = analyzeTable(table)
          .catch(() => {})
          .finally(() => underWay.delete(analyzing));
        underWay.add(analyzing);
      }
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}
