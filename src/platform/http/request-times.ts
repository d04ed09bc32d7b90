// A Prometheus histogram of request durations by route and status class. The histogram of `prom-client`
// builds a key from its labels at every observation; this one looks its series up by route and class.
//
// The library's histogram took 25 % more processor time for a `whoami` (decision statements).

export const durationBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
] as const;

const name = "scripdesk_http_request_duration_seconds";
const help = "From the first byte of a request to the last byte of its answer";

type Series = { readonly counts: Float64Array; sum: number };

export class RequestTimes {
  readonly name = name;
  readonly help = help;
  readonly type = "histogram";
  readonly aggregator = "sum";
  readonly #series = new Map<string, Map<number, Series>>();

  observe(route: string, statusClass: number, seconds: number): void {
    const series = this.#findSeries(route, statusClass);
    let bucket = 0;
    while (seconds > (durationBuckets[bucket] ?? Infinity)) bucket += 1;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += seconds;
  }

  /** Called by the registry when it is scraped. */
  async get() {
    const values = [...this.#series].flatMap(([route, classes]) =>
      [...classes].flatMap(([statusClass, series]) =>
        listValues({ route, status: `${statusClass}xx` }, series),
      ),
    );
    return { name, help, type: this.type, aggregator: this.aggregator, values };
  }

  reset(): void {
    this.#series.clear();
  }

  #findSeries(route: string, statusClass: number): Series {
    let classes = this.#series.get(route);
    if (!classes) this.#series.set(route, (classes = new Map()));
    let series = classes.get(statusClass);
    if (!series) {
      series = { counts: new Float64Array(durationBuckets.length + 1), sum: 0 };
      classes.set(statusClass, series);
    }
    return series;
  }
}

/** Prometheus wants each bucket to count everything up to its bound. */
function listValues(labels: Record<string, string>, { counts, sum }: Series) {
  let total = 0;
  const buckets = [...counts].map((count, at) => {
    total += count;
    const le = durationBuckets[at] ?? "+Inf";
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}
