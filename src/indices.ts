// Where the market takes the published index from.

import type { LatestIndex } from "./market/update-markets.ts";

/** No index is published yet, and the market shows none. */
export const latestIndex: LatestIndex = async () => new Map();
