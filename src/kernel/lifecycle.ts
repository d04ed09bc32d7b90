// A lifecycle is one table of moves. The guard, `allowed_actions`, the published state tables and
// the exhaustive test of each slice all read that table; its SQL twin is a check constraint.

import { Failure } from "./failure.ts";
import { istTimestamp } from "./time.ts";

type Move<State extends string> = {
  readonly from: readonly State[];
  readonly to: State;
  /** The actor, if not the caller. Such a move is never among the allowed actions. */
  readonly by?: "clock" | "operator" | "registry" | "bank" | "deal";
};

type Moves<State extends string> = Readonly<Record<string, Move<State>>>;

export type Lifecycle<State extends string = string> = {
  readonly noun: string;
  readonly initial: readonly State[];
  readonly states: readonly State[];
  readonly moves: Moves<State>;
};

/** The state an action leads to, or the conflict that says which actions are allowed instead. */
export function advance<State extends string, Table extends Moves<State>>(
  lifecycle: Lifecycle<State> & { readonly moves: Table },
  state: State,
  action: keyof Table & string,
): State {
  const move = lifecycle.moves[action];
  if (move?.from.includes(state)) return move.to;
  throw wrongState(`a ${lifecycle.noun} that is ${state} does not allow ${action}`, {
    state,
    allowed: allowedActions(lifecycle, state),
  });
}

/** The conflict of an action that the state does not allow; nothing is allowed unless it is given. */
export function wrongState(
  message: string,
  { state, allowed = [] }: { readonly state: string; readonly allowed?: readonly string[] },
): Failure {
  return new Failure("conflict", message, {
    detail: { reason: "wrong_state", state, allowed_actions: allowed },
  });
}

export function allowedActions<State extends string>(
  { moves }: Pick<Lifecycle<State>, "moves">,
  state: State,
): string[] {
  return Object.entries(moves)
    .filter(([, move]) => move.by === undefined && move.from.includes(state))
    .map(([action]) => action);
}

/** What operators can do in a state: those of their acts that are done in it. */
export function listActs<Act extends string, State extends string>(
  statesByAct: Readonly<Record<Act, readonly State[]>>,
  state: State,
): Act[] {
  return (Object.keys(statesByAct) as Act[]).filter((act) => statesByAct[act].includes(state));
}

/** A state that something came to, as its history shows it. */
export type Step<State extends string> = {
  readonly status: State;
  readonly at: string;
  readonly reason: string | null;
};

/**
 * A row has its history as one short text for each step, because it is written anew with each version of
 * the row. Rows of before have steps as they are shown.
 */
export type StoredSteps<State extends string> = readonly (string | Step<State>)[];

/** The state, the milliseconds since 1970, and the reason where there is one. */
export function writeStep(state: string, now: Date, reason: string | null): string {
  const step = `${state} ${now.getTime()}`;
  return reason === null ? step : `${step} ${reason}`;
}

const stepForm = /^(?<state>\S+) (?<ms>-?\d+)(?: (?<reason>.*))?$/s;

export function readSteps<State extends string>(stored: StoredSteps<State>): Step<State>[] {
  return stored.map((step) => {
    if (typeof step !== "string") return step;
    const { state, ms, reason } = stepForm.exec(step)?.groups ?? {};
    if (state === undefined || ms === undefined) throw new Error(`no step: ${step}`);
    // Written by `writeStep` with a state of its lifecycle.
    return {
      status: state as State,
      at: istTimestamp(new Date(Number(ms))),
      reason: reason ?? null,
    };
  });
}
