// Dues: what a firm owes the house, as after the reversal of a deal that was paid out. A firm that owes
// has nothing available: at the end of every set of the books, all that the set has left available of
// the firm's cash and commission is set off. What the set holds for a deal is not available and stays;
// tax is withheld before. So a firm that owes can neither fund, nor withdraw, nor hand money over, and
// its dues shrink by payment only. A trigger refuses what would break this (migration 0096).

import type { Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { addPaise, asAmount, negatePaise, type PaiseSum, subtractPaise } from "../kernel/money.ts";
import { type Books, type Effect } from "./judge-books.ts";
import { accountName, availableBalance, type Entry } from "./rules.ts";

/** Sets dues off from money: what pays them, and what is left of both. */
export function setOff(
  moneyPaise: PaiseSum,
  duesPaise: PaiseSum,
): { readonly setOffPaise: PaiseSum; readonly restPaise: PaiseSum; readonly duesPaise: PaiseSum } {
  const lesser = moneyPaise < duesPaise ? moneyPaise : duesPaise;
  const setOffPaise = lesser > 0 ? lesser : 0;
  return {
    setOffPaise,
    restPaise: subtractPaise(moneyPaise, setOffPaise),
    duesPaise: subtractPaise(duesPaise, setOffPaise),
  };
}

/** Money of a firm that pays its dues, and what made it available. */
export type SetOff = {
  readonly environment: Environment;
  readonly firmId: string;
  readonly from: "firm_cash" | "desk_commission";
  /** The settlement, payout, deposit or cross; the firm for what was available before. */
  readonly subject: string;
  readonly paise: number;
};

export type FirmOfBooks = { readonly environment: Environment; readonly firmId: string };

/** What firms owe after the items that were judged; 0 for those without dues. */
export function findOwed({ balances }: Books, firmId: string): PaiseSum {
  const balance = balances.get(accountName({ kind: "firm_dues", firmId }));
  return balance ? negatePaise(balance.posted_paise) : 0;
}

/** What is set off after these effects, cash before commission, what came first before the rest. */
export function decideSetOffs(
  books: Books,
  firms: readonly FirmOfBooks[],
  effects: readonly Effect[],
): SetOff[] {
  return firms.flatMap(({ environment, firmId }) => {
    let duesPaise = findOwed(books, firmId);
    return (["firm_cash", "desk_commission"] as const).flatMap((from) => {
      const account = accountName({ kind: from, firmId });
      const balance = books.balances.get(account);
      const taken = setOff(balance ? availableBalance(balance) : 0, duesPaise);
      ({ duesPaise } = taken);
      const parts = divideAmong(taken.setOffPaise, listGains(effects, account), firmId);
      return parts.map((part) => ({ environment, firmId, from, ...part }));
    });
  });
}

/** One entry for each subject; `nextOrdinal` is the first that its earlier entries left free. */
export function buildSetOffEntries(
  setOffs: readonly SetOff[],
  nextOrdinal: ReadonlyMap<string, number>,
): Entry[] {
  return [...Map.groupBy(setOffs, ({ subject }) => subject)].flatMap(([subject, own]) => {
    const [first] = own;
    if (!first) return [];
    return [
      {
        environment: first.environment,
        kind: "dues" as const,
        subject,
        ordinal: nextOrdinal.get(subject) ?? 0,
        phase: "posted" as const,
        movements: own.map(({ from, firmId, paise }) => ({
          from: { kind: from, firmId },
          to: { kind: "firm_dues" as const, firmId },
          paise,
        })),
      },
    ];
  });
}

/** What a set has added to the dues of a firm, by what it is about. */
export type RaisedDues = FirmOfBooks & { readonly subject: string; readonly paise: PaiseSum };

export function listRaisedDues(
  firms: readonly FirmOfBooks[],
  effects: readonly Effect[],
): RaisedDues[] {
  return firms.flatMap((firm) => {
    const gains = listGains(effects, accountName({ kind: "firm_dues", firmId: firm.firmId }));
    return [...gains]
      .filter(([, gain]) => gain < 0)
      .map(([subject, gain]) => ({ ...firm, subject, paise: negatePaise(gain) }));
  });
}

/** What desks are told of the dues of their firms. `owed` is what is owed after the set. */
export function buildDuesChanges({
  raised,
  setOffs,
  firms,
  owed,
}: {
  readonly raised: readonly RaisedDues[];
  readonly setOffs: readonly SetOff[];
  readonly firms: ReadonlyMap<string, { readonly desk_id: string; readonly version: number }>;
  readonly owed: (firmId: string) => PaiseSum;
}): Change[] {
  const left = new Map<string, PaiseSum>();
  for (const { firmId } of [...raised, ...setOffs]) left.set(firmId, owed(firmId));
  for (const { firmId, paise } of setOffs) left.set(firmId, addPaise(left.get(firmId) ?? 0, paise));
  for (const { firmId, paise } of raised) {
    left.set(firmId, subtractPaise(left.get(firmId) ?? 0, paise));
  }
  const move = (
    { environment, firmId, subject, paise }: RaisedDues,
    { action, event, sign }: { action: string; event: string; sign: 1 | -1 },
  ): Change => {
    const firm = firms.get(firmId);
    if (!firm) throw new Error("who owes is a firm");
    const before = left.get(firmId) ?? 0;
    const after = sign > 0 ? addPaise(before, paise) : subtractPaise(before, paise);
    left.set(firmId, after);
    const data = { reference: subject, amount_paise: paise, dues_paise: after };
    return {
      environment,
      deskId: firm.desk_id,
      firmId,
      action,
      entity: {
        type: "dues",
        id: firmId,
        version: firm.version,
        href: `/v1/positions?firm_id=${firmId}`,
      },
      after: { dues_paise: after },
      event: { name: event, from: null, to: null, data },
    };
  };
  return [
    ...raised.map((each) => move(each, { action: "dues.raise", event: "dues.raised", sign: 1 })),
    ...setOffs.map((each) =>
      move(each, { action: "dues.settle", event: "dues.set_off", sign: -1 }),
    ),
  ];
}

/** What each subject has added to what an account has available, in the order of the set. */
function listGains(effects: readonly Effect[], account: string): Map<string, PaiseSum> {
  const gains = new Map<string, PaiseSum>();
  for (const { subject, changes } of effects) {
    const change = changes.get(account);
    if (!change) continue;
    gains.set(subject, addPaise(gains.get(subject) ?? 0, availableBalance(change)));
  }
  return gains;
}

function divideAmong(
  paise: PaiseSum,
  gains: ReadonlyMap<string, PaiseSum>,
  rest: string,
): { readonly subject: string; readonly paise: number }[] {
  let left = paise;
  const divided = [...gains].flatMap(([subject, gain]) => {
    const { setOffPaise: part } = setOff(gain, left);
    left = subtractPaise(left, part);
    return toAmounts(part).map((amount) => ({ subject, paise: amount }));
  });
  return [...divided, ...toAmounts(left).map((amount) => ({ subject: rest, paise: amount }))];
}

/** A sum as amounts that one movement can have. */
function toAmounts(paise: PaiseSum): number[] {
  const amounts: number[] = [];
  for (let left = paise; left > 0; left = subtractPaise(left, asAmount(left))) {
    amounts.push(asAmount(left));
  }
  return amounts;
}
