// The whole schema as readable SQL, the same for the same schema: what a review of a migration
// looks at. Made from the catalog, because the embedded server ships no pg_dump.

import type pg from "pg";

const tablesQuery = `
  select c.oid::regclass::text as name, c.oid,
    coalesce(' partition by ' || lower(pg_get_partkeydef(c.oid)), '') as divided
  from pg_class as c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  order by 1`;

const columnsQuery = `
  select
    a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
      || case when a.attnotnull then ' not null' else '' end
      || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') as line
  from pg_attribute as a
  left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped
  order by a.attnum`;

const constraintsQuery = `
  select 'constraint ' || conname || ' ' || pg_get_constraintdef(oid) as line
  from pg_constraint
  where conrelid = $1 and contype <> 'n'
  order by contype desc, conname`;

const indexesQuery = `
  select pg_get_indexdef(i.indexrelid) || ';' as line
  from pg_index as i
  where i.indrelid = $1 and not exists (select from pg_constraint where conindid = i.indexrelid)
  order by 1`;

const triggersQuery = `
  select pg_get_triggerdef(oid) || ';' as line
  from pg_trigger
  where tgrelid = $1 and not tgisinternal
  order by tgname`;

const grantsQuery = `
  select 'grant ' || string_agg(lower(privilege_type), ', ' order by privilege_type)
    || ' on ' || table_name || ' to ' || grantee || ';' as line
  from information_schema.role_table_grants
  where grantee = 'scripdesk_app' and table_schema = 'public'
  group by table_name, grantee
  order by table_name`;

const functionsQuery = `
  select pg_get_functiondef(oid) || ';' as line
  from pg_proc
  where pronamespace = 'public'::regnamespace
  order by proname`;

/** Composite types and the domains over them, which the first tables may use. */
const typesQuery = `
  select 'create type ' || t.typname || ' as (' || string_agg(
      a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' order by a.attnum
    ) || ');' as line
  from pg_type as t
  join pg_class as c on c.oid = t.typrelid and c.relkind = 'c'
  join pg_attribute as a on a.attrelid = c.oid
  where t.typnamespace = 'public'::regnamespace
  group by t.typname
  union all
  select 'create domain ' || t.typname || ' as ' || format_type(t.typbasetype, t.typtypmod)
    || coalesce(' ' || string_agg(pg_get_constraintdef(k.oid), ' ' order by k.conname), '') || ';'
  from pg_type as t
  left join pg_constraint as k on k.contypid = t.oid
  where t.typnamespace = 'public'::regnamespace and t.typtype = 'd'
  group by t.typname, t.typbasetype, t.typtypmod
  order by 1 desc`;

const sequencesQuery = `
  select 'create sequence ' || relname || ';' as line
  from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'S'
  order by 1`;

export async function dumpSchema(client: pg.Pool | pg.ClientBase): Promise<string> {
  const lines = async (query: string, values: unknown[] = []) =>
    (await client.query<{ line: string }>(query, values)).rows.map(({ line }) => line);
  const parts = [
    "-- The schema after all migrations, made by `npm run golden`. A test fails when it differs.",
  ];
  const loose = [...(await lines(typesQuery)), ...(await lines(sequencesQuery))];
  if (loose.length > 0) parts.push(loose.join("\n"));
  const functions = await lines(functionsQuery);
  if (functions.length > 0) parts.push(functions.join("\n\n"));
  const { rows } = await client.query<{ name: string; oid: number; divided: string }>(tablesQuery);
  for (const { name, oid, divided } of rows) {
    const inside = [
      ...(await lines(columnsQuery, [oid])),
      ...(await lines(constraintsQuery, [oid])),
    ];
    const table = `create table ${name} (\n${inside.map((line) => `  ${line}`).join(",\n")}\n)${divided};`;
    const after = [...(await lines(indexesQuery, [oid])), ...(await lines(triggersQuery, [oid]))];
    parts.push([table, ...after].join("\n"));
  }
  parts.push((await lines(grantsQuery)).join("\n"));
  return `${parts.join("\n\n")}\n`;
}
