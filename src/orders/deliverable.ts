// What a firm can deliver for the amounts that a set sells. Its credits are put in order once for the
// set, however many amounts are sold of them, and each that an order takes is gone for the next.

import { chooseBundle, indexOwnCredits } from "../cover/choose-bundle.ts";
import type { OfferIndex } from "../cover/offer-index.ts";
import { stepsQuick } from "../cover/rules.ts";
import type { DealtCredit } from "../credits/reserve-credits.ts";
import type { Paise } from "../kernel/money.ts";
import { dayNumber } from "../kernel/time.ts";

export class Deliverable {
  readonly #byNumber: Map<string, DealtCredit>;
  readonly #index: OfferIndex;

  constructor(credits: readonly DealtCredit[]) {
    this.#byNumber = new Map(credits.map((credit) => [credit.scrip_no, credit]));
    this.#index = indexOwnCredits(
      credits.map(({ scrip_no, face_paise, expires_on }) => ({
        scrip_no,
        face_paise,
        expires_on: dayNumber(expires_on),
      })),
    );
  }

  /** The whole credits whose sum is the largest within the amount. */
  choose(facePaise: Paise): DealtCredit[] {
    const wanted = { requirement_paise: facePaise, steps: stepsQuick };
    const { offers } = chooseBundle(this.#index, wanted);
    return offers.flatMap(({ scrip_no }) => this.#byNumber.get(scrip_no) ?? []);
  }

  take({ credit_id, scrip_no }: DealtCredit): void {
    if (this.#byNumber.get(scrip_no)?.credit_id !== credit_id) return;
    this.#byNumber.delete(scrip_no);
    this.#index.remove(scrip_no);
  }
}
