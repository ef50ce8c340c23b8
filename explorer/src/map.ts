// The map: sigma draws nodes and extracted edges; dreams, seed rings and labels are drawn over it.
import Graph from "graphology";
import Sigma from "sigma";
import { EdgeLineProgram, EdgeRectangleProgram } from "sigma/rendering";
import type { Data } from "./data";
import type { Filters } from "./filters";
import { Labels } from "./labels";
import { DASHES, dreamColour, kindColour, mix, type Theme } from "./palette";

export const MANY = 10_000;
const FIRST = 2_500;
const WIDE_LIMIT = 12_000;
const HAIR = 0.8;
const FEW_EDGES = 2_000;
const ROOM = 110;

interface Point { x: number; y: number }

export interface Focus { node: number; near: Set<number> }

export class MapView {
  readonly graph = new Graph({ multi: true, type: "undirected" });
  readonly renderer: Sigma;
  readonly isPartial: boolean;
  /** Nodes shrink where there are many. */
  private grain = 1;
  focus: Focus | null = null;
  matches: Set<number> | null = null;
  onPick: (node: number | null) => void = () => undefined;
  private readonly shown: Uint8Array;
  private readonly drawnEdges = new Set<number>();
  private readonly dreams: CanvasRenderingContext2D;
  private readonly rings: CanvasRenderingContext2D;
  private readonly labels: Labels;
  private hovered: number | null = null;
  showSeeds = true;

  constructor(
    private readonly data: Data,
    private readonly filters: Filters,
    private readonly box: HTMLElement,
    private theme: Theme,
  ) {
    this.shown = new Uint8Array(data.n);
    this.isPartial = data.n > MANY;
    this.fill(this.isPartial ? this.mostConnected() : Array.from({ length: data.n }, (_, node) => node));
    this.resize();
    this.renderer = new Sigma(this.graph, box, {
      renderLabels: false,
      defaultEdgeType: this.graph.size > WIDE_LIMIT ? "hair" : "line",
      edgeProgramClasses: { line: EdgeRectangleProgram, hair: EdgeLineProgram },
      minEdgeThickness: HAIR,
      hideEdgesOnMove: this.graph.size > WIDE_LIMIT,
      zIndex: true,
      stagePadding: 36,
      minCameraRatio: 0.02,
      maxCameraRatio: 3,
      nodeReducer: (key, attributes) => this.node(Number(key), attributes),
      edgeReducer: (key, attributes) => this.edge(Number(key), attributes),
      defaultDrawNodeHover: () => undefined,
      allowInvalidContainer: true,
    });
    this.dreams = this.layer("dreams", "nodes");
    this.rings = this.layer("rings", "labels");
    this.labels = new Labels(data, this.shown, filters.visible);
    this.renderer.on("afterRender", () => this.over());
    this.renderer.on("clickNode", ({ node }) => this.onPick(Number(node)));
    this.renderer.on("clickStage", () => this.onPick(null));
    this.renderer.on("enterNode", ({ node }) => this.hover(Number(node)));
    this.renderer.on("leaveNode", () => this.hover(null));
    this.renderer.scheduleRender();
  }

  get shownCount(): number {
    return this.graph.order;
  }

  private layer(name: string, before: string): CanvasRenderingContext2D {
    this.renderer.createCanvasContext(name, { beforeLayer: before } as { style?: Partial<CSSStyleDeclaration> });
    const canvas = this.renderer.getCanvases()[name]!;
    canvas.style.pointerEvents = "none";
    this.renderer.resize(true);
    return canvas.getContext("2d")!;
  }

  /** The best connected of every kind, and whatever seeds, dreams and Journeys name. */
  private mostConnected(): number[] {
    const { data } = this;
    const marked = [...data.ringed, ...data.dreamsOf.keys(), ...data.journeyOf.keys()].slice(0, FIRST);
    const byKind = data.raw.kinds.map((): number[] => []);
    for (let node = 0; node < data.n; node++) byKind[data.kind[node]!]!.push(node);
    const best = byKind.flatMap((nodes) =>
      nodes.sort((a, b) => data.degree[b]! - data.degree[a]! || a - b).slice(0, FIRST / 3));
    return [...new Set([...marked, ...best])];
  }

  /** Sizes for as many nodes as there are now, on a map of this size. */
  private resize(): void {
    const narrow = Math.min(1, Math.max(0.6, Math.min(this.box.clientWidth, this.box.clientHeight) / 640));
    this.grain = narrow * Math.min(1, Math.max(0.3, Math.sqrt(1000 / Math.max(1, this.graph.order))));
    this.graph.updateEachNodeAttributes((key, attributes) => {
      attributes["size"] = this.size(Number(key));
      return attributes;
    });
  }

