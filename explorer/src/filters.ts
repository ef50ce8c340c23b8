// What the owner wants to see: switches by kind, project, source, time, function and standing.
import { type Data, NO_DAY, UNKNOWN } from "./data";

export class Filters {
  readonly kinds = new Set<string>();
  readonly functions = new Set<string>();
  readonly standings = new Set<string>();
  readonly sources = new Set<string>();
  project = "";
  from = NO_DAY;
  until = Number.MAX_SAFE_INTEGER;
  readonly visible: Uint8Array;
  readonly firstDay: number;
  readonly lastDay: number;

  constructor(private readonly data: Data) {
    this.visible = new Uint8Array(data.n).fill(1);
    let [low, high] = [Number.MAX_SAFE_INTEGER, NO_DAY];
    for (let node = 0; node < data.n; node++) {
      if (data.first[node] === NO_DAY) continue;
      low = Math.min(low, data.first[node]!);
      high = Math.max(high, data.last[node]!);
    }
    this.firstDay = low;
    this.lastDay = high;
  }

  /** Every set above holds what is switched off; an empty set hides nothing. */
  apply(): void {
    const { data, visible } = this;
    const threads = this.project !== "" || this.sources.size > 0;
    const allowed = threads ? this.threads() : null;
    for (let node = 0; node < data.n; node++) {
      visible[node] = this.passes(node, allowed) ? 1 : 0;
    }
  }

  private threads(): Uint8Array {
    const { data } = this;
    const allowed = new Uint8Array(data.n);
    const project = this.project === "" ? UNKNOWN : data.raw.words.indexOf(this.project);
    for (let node = 0; node < data.n; node++) {
      if (data.kind[node] !== 0) break;
      const here = this.project === "" || data.raw.nodes.project[node] === project;
      allowed[node] = here && !this.sources.has(data.note(node)) ? 1 : 0;
    }
    return allowed;
  }

  private passes(node: number, allowed: Uint8Array | null): boolean {
    const { data } = this;
    if (this.kinds.has(data.kindName(node))) return false;
    const [first, last] = [data.first[node]!, data.last[node]!];
    if (first !== NO_DAY && (first > this.until || last < this.from)) return false;
    if (allowed === null) return true;
    if (data.kind[node] === 0) return allowed[node] === 1;
    const threads = this.threadsNear(node);
    return threads.length === 0 || threads.some((thread) => allowed[thread] === 1);
  }

  private threadsNear(node: number): number[] {
    const journey = this.data.journeyOf.get(node);
    const from = journey === undefined ? [node] : this.data.raw.journeys[journey]!.stops.map((s) => s.node);
    return from.flatMap((at) => this.data.neighbours(at)).filter((at) => this.data.kind[at] === 0);
  }

  dream(at: number): boolean {
    const one = this.data.raw.hypotheses[at]!;
    return !this.functions.has(one.function) && !this.standings.has(one.standing);
  }
}
