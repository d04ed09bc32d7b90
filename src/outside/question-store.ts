import type { Environment } from "../kernel/caller.ts";
import type { DeskSearch } from "../kernel/desk-search.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import {
  command,
  type Db,
  query,
  type Query,
  sql,
  type Tx,
} from "../platform/postgres/postgres.ts";
import { rowsBy } from "../platform/postgres/rows.ts";
import { json, table, text, time } from "../platform/postgres/table.ts";
import {
  type AnsweredQuestion,
  type Question,
  type QuestionKind,
  questionKinds,
  type Port,
} from "./question-rules.ts";

const questions = table("questions", {
  question_id: text(),
  environment: text<Environment>(),
  desk_id: text(),
  port: text<Port>(),
  kind: text<QuestionKind>(),
  subject_id: text(),
  facts: json<object>(),
  state: text<"open" | "answered" | "dropped">(),
  due_at: time(),
  created_at: time(),
  answer: json<object>().orNull,
  as_of: time().orNull,
  reference: text().orNull,
});
const askedColumns = [
  "question_id",
  "environment",
  "desk_id",
  "port",
  "kind",
  "subject_id",
  "facts",
  "due_at",
  "created_at",
] as const;
const questionColumns = questions.as("questions", askedColumns);

/** A question that is already open is not inserted again. */
export function insertQuestions(asked: readonly Question[]): Query<void> {
  return command(sql`
    insert into questions ${questions.values(askedColumns, asked, { state: "open" })}
    on conflict (kind, subject_id) where state = 'open' do nothing`);
}

/** The kinds of due sandbox questions. `due_at < 'infinity'` is the condition of the index. */
export async function listDueKinds(db: Db, now: Date): Promise<QuestionKind[]> {
  const rows = await db.rows<{ kind: QuestionKind }>(sql`
    select asked.kind
    from unnest(${questionKinds}::text[]) as asked (kind)
    where exists (
      select
      from questions
      where environment = 'sandbox' and state = 'open' and kind = asked.kind and due_at <= ${now}
        and due_at < 'infinity'
    )`);
  return rows.map(({ kind }) => kind);
}

/** Due sandbox questions, locked with `skip locked`. */
export async function claimDueQuestions(
  tx: Tx,
  kinds: readonly QuestionKind[],
  { now, limit, only, except }: Choice & { readonly now: Date; readonly limit: number },
): Promise<Question[]> {
  return await tx.rows(sql`
    select ${questionColumns}
    from questions
    where environment = 'sandbox' and state = 'open' and due_at <= ${now} and due_at < 'infinity'
      and kind = any(${kinds}::text[])
      and (${only}::text[] is null or question_id = any(${only}::text[]))
      and question_id <> all(${except}::text[])
      and not exists (
        select
        from port_outages
        where port_outages.environment = questions.environment and port_outages.port = questions.port
      )
    order by kind, due_at
    limit ${limit}
    for update skip locked`);
}

export async function lockOpenQuestions(
  tx: Tx,
  questionIds: readonly string[],
): Promise<Question[]> {
  return await tx.rows(sql`
    select ${questionColumns}
    from questions
    where question_id = any(${questionIds}::text[]) and state = 'open'
    order by question_id
    for update`);
}

export function setAnswered(
  answered: readonly AnsweredQuestion[],
  answeredBy: string,
): Query<void> {
  return command(sql`
    update questions
    set state = 'answered', answer = a.answer, as_of = a.as_of, reference = a.reference,
      answered_by = ${answeredBy}
    from ${questions.rows(["question_id", "answer", "as_of", "reference"], answered)} as a
    where questions.question_id = a.question_id`);
}

/** The questions are locked. */
export function deleteQuestions(questionIds: readonly string[]): Query<void> {
  return command(sql`
    delete from questions
    where question_id = any(${questionIds}::text[])`);
}