  private size(node: number): number {
    const grown = Math.sqrt(this.data.degree[node]!);
    const kind = this.data.kindName(node);
    if (kind === "journey") return this.grain * (7 + Math.min(grown, 4));
    if (kind === "waypoint") return this.grain * 3.4;
    if (kind === "thread") return this.grain * Math.min(3 + grown * 0.9, 12);
    return this.grain * Math.min(2 + grown * 0.85, 12);
  }

  /** Put nodes on the map, with all edges between nodes that are on it. */
  private fill(nodes: number[]): void {
    const { data, graph, shown } = this;
    const fresh = nodes.filter((node) => node >= 0 && !shown[node]);
    for (const node of fresh) {
      shown[node] = 1;
      graph.addNode(node, { x: data.x[node], y: -data.y[node]!, size: 1 });
    }
    for (const node of fresh) {
      for (const edge of data.edgesAt(node)) {
        if (this.drawnEdges.has(edge) || !shown[data.other(edge, node)]) continue;
        this.drawnEdges.add(edge);
        graph.addUndirectedEdgeWithKey(edge, data.u[edge], data.v[edge], { size: HAIR });
      }
    }
  }

  showAll(): void {
    this.fill(Array.from({ length: this.data.n }, (_, node) => node));
    this.resize();
    this.renderer.setSetting("defaultEdgeType", this.graph.size > WIDE_LIMIT ? "hair" : "line");
    this.labels.forget();
    this.renderer.refresh();
  }

  /** Bring a node that was left out onto the map, with its closest company. */
  ensure(node: number): void {
    if (this.shown[node]) return;
    this.fill([node, ...this.data.neighbours(node).slice(0, 40)]);
    this.resize();
    this.labels.forget();
    this.renderer.refresh();
  }

  private node(node: number, attributes: Record<string, unknown>): Record<string, unknown> {
    const { theme, focus } = this;
    const colour = kindColour(theme, this.data.kindName(node));
    const lit = this.isLit(node);
    attributes["hidden"] = this.filters.visible[node] === 0;
    attributes["color"] = lit ? colour : mix(colour, theme.paper, 0.8);
    attributes["zIndex"] = focus?.node === node ? 3 : lit ? 1 + (this.data.journeyOf.has(node) ? 1 : 0) : 0;
    return attributes;
  }

  isLit(node: number): boolean {
    if (this.focus) return this.focus.near.has(node);
    return this.matches === null || this.matches.has(node);
  }

  private edge(edge: number, attributes: Record<string, unknown>): Record<string, unknown> {
    const { theme, focus, data } = this;
    const [u, v] = [data.u[edge]!, data.v[edge]!];
    attributes["hidden"] = !this.filters.visible[u] || !this.filters.visible[v];
    attributes["color"] = this.graph.size > WIDE_LIMIT ? mix(theme.edge, theme.paper, 0.55) : theme.edge;
    attributes["size"] = this.graph.size < FEW_EDGES ? 1.3 : HAIR;
    attributes["zIndex"] = 0;
    const passes = data.raw.ties[data.tie[edge]!] === "passes";
    if (passes) {
      attributes["color"] = mix(kindColour(theme, "journey"), theme.paper, 0.35);
      attributes["size"] = 1.6;
    }
    if (focus) {
      const own = focus.near.has(u) && focus.near.has(v) && (u === focus.node || v === focus.node || focus.node < 0);
      attributes["color"] = own ? theme.strong : mix(theme.edge, theme.paper, 0.65);
      attributes["size"] = own ? 1.1 : HAIR;
      attributes["zIndex"] = own ? 1 : 0;
    }
    return attributes;
  }

  private at(node: number): { x: number; y: number; size: number } | null {
    if (node < 0 || !this.shown[node] || !this.filters.visible[node]) return null;
    const found = this.renderer.getNodeDisplayData(String(node));
    if (!found) return null;
    const { x, y } = this.renderer.framedGraphToViewport(found);
    return { x, y, size: this.renderer.scaleSize(found.size) };
  }

  private over(): void {
    const { width, height } = this.renderer.getDimensions();
    this.dreams.clearRect(0, 0, width, height);
    this.rings.clearRect(0, 0, width, height);
    this.drawDreams();
    if (this.showSeeds) this.drawSeeds();
    const hot = [this.hovered, this.focus?.node ?? null].filter((node): node is number => node !== null && node >= 0);
    for (const node of hot) this.ring(node, this.theme.ink, 1.6, 3.5);
    this.labels.draw(this.rings, {
      width, height, theme: this.theme, hot,
      lit: (node) => this.isLit(node),
      focused: this.focus !== null,
      at: (node) => this.at(node),
    });
  }

