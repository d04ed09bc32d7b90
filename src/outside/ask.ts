// How the service asks customs (`registry`) and the bank: whether a code is active and whose it is,
// whether an account bears the firm's name, whether a firm holds a scrip. Neither has an API, so an
// question is a row:
//
//   use case ──ask──▶ questions (open) ──┬── sandbox: a worker simulates the answer ─────┬──▶ applier
//               ◀──drop── dropped        └── live: an operator attests, with a reference ┘
//
// This room asks, claims and answers; it knows nothing of firms or credits. The room that asked has
// an applier, which commits with the answer; `workers.ts` connects them. At most one question of a kind
// is open about one subject, and every answer has an `as_of`.
//
// An outage is a row of `port_outages`: the simulation leaves that port's questions open, deadlines
// that wait for the port stand still, and callers see when it began.

import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, operator } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { houseFirmId, newId } from "../kernel/ids.ts";
import { istTimestamp } from "../kernel/time.ts";
import { everything } from "../kernel/desk-search.ts";
import type { Context } from "../platform/context.ts";
import { yieldToCallers } from "../platform/postgres/offenders.ts";
import { type Db, known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { type Appliers, applySimulated } from "./answer-questions.ts";
import {
  type AnsweredQuestion,
  type Questions,
  type Question,
  type QuestionKind,
  questionKinds,
  type Port,
  ports,
  simulate,
  type Simulators,
} from "./question-rules.ts";
import {
  deleteOutage,
  findPortAndCalendar,
  insertQuestions,
  insertOutage,
  listDueKinds,
  listOpenAbout,
  type QuestionSearch,
  listOpenQuestions,
  listOutages,
  lockOpenQuestions,
  lockOpenAbout,
  setDropped,
} from "./question-store.ts";

/** The delay of the simulation: long enough that the waiting state can be seen. */
const simulatedDelayMs = 500;
/** The simulation answers what is due within this time unless it has much to answer. */
const behindMs = 2_000;

export type NewQuestion<Kind extends QuestionKind = QuestionKind> = {
  [K in Kind]: {
    readonly environment: Environment;
    readonly deskId: string;
    readonly port: Questions[K]["port"];
    readonly kind: K;
    readonly subjectId: string;
    readonly facts: Questions[K]["facts"];
  };
}[Kind];

/** Opens questions; their answers go to the applier of their kind. */
export function askOutside(questions: readonly NewQuestion[], now: Date): Query<void> {
  if (questions.length === 0) return known(undefined);
  const dueAt = new Date(now.getTime() + simulatedDelayMs);
  return insertQuestions(
    questions.map(
      (question) =>
        ({
          question_id: newId("inq", now),
          environment: question.environment,
          desk_id: question.deskId,
          port: question.port,
          kind: question.kind,
          subject_id: question.subjectId,
          facts: question.facts,
          due_at: dueAt,
          created_at: now,
        }) as Question, // Kind, port and facts come from one question.
    ),
  );
}

/** Drops the open questions of these kinds about these subjects. */
export async function dropQuestions(tx: Tx, about: SubjectsByKind): Promise<void> {
  const subjects = questionKinds.flatMap((kind) =>
    (about[kind] ?? []).map((subject_id) => ({ kind, subject_id })),
  );
  if (subjects.length === 0) return;
  const questionIds = await lockOpenAbout(tx, subjects);
  if (questionIds.length > 0) await setDropped(tx, questionIds);
}

type SubjectsByKind = { readonly [Kind in QuestionKind]?: readonly string[] };

/** The kinds of which an answer of the sandbox has been due for a while: the simulation is behind. */
export async function listKindsBehind(db: Db, now: Date): Promise<readonly QuestionKind[]> {
  return await listDueKinds(db, new Date(now.getTime() - behindMs));
}

type PortStatus = {
  readonly port: Port;
  readonly state: "up" | "outage";
  readonly since: string | null;
};

export async function listPortStatus(db: Db, environment: Environment): Promise<PortStatus[]> {
  const outages = await listOutages(db, environment);
  return ports.map((port) => {
    const outage = outages.find((row) => row.port === port);
    return {
      port,
      state: outage ? "outage" : "up",
      since: outage ? istTimestamp(outage.since) : null,
    };
  });
}

/** Since when a port is down; undefined while it is up. */
export async function findOutage(db: Db, environment: Environment, port: Port) {
  return (await listOutages(db, environment)).find((outage) => outage.port === port);
}

export async function isPortUp(db: Db, environment: Environment, port: Port): Promise<boolean> {
  return (await findOutage(db, environment, port)) === undefined;
}

/** The same with the version of the calendar, in one statement: deals need both. */
export function loadPortAndCalendar(
  environment: Environment,
  port: Port,
): Query<{ readonly isUp: boolean; readonly calendarVersion: string }> {
  return findPortAndCalendar(environment, port).map(({ is_up, calendar_version }) => ({
    isUp: is_up,
    calendarVersion: calendar_version,
  }));
}

/** What other rooms do when a port that was down since then is up again; it returns its changes. */
type OnPortUp = (
  tx: Tx,
  outage: PortOfEnvironment & { readonly since: Date },
  now: Date,
) => Promise<readonly Change[]>;

/** Marks a port as down, or as up when `note` is undefined. Open questions wait for the port. */
export async function setOutage(
  ctx: Pick<Context, "db" | "now">,
  target: PortOfEnvironment,
  note: string | undefined,
  actor = operator,
  onPortUp: OnPortUp = async () => [],
): Promise<void> {
  const now = ctx.now();
  await ctx.db.transaction(async (tx) => {
    const outage = await findOutage(tx, target.environment, target.port);
    if (note === undefined) await deleteOutage(tx, target);
    else await insertOutage(tx, { ...target, since: now, note });
    const isOver = note === undefined && outage !== undefined;
    const moved = isOver ? await onPortUp(tx, outage, now) : [];
    await recordChanges(tx, actor, [buildPortChange(target, note), ...moved], now);
  });
}

export type PortOfEnvironment = { readonly environment: Environment; readonly port: Port };

export async function readOpenQuestions(
  ctx: Pick<Context, "db">,
  {
    after,
    limit,
    ...filter
  }: Partial<QuestionSearch> & {
    /** Only those made after this one. */
    readonly after?: string | undefined;
    readonly limit?: number;
  },
): Promise<Question[]> {
  const page = { after: after ?? null, limit: limit ?? null };
  const search = { ...everything, port: null, ...filter };
  return await listOpenQuestions(ctx.db.planned, { ...search, ...page });
}

/**
 * Applies the simulation's answers about a subject and its parts before they are due; returns their
 * number. For sandbox subjects that the caller has locked, so that no other transaction answers or
 * drops these questions.
 */
export async function answerNow(
  tx: Tx,
  actor: Actor,
  {
    kind,
    subjectId,
    simulators,
    appliers,
    now,
  }: {
    readonly kind: QuestionKind;
    readonly subjectId: string;
    readonly simulators: Simulators;
    readonly appliers: Appliers;
    readonly now: Date;
  },
): Promise<number> {
  const open = await listOpenAbout(tx, kind, [subjectId]);
  const locked = await lockOpenQuestions(
    tx,
    open.map(({ question_id }) => question_id),
  );
  const answered = locked.flatMap((question) => {
    const answer = simulate(simulators, question);
    // The simulator of a kind answers in that kind's form.
    return answer ? [{ ...question, answer, as_of: now, reference: null } as AnsweredQuestion] : [];
  });
  yieldToCallers(tx);
  if (answered.length > 0) await applySimulated(tx, actor, { answered, appliers, now });
  return answered.length;
}

/** Ports belong to no desk, so their changes are recorded on the house's desk. */
function buildPortChange(
  { environment, port }: PortOfEnvironment,
  note: string | undefined,
): Change {
  const house = houseFirmId[environment];
  return {
    environment,
    deskId: house,
    firmId: house,
    action: note === undefined ? "port.up" : "port.outage",
    entity: { type: "port", id: port, version: 1, href: `/v1/firms/${house}/connection` },
    after: note === undefined ? null : { environment, port, note },
  };
}
