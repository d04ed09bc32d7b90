import { sumPaise } from "../kernel/money.ts";
import { findForSale } from "../credits/reserve-credits.ts";
import { countDaysLeft } from "../credits/rules.ts";
import type { Change } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { type FieldProblem, notFound, unprocessable } from "../kernel/failure.ts";
import { istDay } from "../kernel/time.ts";
import { readCalendar } from "../outside/calendar.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { amountDaysMin } from "../rates/rules.ts";
import { nothingToDeliver } from "../trading/order-refusals.ts";
import { type LockedCross, actOnCross, moveCross, moveToDeadline } from "./act-on-cross.ts";
import { reserveForCrosses } from "./open-crosses.ts";
import { bindAnswerer, chooseOwnLot } from "./propose-cross.ts";
import { buildCrossChanges } from "./read-crosses.ts";
import { buildConflict, requireMove } from "./rules.ts";
import type { AcceptCrossBody, Cross } from "./schema.ts";
import { type CrossRow, setCrosses } from "./store.ts";

/** Accepts the terms of a proposal, named by their hash, and reserves the credits. */
export async function acceptCross(
  ctx: Context,
  call: Call,
  { cross_id: crossId, ...body }: AcceptCrossBody & { readonly cross_id: string },
): Promise<Cross> {
  const action = "accept";
  return await actOnCross(ctx, call, { crossId, action }, async (tx, acting) => {
    return await accept(tx, acting, body);
  });
}

async function accept(tx: Tx, acting: LockedCross, body: AcceptCrossBody): Promise<Change[]> {
  const { call, cross, standing, now } = acting;
  requireMove("accept", standing);
  if (body.terms_hash !== cross.terms_hash) {
    throw buildConflict(standing, "terms_differ", "these are not the terms of the cross");
  }
  const bound = bindAnswerer(cross, call.caller.deskId);
  const scrip_nos = await chooseDelivery(tx, { call, cross: bound, chosen: body.scrip_nos, now });
  const when = { now, calendar: await readCalendar(tx) };
  const after = { ...moveToDeadline(bound, "accept", when), scrip_nos };
  const isCounted = cross.proposing_key_id === call.caller.keyId;
  // A buyer on another desk has not seen the credits, so they were not priced by it.
  const pricedAt = cross.names_credits && cross.proposed_by === "sell" ? cross.created_at : null;
  await reserveForCrosses(tx, call.caller, { crosses: [after], isCounted, pricedAt, now });
  await tx.run(setCrosses([after]));
  return buildCrossChanges({ action: "accept", before: cross, after });
}

type DeliveryChoice = {
  readonly call: Call;
  readonly cross: CrossRow;
  readonly chosen: readonly string[] | undefined;
  readonly now: Date;
};

/** The credits of the terms; when the terms name none, those that the accepting seller chooses. */
async function chooseDelivery(tx: Tx, delivering: DeliveryChoice): Promise<readonly string[]> {
  const { cross, chosen, now } = delivering;
  if (cross.names_credits) {
    if (chosen) throw unprocessable({ path: "scrip_nos", problem: "the terms name the credits" });
    return cross.scrip_nos;
  }
  if (chosen) return await checkChosenCredits(tx, { ...delivering, chosen });
  const { scheme, face_paise: facePaise, seller_firm_id: firmId } = cross;
  const own = await chooseOwnLot(tx, { firmId: firmId ?? "", scheme, facePaise }, now);
  if (own.facePaise !== facePaise) throw nothingToDeliver(amountDaysMin);
  return own.scripNos;
}

async function checkChosenCredits(
  tx: Tx,
  { call, cross, chosen, now }: DeliveryChoice & { readonly chosen: readonly string[] },
): Promise<readonly string[]> {
  const asked = chosen.map((scripNo) => ({
    caller: call.caller,
    scripNo,
    firmId: cross.seller_firm_id,
  }));
  const credits = (await tx.run(findForSale(asked))).filter((credit) => credit !== undefined);
  if (credits.length < chosen.length) throw notFound("scrip_nos");
  const numbers = [...new Set(credits.map((credit) => credit.scrip_no))];
  const face = sumPaise(credits.map((credit) => credit.face_paise));
  const today = istDay(now);
  const isShort = credits.some((credit) => countDaysLeft(credit.expires_on, today) < amountDaysMin);
  const path = "scrip_nos";
  const problems: FieldProblem[] = [
    ...(numbers.length < chosen.length ? [{ path, problem: "names a credit twice" }] : []),
    ...(credits.some((credit) => credit.scheme !== cross.scheme)
      ? [{ path, problem: `must be of ${cross.scheme}` }]
      : []),
    ...(face !== cross.face_paise
      ? [{ path, problem: `must have faces that sum to ${cross.face_paise} paise` }]
      : []),
    ...(isShort ? [{ path, problem: `must have ${amountDaysMin} days left` }] : []),
  ];
  if (problems.length > 0) throw unprocessable(...problems);
  return numbers;
}

/** Declines for the firm: none of its desks can accept afterwards. */
export async function declineCross(ctx: Context, call: Call, crossId: string): Promise<Cross> {
  const action = "decline";
  return await actOnCross(ctx, call, { crossId, action }, async (tx, acting) => {
    const { cross, standing, now } = acting;
    const move = requireMove(action, standing);
    const after = moveCross(bindAnswerer(cross, call.caller.deskId), move, { now });
    await tx.run(setCrosses([after]));
    return buildCrossChanges({ action, before: cross, after });
  });
}
