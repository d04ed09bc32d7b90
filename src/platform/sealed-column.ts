// Reads and writes a sealed column for the rotation of the master key. The room that owns the table
// declares it in its store.

import { createHash } from "node:crypto";

import type { Db } from "./postgres/postgres.ts";
import { type ResealedRow, resealedRows } from "./master-key.ts";
import { type WireValue, wireValue } from "./postgres/wire-value.ts";

type KeptSealed = { readonly id: string; readonly sealed: Buffer };

type SealedColumn<Row extends KeptSealed> = {
  /** The next rows after an id, in the order of the ids. */
  list(db: Db, after: string, limit: number): Promise<Row[]>;
  /** Updates each row only if its sealed value has not changed since it was read. */
  set(db: Db, rows: readonly ResealedRow[]): Promise<void>;
};

export function sealedColumn<Also extends string = never>({
  table,
  id,
  sealed,
  also = [],
}: {
  readonly table: string;
  /** The key column; rows are locked in its order. */
  readonly id: string;
  readonly sealed: string;
  /** Text columns that are part of the purpose of a seal. */
  readonly also?: readonly Also[];
}): SealedColumn<KeptSealed & Readonly<Record<Also, string>>> {
  const listing = name(`
    select ${[`${id} as id`, `${sealed} as sealed`, ...also].join(", ")}
    from ${table}
    where ${id} > $1 and ${sealed} is not null
    order by ${id}
    limit $2`);
  let parameters = 0;
  const given = resealedRows([]).write(() => `$${++parameters}`);
  // Locks the rows in the order of their ids first: an update alone locks in the order of its plan.
  const setting = name(`
    update ${table} as t
    set ${sealed} = n.after
    from (
      select r.${id} as id, given.after
      from (
        select id, before, after
        from ${given} as given
        order by id
      ) as given
      cross join lateral (
        select ${id}
        from ${table}
        where ${id} = given.id and ${sealed} = given.before
        for no key update
      ) as r
    ) as n
    where t.${id} = n.id`);
  return {
    list: async (db, after, limit) =>
      await db.rows({ ...listing, values: [after, limit].map(wireValue) }),
    set: async (db, rows) => {
      const values: WireValue[] = [];
      resealedRows(rows).addValues(values);
      await db.rows({ ...setting, values });
    },
  };
}

function name(text: string) {
  return { text, name: createHash("sha1").update(text).digest("base64url") };
}
