// What the parts of the page share: the data, the filters, the map, and the one way to open things.
import type { Data } from "./data";
import type { Filters } from "./filters";
import type { MapView } from "./map";
import type { Theme } from "./palette";

export type Target =
  | { type: "node"; at: number }
  | { type: "seed"; at: number }
  | { type: "hypothesis"; at: number }
  | { type: "turn"; at: number };

export type Tab = "map" | "seeds" | "hypotheses" | "journeys";

export interface App {
  data: Data;
  filters: Filters;
  map: MapView;
  theme: Theme;
  /** Acts of the owner on hypotheses, by hypothesis id. */
  acts: Map<string, string>;
  open(target: Target): void;
  close(): void;
  filtered(): void;
}
