// Credits in memory: who holds each, and in which state it is.

import assert from "node:assert/strict";

import { creditLifecycle, type CreditState } from "../../src/credits/rules.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { advance } from "../../src/kernel/lifecycle.ts";

type Holding = {
  readonly firmId: string;
  readonly facePaise: number;
  readonly state: CreditState;
  readonly reservedFor: string | null;
};

export class CreditShelf {
  /** By number. */
  readonly credits = new Map<string, Holding>();

  add(firmId: string, facePaise: number): string {
    const scripNo = `SCRIP${String(this.credits.size + 1).padStart(5, "0")}`;
    this.credits.set(scripNo, { firmId, facePaise, state: "listed", reservedFor: null });
    return scripNo;
  }

  findCredit(scripNo: string): Holding {
    return this.credits.get(scripNo) ?? assert.fail(`${scripNo} is not there`);
  }

  move(
    scripNo: string,
    action: keyof typeof creditLifecycle.moves,
    details: Partial<Holding> = {},
  ): void {
    const credit = this.findCredit(scripNo);
    const state = advance(creditLifecycle, credit.state, action);
    this.credits.set(scripNo, { ...credit, ...details, state });
  }

  /** What left one firm is another's, free to be sold again. */
  hand(scripNo: string, firmId: string): void {
    const { facePaise } = this.findCredit(scripNo);
    this.credits.set(scripNo, { firmId, facePaise, state: "listed", reservedFor: null });
  }

  refuseGone(scripNo: string, firmId: string): void {
    const credit = this.findCredit(scripNo);
    if (credit.firmId !== firmId || credit.state !== "listed") {
      throw new Failure("conflict", `the buyer no longer holds ${scripNo} freely`);
    }
  }
}
