import { refuseHouse } from "../house/read-house.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Change } from "../kernel/actor.ts";
import type { Call, Environment } from "../kernel/caller.ts";
import { unprocessable } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import { istDay } from "../kernel/time.ts";
import { refuseSubAccount } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { Creation } from "../platform/http/calls.ts";
import { claimIdempotencyKey } from "../platform/http/idempotency.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { requireFirmOfDesk, toRequester, viewFirm } from "./find-firms.ts";
import { buildFirmChange } from "./change-firm.ts";
import {
  explainDuplicate,
  explainRefusal,
  normalizeParticulars,
  refuseInvalidParticulars,
  renewAccount,
  toFingerprintBody,
  sealBank,
} from "./particulars.ts";
import {
  isIec,
  isLegalName,
  isPan,
  legalNameLengthMax,
  makeSyntheticPan,
} from "../kernel/identifiers.ts";
import type { Firm, RegisterFirmBody } from "./schema.ts";
import { blankFirm, findDeskByName, type FirmRow, insertClients, insertFirm } from "./store.ts";
import type { FirmHooks } from "./update-firm.ts";

/** Registers a client firm on the caller's desk. */
export async function registerFirm(
  ctx: Context & Pick<FirmHooks, "onMoved" | "onContactConcerned">,
  call: Call,
  body: RegisterFirmBody,
): Promise<Creation<Firm>> {
  const now = ctx.now();
  const requester = toRequester(call);
  const given = normalizeParticulars(body);
  refuseInvalidParticulars(given, blankFirm);
  refuseSubAccount(requester.visible, "register firms");
  const firm = buildClientFirm(ctx, call, given, now);
  try {
    return await ctx.db.transaction(
      async (tx) => {
        const registeredBefore = await claimIdempotencyKey(tx, {
          call,
          operation: "registerFirm",
          body: toFingerprintBody(body, ctx.sealKey),
          idField: "firm_id",
          newId: firm.firm_id,
          now,
        });
        if (registeredBefore) {
          const original = await requireFirmOfDesk(tx, requester.visible.deskId, registeredBefore);
          return { outcome: "replayed", resource: viewFirm(original, now) };
        }
        await refuseHouse(tx, firm.environment, { firm, on: istDay(now) });
        const move = { deskId: requester.visible.deskId, from: null, to: firm.group_id };
        const joined = await ctx.onMoved(tx, move, now);
        if (!(await insertFirm(tx, firm)))
          throw await explainDuplicate(tx, firm, requester.visible);
        await ctx.onContactConcerned(tx, firm, now);
        const event = { name: "firm.registered", data: describeFirm(firm) };
        const change = buildFirmChange(null, firm, { action: "register", event }, now);
        await recordChanges(tx, requester.actor, [change, ...joined], now);
        return { outcome: call.dryRun ? "dry_run" : "created", resource: viewFirm(firm, now) };
      },
      { rollBack: call.dryRun },
    );
  } catch (error) {
    throw await explainRefusal(ctx.db, error, { firm, visible: requester.visible });
  }
}

function buildClientFirm(
  { sealKey }: Context,
  { caller }: Call,
  given: RegisterFirmBody,
  now: Date,
): FirmRow {
  const firmId = newId("frm", now);
  const { bank, ...particulars } = given;
  const sealed = sealBank(bank ?? null, firmId, sealKey);
  return {
    ...blankFirm,
    firm_id: firmId,
    environment: caller.environment,
    desk_id: caller.deskId,
    ...particulars,
    ...sealed,
    ...renewAccount(sealed, now),
    created_at: now,
    updated_at: now,
  };
}

function describeFirm({ legal_name, role, external_id }: FirmRow): object {
  return { legal_name, role, external_id };
}

type OpenDesk = {
  readonly legalName: string;
  readonly environment: Environment;
  readonly iec?: string | undefined;
  readonly pan?: string | undefined;
};

export type OpenedDesk = {
  readonly desk: FirmRow;
  /** For the audit trail; empty when the desk existed. */
  readonly opened: readonly Change[];
};

/**
 * Finds the desk of that name or opens it. A sandbox desk can trade at once, under synthetic
 * identifiers. A live desk can when the operator gives its identifiers; without them it is only
 * registered, and acts for client firms.
 */
export async function openDesk(tx: Tx, command: OpenDesk, now: Date): Promise<OpenedDesk> {
  if (!isLegalName(command.legalName)) {
    const problem = `must be 1 to ${legalNameLengthMax} characters`;
    throw unprocessable({ path: "legal_name", problem });
  }
  const known = await findDeskByName(tx, command.environment, command.legalName);
  if (known) return { desk: known, opened: [] };
  const firmId = newId("frm", now);
  const identity = chooseIdentity(command, firmId);
  await refuseHouse(tx, command.environment, { firm: identity, on: istDay(now) });
  const desk: FirmRow = {
    ...blankFirm,
    firm_id: firmId,
    environment: command.environment,
    desk_id: firmId,
    legal_name: command.legalName,
    ...identity,
    connection_state: identity.pan ? "authorized" : "registered",
    authorized_at: identity.pan ? now : null,
    created_at: now,
    updated_at: now,
  };
  if (await insertFirm(tx, desk)) {
    return { desk, opened: [buildFirmChange(null, desk, { action: "open_desk" }, now)] };
  }
  const winner = await findDeskByName(tx, command.environment, command.legalName);
  if (!winner) throw new Error("a desk that caused a unique violation exists");
  return { desk: winner, opened: [] };
}

function chooseIdentity({ environment, iec, pan }: OpenDesk, firmId: string) {
  if (iec === undefined && pan === undefined) {
    const synthetic = environment === "sandbox" ? makeSyntheticPan(firmId) : null;
    return { iec: synthetic, pan: synthetic };
  }
  const taken = pan ?? iec ?? "";
  if (!isPan(taken)) throw unprocessable({ path: "pan", problem: "must be a PAN" });
  if (!isIec(iec ?? taken)) throw unprocessable({ path: "iec", problem: "must be an IEC" });
  return { iec: iec ?? taken, pan: taken };
}

/** Inserts synthetic client firms, authorized to trade; the same seed gives the same PAN. */
export async function seedClients(
  tx: Tx,
  desk: FirmRow,
  clients: readonly { readonly firmId: string; readonly seed: string; readonly name: string }[],
  now: Date,
): Promise<void> {
  tx.added("firms", clients.length);
  await insertClients(
    tx,
    clients.map(({ firmId, seed, name }) => {
      const pan = makeSyntheticPan(seed);
      return {
        ...blankFirm,
        firm_id: firmId,
        environment: desk.environment,
        desk_id: desk.firm_id,
        legal_name: name,
        iec: pan,
        pan,
        connection_state: "authorized",
        authorized_at: now,
        created_at: now,
        updated_at: now,
      };
    }),
  );
}
