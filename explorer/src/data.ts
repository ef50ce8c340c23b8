// The page's data: columns as they were written, and what is computed from them once.

export const UNKNOWN = -1;
export const NO_DAY = -2147483648;

export type Member = [string, number];
export interface Seed {
  id: string; shape: string; kind: string; level: number | null; score: number;
  provenance: string; sentence: string | null; members: Member[]; refs: number[];
}
export interface Evidence { text?: string; statement?: string; side?: string; kind?: string; refs: number[] }
export interface Hypothesis {
  hypothesis_id: string; function: string; rule: string; mode: string; method: string;
  title: string | null; summary: string | null; why_not_fact: string | null; state: string;
  points: number; next_check: string; sensitivity: string; closed_reason: string | null;
  created_at: string; validated_at: string | null; review_after: string; expires_at: string;
  table: string; standing: string; src: number; dst: number; refs: number[];
  claims: Evidence[]; counter: Evidence[]; triggers: string[] | null;
}
export interface Stop { node: number; at: number | null; hint: string | null; labels: string[] | null }
export interface Journey {
  node: number; inquiry: string | null; frontier: string | null; refs: number[];
  into: number | null; stops: Stop[];
}
const POINTED = new Set(["cut", "via"]);
const FEW = 6;

interface Raw {
  switches: Record<string, boolean>;
  kinds: string[]; ties: string[]; roles: string[]; words: string[]; marked: string;
  nodes: {
    id: string[]; kind: number[]; label: string[]; note: number[]; project: number[];
    first: (number | null)[]; days: (number | null)[]; x: number[]; y: number[];
  };
  edges: { count: number[]; step: number[]; v: number[] };
  turns: {
    thread: number[]; number: number[]; role: number[]; aside: number[]; at: (number | null)[];
    text: string[] | null; clip: number; file: number[]; line: (number | null)[];
  };
  said: { count: number[]; turn: number[] };
  seeds: Seed[]; hypotheses: Hypothesis[]; journeys: Journey[];
}

const days = (column: (number | null)[]): Int32Array => Int32Array.from(column, (day) => day ?? NO_DAY);

export class Data {
  readonly n: number;
  readonly kind: Uint8Array;
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly first: Int32Array;
  readonly last: Int32Array;
  readonly u: Uint32Array;
  readonly v: Uint32Array;
  readonly tie: Uint8Array;
  private readonly said: Uint32Array;
  readonly degree: Uint32Array;
  private readonly start: Uint32Array;
  private readonly beside: Uint32Array;
  private readonly turnStart: Map<number, [number, number]> = new Map();
  private byId: Map<string, number> | null = null;
  readonly seedsOf: Map<number, number[]> = new Map();
  /** Nodes that a seed is about, not all that lie on its sides. */
  readonly ringed: Set<number> = new Set();
  readonly dreamsOf: Map<number, number[]> = new Map();
  readonly journeyOf: Map<number, number> = new Map();

  constructor(readonly raw: Raw) {
    const { nodes, edges, turns } = raw;
    this.n = nodes.id.length;
    this.kind = Uint8Array.from(nodes.kind);
    this.x = Float64Array.from(nodes.x);
    this.y = Float64Array.from(nodes.y);
    this.first = days(nodes.first);
    this.last = this.first.map((day, at) => (day === NO_DAY ? NO_DAY : day + (nodes.days[at] ?? 0)));
    this.v = Uint32Array.from(edges.v);
    this.u = new Uint32Array(this.v.length);
    this.tie = new Uint8Array(this.v.length);
    this.unroll();
    this.said = sums(raw.said.count);
    this.degree = new Uint32Array(this.n);
    this.start = new Uint32Array(this.n + 1);
    this.beside = new Uint32Array(this.u.length * 2);
    this.join();
    for (let turn = 0; turn < turns.thread.length; turn++) {
      const thread = turns.thread[turn]!;
      const span = this.turnStart.get(thread);
      if (span) span[1] = turn + 1;
      else this.turnStart.set(thread, [turn, turn + 1]);
    }
    raw.seeds.forEach((seed, at) => seed.members.forEach(([role, node]) => {
      note(this.seedsOf, node, at);
      if (node >= 0 && (POINTED.has(role) || seed.members.length <= FEW)) this.ringed.add(node);
    }));
    raw.hypotheses.forEach((one, at) => [one.src, one.dst].forEach((node) => note(this.dreamsOf, node, at)));
    raw.journeys.forEach((journey, at) => {
      this.journeyOf.set(journey.node, at);
      journey.stops.forEach((stop) => this.journeyOf.set(stop.node, at));
    });
  }

