// Where the market takes the published index from.

import { schemes } from "./kernel/scheme.ts";
import type { LatestIndex } from "./market/update-markets.ts";
import { latestIndex as latestFigure } from "./public/latest-index.ts";

/** The index is made of live deals; the sandbox has none. */
export const latestIndex: LatestIndex = async (db, environment) => {
  if (environment === "sandbox") return new Map();
  const figures = await Promise.all(schemes.map((scheme) => latestFigure(db, scheme)));
  return new Map(
    figures.flatMap((figure) => (figure?.index_bps ? [[figure.scheme, figure.index_bps]] : [])),
  );
};
