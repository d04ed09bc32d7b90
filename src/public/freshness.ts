// For how long others may keep an answer. `s-maxage` speaks to caches between us and the reader,
// which may also hand out what they have while they fetch it anew.

/** Figures that move with every deal. */
export const running = "public, max-age=10, s-maxage=30, stale-while-revalidate=60";

/** A list that grows by one line a day. */
export const growing = "public, max-age=60, s-maxage=300, stale-while-revalidate=3600";

/** What is fixed for good. */
export const fixed = "public, max-age=31536000, immutable";

/** What changes with a release of the service. */
export const released = "public, max-age=3600, s-maxage=86400, stale-while-revalidate=86400";