  /** First ends are steps from the edge before, starting again with every tie. */
  private unroll(): void {
    const { count, step } = this.raw.edges;
    let edge = 0;
    count.forEach((many, tie) => {
      let u = 0;
      for (const end = edge + many; edge < end; edge++) {
        u += step[edge]!;
        this.u[edge] = u;
        this.tie[edge] = tie;
      }
    });
  }

  private join(): void {
    for (let e = 0; e < this.u.length; e++) {
      this.degree[this.u[e]!]!++;
      this.degree[this.v[e]!]!++;
    }
    for (let i = 0; i < this.n; i++) this.start[i + 1] = this.start[i]! + this.degree[i]!;
    const next = this.start.slice();
    for (let e = 0; e < this.u.length; e++) {
      this.beside[next[this.u[e]!]!++] = e;
      this.beside[next[this.v[e]!]!++] = e;
    }
  }

  /** Edges at a node. */
  edgesAt(node: number): Uint32Array {
    return this.beside.subarray(this.start[node], this.start[node + 1]);
  }

  other(edge: number, node: number): number {
    return this.u[edge] === node ? this.v[edge]! : this.u[edge]!;
  }

  neighbours(node: number): number[] {
    return [...new Set(Array.from(this.edgesAt(node), (edge) => this.other(edge, node)))];
  }

  kindName(node: number): string {
    return this.raw.kinds[this.kind[node]!]!;
  }

  label(node: number): string {
    const words = this.raw.nodes.label[node];
    if (words) return words;
    const id = this.id(node);
    return this.kindName(node) === "waypoint" ? `waypoint ${id.slice(id.lastIndexOf("/") + 1)}` : id;
  }

  note(node: number): string {
    return this.word(this.raw.nodes.note[node]!);
  }

  word(at: number): string {
    return at < 0 ? "" : this.raw.words[at] ?? "";
  }

  id(node: number): string {
    const packed = this.raw.nodes.id[node]!;
    return packed.includes(":") ? packed : `${this.kindName(node)[0]}:${hex(packed)}`;
  }

  find(id: string): number | undefined {
    this.byId ??= new Map(this.raw.nodes.id.map((_, at) => [this.id(at), at]));
    return this.byId.get(id);
  }

  /** Turns a node rests on: all of a thread's, the source turns of anything else. */
  turnsOf(node: number): number[] {
    if (this.kindName(node) === "thread") {
      const [begin, end] = this.turnStart.get(node) ?? [0, 0];
      return Array.from({ length: end - begin }, (_, step) => begin + step).filter(
        (turn) => !this.raw.turns.aside[turn],
      );
    }
    return this.raw.said.turn.slice(this.said[node], this.said[node + 1]);
  }

  ref(turn: number): string {
    const thread = this.raw.turns.thread[turn]!;
    const name = thread < 0 ? "?" : this.id(thread);
    return `thread:${name}#turn:${this.raw.turns.number[turn]}`;
  }

  findTurn(ref: string): number | undefined {
    const found = /^thread:(.+)#turn:(\d+)$/.exec(ref);
    const thread = found ? this.find(found[1]!) : undefined;
    const [begin, end] = (thread !== undefined && this.turnStart.get(thread)) || [0, 0];
    for (let turn = begin; turn < end; turn++) {
      if (this.raw.turns.number[turn] === Number(found![2])) return turn;
    }
    return undefined;
  }
}

function sums(counts: number[]): Uint32Array {
  const found = new Uint32Array(counts.length + 1);
  counts.forEach((count, at) => { found[at + 1] = found[at]! + count; });
  return found;
}

function hex(packed: string): string {
  const bytes = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  return Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
}

function note(into: Map<number, number[]>, node: number, at: number): void {
  if (node < 0) return;
  const known = into.get(node);
  if (!known) into.set(node, [at]);
  else if (!known.includes(at)) known.push(at);
}

const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

export const dayText = (day: number): string => (day === NO_DAY ? "unknown" : DATE.format(day * 86400000));
export const secondsText = (at: number | null): string => (at === null ? "date unknown" : DATE.format(at * 1000));
export const isoText = (at: string | null): string => (at ? DATE.format(new Date(at)) : "unknown");
export const spoken = (name: string): string => name.replaceAll("_", " ");