  private drawDreams(): void {
    const pen = this.dreams;
    pen.lineCap = "round";
    this.data.raw.hypotheses.forEach((one, at) => {
      if (!this.filters.dream(at)) return;
      const [from, to] = [this.at(one.src), this.at(one.dst)];
      if (!from || !to) return;
      const own = this.focus?.near.has(one.src) && this.focus.near.has(one.dst);
      const colour = dreamColour(this.theme, one.function, one.standing);
      pen.strokeStyle = this.focus && !own ? mix(colour, this.theme.paper, 0.86) : colour;
      pen.lineWidth = own ? 2.4 : 1.6;
      pen.setLineDash(DASHES[one.function] ?? [5, 5]);
      const [dx, dy] = [to.x - from.x, to.y - from.y];
      pen.beginPath();
      pen.moveTo(from.x, from.y);
      pen.quadraticCurveTo(from.x + dx / 2 - dy * 0.18, from.y + dy / 2 + dx * 0.18, to.x, to.y);
      pen.stroke();
    });
    pen.setLineDash([]);
  }

  private drawSeeds(): void {
    for (const node of this.data.ringed) {
      if (this.isLit(node)) this.ring(node, this.theme.seed, 1.8, 2.5);
    }
  }

  private ring(node: number, colour: string, width: number, gap: number): void {
    const place = this.at(node);
    if (!place) return;
    this.rings.strokeStyle = colour;
    this.rings.lineWidth = width;
    this.rings.beginPath();
    this.rings.arc(place.x, place.y, place.size + gap, 0, Math.PI * 2);
    this.rings.stroke();
  }

  private hover(node: number | null): void {
    this.hovered = node;
    this.box.style.cursor = node === null ? "" : "pointer";
    this.renderer.scheduleRender();
  }

  /** Light one node and its neighbours, or a group without a centre. */
  light(node: number | null, group?: Iterable<number>): void {
    if (node === null) this.focus = null;
    else {
      const near = group ? new Set(group) : new Set(this.data.neighbours(node));
      for (const at of this.data.dreamsOf.get(node) ?? []) {
        const one = this.data.raw.hypotheses[at]!;
        if (!group && this.filters.dream(at)) near.add(one.src).add(one.dst);
      }
      near.add(node);
      this.focus = { node: group ? -1 : node, near };
    }
    this.redraw();
  }

  redraw(): void {
    this.renderer.refresh({ skipIndexation: true });
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.redraw();
  }

  /** Move the camera so that the nodes are in the middle of what is not covered by a panel. */
  go(nodes: number[], covered: { right: number; bottom: number }): void {
    const found = nodes.flatMap((node) => this.renderer.getNodeDisplayData(String(node)) ?? []);
    if (!found.length) return;
    const [xs, ys] = [found.map((one) => one.x), found.map((one) => one.y)];
    const middle = (parts: number[]): number => (Math.min(...parts) + Math.max(...parts)) / 2;
    const spread = (parts: number[]): number => Math.max(...parts) - Math.min(...parts);
    const camera = this.renderer.getCamera();
    const { width, height } = this.renderer.getDimensions();
    const pixels = this.pixelsPerUnit();
    const needed = Math.max(
      (spread(xs) * pixels) / Math.max(120, width - covered.right - ROOM * 2),
      (spread(ys) * pixels) / Math.max(120, height - covered.bottom - ROOM),
    );
    const ratio = nodes.length > 1 ? Math.min(2, Math.max(0.15, needed)) : Math.min(camera.ratio, 0.3);
    const unit = ratio / pixels;
    void camera.animate(
      { x: middle(xs) + (covered.right / 2) * unit, y: middle(ys) - (covered.bottom / 2) * unit, ratio },
      { duration: still() ? 0 : 380 },
    );
  }

  /** Width of one unit of the camera's plane on the screen, at ratio 1. */
  private pixelsPerUnit(): number {
    const [from, to] = [0, 1].map((x) => this.renderer.framedGraphToViewport({ x, y: 0 })) as [Point, Point];
    return Math.hypot(to.x - from.x, to.y - from.y) * this.renderer.getCamera().ratio;
  }

  zoom(factor: number): void {
    const camera = this.renderer.getCamera();
    void camera.animate({ ratio: camera.ratio * factor }, { duration: still() ? 0 : 200 });
  }

  /** Move by a part of the picture, to the right and down. */
  pan(right: number, down: number): void {
    const camera = this.renderer.getCamera();
    camera.setState({ x: camera.x + right * camera.ratio, y: camera.y - down * camera.ratio });
  }

  fit(): void {
    void this.renderer.getCamera().animate({ x: 0.5, y: 0.5, ratio: 1, angle: 0 }, { duration: still() ? 0 : 300 });
  }
}

const still = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
