// An upper bound of the cover: the maximum flow from kinds of credits to the requirements they may
// pay, each capped at the most that whole credits can cover of it. It treats credits as divisible,
// so no assignment covers more. Dinic's algorithm.

export type Supply = {
  readonly face_paise: number;
  /** Indexes of the requirements that these credits may pay. */
  readonly pays: readonly number[];
};

/** Edge numbers by node; an edge and its reverse differ in the last bit. */
type Network = {
  readonly edges: readonly number[][];
  readonly to: number[];
  readonly room: number[];
};

const source = 0;
const sink = 1;

export function flowBound(supplies: readonly Supply[], caps: readonly number[]): number {
  const nodes = 2 + supplies.length + caps.length;
  const network: Network = {
    edges: Array.from({ length: nodes }, () => []),
    to: [],
    room: [],
  };
  const requirementAt = (place: number) => 2 + supplies.length + place;
  supplies.forEach(({ face_paise, pays }, at) => {
    connect(network, { from: source, to: 2 + at, room: face_paise });
    for (const place of pays) {
      connect(network, { from: 2 + at, to: requirementAt(place), room: face_paise });
    }
  });
  caps.forEach((cap, at) => connect(network, { from: requirementAt(at), to: sink, room: cap }));
  let flow = 0;
  for (;;) {
    const depths = measureDepths(network);
    if (depths[sink] === unreached) return flow;
    const nextEdge = new Int32Array(nodes);
    for (;;) {
      const pushed = push(network, { depths, nextEdge }, source, Infinity);
      if (pushed === 0) break;
      flow += pushed;
    }
  }
}

type Edge = { readonly from: number; readonly to: number; readonly room: number };

function connect({ edges, to, room }: Network, edge: Edge): void {
  edges[edge.from]?.push(to.length);
  to.push(edge.to);
  room.push(edge.room);
  edges[edge.to]?.push(to.length);
  to.push(edge.from);
  room.push(0);
}

const unreached = -1;

function measureDepths({ edges, to, room }: Network): Int32Array {
  const depths = new Int32Array(edges.length).fill(unreached);
  depths[source] = 0;
  const queue = [source];
  for (const node of queue) {
    for (const edge of edges[node] ?? []) {
      const next = to[edge] ?? 0;
      if ((room[edge] ?? 0) === 0 || depths[next] !== unreached) continue;
      depths[next] = (depths[node] ?? 0) + 1;
      queue.push(next);
    }
  }
  return depths;
}

type Phase = { readonly depths: Int32Array; readonly nextEdge: Int32Array };

/** Pushes flow along one shortest path; a dead edge is not tried again in this phase. */
function push(network: Network, phase: Phase, node: number, most: number): number {
  if (node === sink) return most;
  const edges = network.edges[node] ?? [];
  for (let at = phase.nextEdge[node] ?? 0; at < edges.length; at++) {
    phase.nextEdge[node] = at;
    const edge = edges[at] ?? 0;
    const next = network.to[edge] ?? 0;
    const room = network.room[edge] ?? 0;
    if (room === 0 || phase.depths[next] !== (phase.depths[node] ?? 0) + 1) continue;
    const pushed = push(network, phase, next, Math.min(most, room));
    if (pushed === 0) continue;
    network.room[edge] = room - pushed;
    network.room[edge ^ 1] = (network.room[edge ^ 1] ?? 0) + pushed;
    return pushed;
  }
  phase.nextEdge[node] = edges.length;
  return 0;
}
