// How many requests each receiver gets at once, in this process.
//
//   closed   a receiver that answers gets up to `roomMax` requests at once
//   open     after a few failures in a row it gets one at a time, until one succeeds
//
// Receivers that are open share a part of all room. So those that hang, however many, never take what
// the others need, and each delivery is still tried on its schedule.

const roomMax = 32;
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

  /** How many more may be sent to a receiver now. */
  roomFor(webhookId: string): number {
    const { underWay, failures } = this.#known.get(webhookId) ?? { underWay: 0, failures: 0 };
    if (failures < failuresToOpen) return Math.max(0, Math.min(roomMax - underWay, this.room()));
    return underWay === 0 && this.#openUnderWay < openTotalMax && this.room() > 0 ? 1 : 0;
  }

  /** Whom nothing can be sent to now. */
  full(): string[] {
    return [...this.#known.keys()].filter((webhookId) => this.roomFor(webhookId) === 0);
  }

  /** How many more may be sent to all of them together. */
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
    if (!receiver) throw new Error("what ends has begun");
    const wasOpen = receiver.failures >= failuresToOpen;
    if (wasOpen) this.#openUnderWay -= 1;
    receiver.underWay -= 1;
    this.#underWay -= 1;
    receiver.failures = succeeded ? 0 : receiver.failures + 1;
    const isOpen = receiver.failures >= failuresToOpen;
    // What is still under way counts as what its receiver has become.
    if (isOpen && !wasOpen) this.#openUnderWay += receiver.underWay;
    if (!isOpen && wasOpen) this.#openUnderWay -= receiver.underWay;
    if (receiver.underWay === 0 && receiver.failures === 0) this.#known.delete(webhookId);
  }
}
