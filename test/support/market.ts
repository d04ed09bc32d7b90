// Books of offers shaped after the market, the same for the same seed: faces lognormal in whole
// rupees, requirements lognormal in paise.

import type { Offer } from "../../src/cover/rules.ts";

const rupee = 100;
const faceMinRupees = 100;
const faceMaxRupees = 150_000_000;
const faceMedianRupees = 140_000;
const faceSigma = 1.5;
const requirementMedianPaise = 200_000_000;
const requirementSigma = 1.4;
const firstDay = 20_500;
const days = 730;

export type Draw = () => number;

/** Mulberry32: small, and good enough to choose with. */
export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function* marketOffers(draw: Draw, count: number): Generator<Offer> {
  for (let number = 1; number <= count; number++) {
    const rupees = Math.round(lognormal(draw, faceMedianRupees, faceSigma));
    yield {
      scrip_no: `S${String(number).padStart(9, "0")}`,
      face_paise: Math.min(Math.max(rupees, faceMinRupees), faceMaxRupees) * rupee,
      expires_on: firstDay + Math.floor(draw() * days),
      limit_bps: 0,
      seller: "AAAAA0000A",
      order_id: null,
    };
  }
}

export function marketRequirement(draw: Draw): number {
  return Math.max(1, Math.round(lognormal(draw, requirementMedianPaise, requirementSigma)));
}

/** A requirement that some bundle meets but for less than a rupee, with that residual. */
export function plantedRequirement(draw: Draw, offers: readonly Offer[]) {
  const count = 1 + Math.floor(draw() * 12);
  const planted = new Set<Offer>();
  while (planted.size < Math.min(count, offers.length)) {
    const offer = offers[Math.floor(draw() * offers.length)];
    if (offer) planted.add(offer);
  }
  const covered = [...planted].reduce((sum, { face_paise }) => sum + face_paise, 0);
  const residual = Math.floor(draw() * rupee);
  return { requirement_paise: covered + residual, residual_paise: residual, planted: planted.size };
}

function lognormal(draw: Draw, middle: number, sigma: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - draw()));
  return middle * Math.exp(sigma * radius * Math.cos(2 * Math.PI * draw()));
}
