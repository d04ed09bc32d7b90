import { firmOfCaller } from "../firms/firm-of-caller.ts";
import { actorOf } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { type IstDay, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { itemCheck } from "../platform/http-validation.ts";
import { claimIdempotencyKey } from "../platform/idempotency.ts";
import { mapPaced, openPace } from "../platform/pace.ts";
import { resultOf, sumsOf } from "./result-of.ts";
import { type CreditFacts, factsOf } from "./rules.ts";
import { CreditDeclaration, type DeclareCreditsBody, type DeclarationResults } from "./schema.ts";
import { lookAtDeclarations, takeDeclarations } from "./take-declarations.ts";

export type Declared = { readonly replayed: boolean; readonly answer: DeclarationResults };

const checkItem = itemCheck(CreditDeclaration);

/** A firm says what it holds. Each credit is answered by itself; all of them are one set. */
export async function declareCredits(
  ctx: Context,
  call: Call,
  firmId: string,
  body: DeclareCreditsBody,
): Promise<Declared> {
  const now = ctx.now();
  const today = istDay(now);
  const pace = openPace();
  const declared = await mapPaced(body.credits, (item) => judged(item, today), pace);
  return await ctx.db.transaction(
    async (tx) => {
      const firm = await firmOfCaller(tx, call.caller, firmId);
      const taking = { firm, actor: actorOf(call), mode: { followsBalance: false }, now };
      const earlier = await claimIdempotencyKey(tx, {
        call,
        operation: "declareCredits",
        body: { firm_id: firmId, ...body },
        idField: "firm_id",
        newId: firmId,
        now,
      });
      const outcomes = await (earlier ? lookAtDeclarations : takeDeclarations)(
        tx,
        taking,
        declared,
      );
      const view = { firmState: firm.connection_state, today };
      const results = await mapPaced(
        outcomes,
        (outcome, index) => ({ index, ...resultOf(outcome, view, call.requestId) }),
        pace,
      );
      return { replayed: earlier !== undefined, answer: { results, ...sumsOf(results) } };
    },
    { rollBack: call.dryRun },
  );
}

function judged(item: unknown, today: IstDay): CreditFacts | Failure {
  try {
    const declaration = checkItem(item);
    return declaration instanceof Failure ? declaration : factsOf(declaration, today);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}
