// Seats of a process that callers hold for as long as they like, such as open streams and requests under
// way. Everybody has a share of them, so that no caller keeps the others out by being slow:
//
//   all        as many as there are
//   strangers  a quarter: whoever calls what needs no key
//   sandbox    three quarters; the rest is live's alone
//   desk       an eighth

import type { Environment } from "../kernel/caller.ts";

/** Whose seat it is. */
export type SeatOwner = { readonly deskId: string; readonly environment: Environment };

/** Some of the seats; what one of them takes, it takes of the larger share too. */
export type Share = { taken: number; readonly most: number; readonly of: Share | undefined };

const fractions = { strangers: 1 / 4, sandbox: 3 / 4, desk: 1 / 8 };
/** Beyond this number, desks that hold nothing are forgotten. */
const desksMax = 10_000;

export class Seats {
  readonly all: Share;
  readonly strangers: Share;
  readonly #sandbox: Share;
  readonly #desks = new Map<string, Share>();

  constructor(most: number) {
    this.all = { taken: 0, most, of: undefined };
    this.strangers = this.#cut(fractions.strangers, this.all);
    this.#sandbox = this.#cut(fractions.sandbox, this.all);
  }

  /** A desk keeps its share while it holds nothing: to make one for each call would cost more. */
  findShare({ deskId, environment }: SeatOwner): Share {
    const known = this.#desks.get(deskId);
    if (known) return known;
    const share = this.#cut(fractions.desk, environment === "sandbox" ? this.#sandbox : this.all);
    if (this.#desks.size >= desksMax) this.#forgetIdle();
    this.#desks.set(deskId, share);
    return share;
  }

  #cut(fraction: number, of: Share): Share {
    return { taken: 0, most: Math.max(1, Math.floor(this.all.most * fraction)), of };
  }

  #forgetIdle(): void {
    for (const [deskId, { taken }] of this.#desks) if (taken === 0) this.#desks.delete(deskId);
  }
}

/** Takes a seat of a share; false when it, or a larger one, has none left. */
export function takeSeat(share: Share): boolean {
  for (let each: Share | undefined = share; each; each = each.of) {
    if (each.taken >= each.most) return false;
  }
  for (let each: Share | undefined = share; each; each = each.of) each.taken += 1;
  return true;
}

export function leaveSeat(share: Share): void {
  for (let each: Share | undefined = share; each; each = each.of) each.taken -= 1;
}