/** Keeps questions that the simulation does not answer open, and takes them off the due list. */
export function leaveOpen(left: readonly Question[]): Query<void> {
  return command(sql`
    update questions
    set due_at = due_at + interval '100 years'
    where question_id = any(${left.map(({ question_id }) => question_id)}::text[])`);
}

/**
 * Locks the open questions about these subjects. Each is looked up by itself, and the only index for
 * that is the one of subjects: the one of deadlines needs `due_at < 'infinity'`.
 */
export async function lockOpenAbout(
  tx: Tx,
  subjects: readonly Pick<Question, "kind" | "subject_id">[],
): Promise<string[]> {
  const rows = await tx.rows<{ question_id: string }>(sql`
    select found.question_id
    from ${questions.rows(["kind", "subject_id"], subjects)} as asked
    cross join lateral (
      select i.question_id
      from questions as i
      where i.kind = asked.kind and i.subject_id = asked.subject_id and i.state = 'open'
      limit 1
      for update
    ) as found`);
  return rows.map((row) => row.question_id);
}

/** The questions are locked and open. */
export async function setDropped(tx: Tx, questionIds: readonly string[]): Promise<void> {
  await tx.rows(sql`
    update questions
    set state = 'dropped'
    where question_id = any(${questionIds}::text[])`);
}

export type QuestionSearch = Omit<DeskSearch, "firmId"> & { readonly port: Port | null };

export async function listOpenQuestions(
  db: Db,
  {
    environment,
    deskId,
    from,
    to,
    port,
    after,
    limit,
  }: QuestionSearch & { readonly after: string | null; readonly limit: number | null },
): Promise<Question[]> {
  return await db.rows(sql`
    select ${questionColumns}
    from questions
    where state = 'open'
      and (${environment}::text is null or environment = ${environment})
      and (${port}::text is null or port = ${port})
      and (${deskId}::text is null or desk_id = ${deskId})
      and (${from}::timestamptz is null or created_at >= ${from})
      and (${to}::timestamptz is null or created_at < ${to})
      and (${after}::text is null or question_id > ${after})
    order by created_at, question_id
    limit ${limit}`);
}

/** The open questions about these subjects and their parts (`subject:part`). */
export async function listOpenAbout(
  db: Db,
  kind: QuestionKind,
  subjectIds: readonly string[],
): Promise<Question[]> {
  return await db.rows(sql`
    select ${questionColumns}
    from questions
    where state = 'open' and kind = ${kind}
      and split_part(subject_id, ':', 1) = any(${subjectIds}::text[])
    order by created_at, question_id`);
}

type OutageRow = {
  readonly environment: Environment;
  readonly port: Port;
  readonly since: Date;
  readonly note: string;
};

export async function listOutages(db: Db, environment: Environment): Promise<OutageRow[]> {
  return await db.rows(sql`
    select environment, port, since, note
    from port_outages
    where environment = ${environment}`);
}

export function findPortAndCalendar(
  environment: Environment,
  port: Port,
): Query<{ readonly is_up: boolean; readonly calendar_version: string }> {
  return query<{ is_up: boolean; calendar_version: string }>(sql`
    select version as calendar_version, not exists (
        select
        from port_outages
        where environment = ${environment} and port = ${port}
      ) as is_up
    from calendar_versions`).map(([row]) => {
    if (!row) throw new Error("the calendar has a version");
    return row;
  });
}

export async function insertOutage(db: Db, outage: OutageRow): Promise<void> {
  await db.rows(sql`
    insert into port_outages (environment, port, since, note)
    values (${outage.environment}, ${outage.port}, ${outage.since}, ${outage.note})
    on conflict (environment, port) do nothing`);
}

export async function deleteOutage(
  db: Db,
  { environment, port }: { readonly environment: Environment; readonly port: Port },
): Promise<void> {
  await db.rows(sql`
    delete from port_outages
    where environment = ${environment} and port = ${port}`);
}

export const { list: listQuestions } = rowsBy(questions, { key: ["question_id"] });
