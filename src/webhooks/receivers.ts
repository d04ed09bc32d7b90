// A circuit breaker per receiver: limits the concurrent requests of this process.
//
//   closed   a receiver that answers gets up to `roomMax` concurrent requests, the next ones when half
//            of them are answered, so that they are claimed by the block
//   open     after a few consecutive failures it gets one at a time, until one succeeds
//
// All open receivers together get at most `openTotalMax` of the `totalMax` requests, so that any number
// of hanging receivers leaves room for the others, and every delivery is still tried on schedule.

import { deliveriesPerBlockMax } from "./block-rules.ts";

const roomMax = 2 * deliveriesPerBlockMax;
const totalMax = 512;
const openTotalMax = 128;
const failuresToOpen = 5;

type Receiver = { underWay: number; failures: number };

export class Receivers {
  readonly #known = new Map<string, Receiver>();
  #underWay = 0;
  #openUnderWay = 0;

  get underWay(): number {
    return this.#underWay;
  }

  /** How many more requests a receiver may get now. */
  roomFor(webhookId: string): number {
    const { underWay, failures } = this.#known.get(webhookId) ?? { underWay: 0, failures: 0 };
    if (failures < failuresToOpen) {
      const room = roomMax - underWay;
      return room < deliveriesPerBlockMax ? 0 : Math.max(0, Math.min(room, this.room()));
    }
    return underWay === 0 && this.#openUnderWay < openTotalMax && this.room() > 0 ? 1 : 0;
  }

  /** Receivers that may get no more requests now. */
  full(): string[] {
    return [...this.#known.keys()].filter((webhookId) => this.roomFor(webhookId) === 0);
  }

  /** How many more requests all receivers together may get. */
  room(): number {
    return totalMax - this.#underWay;
  }

  begin(webhookId: string): void {
    const receiver = this.#known.get(webhookId) ?? { underWay: 0, failures: 0 };
    this.#known.set(webhookId, receiver);
    receiver.underWay += 1;
    this.#underWay += 1;
    if (receiver.failures >= failuresToOpen) this.#openUnderWay += 1;
  }

  end(webhookId: string, succeeded: boolean): void {
    const receiver = this.#known.get(webhookId);
    if (!receiver) throw new Error(`no request to ${webhookId} was begun`);
    const wasOpen = receiver.failures >= failuresToOpen;
    if (wasOpen) this.#openUnderWay -= 1;
    receiver.underWay -= 1;
    this.#underWay -= 1;
    receiver.failures = succeeded ? 0 : receiver.failures + 1;
    const isOpen = receiver.failures >= failuresToOpen;
    // The receiver's other requests under way move to its new state.
    if (isOpen && !wasOpen) this.#openUnderWay += receiver.underWay;
    if (!isOpen && wasOpen) this.#openUnderWay -= receiver.underWay;
    if (receiver.underWay === 0 && receiver.failures === 0) this.#known.delete(webhookId);
  }
}
