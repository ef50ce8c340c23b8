// Labels of the map: the most telling first, and never one over another.
import type { Data } from "./data";
import { kindColour, mix, type Theme } from "./palette";

interface Box { left: number; top: number; right: number; bottom: number }
interface Place { x: number; y: number; size: number }
export interface Frame {
  width: number; height: number; theme: Theme; hot: number[]; focused: boolean;
  lit: (node: number) => boolean;
  at: (node: number) => Place | null;
}

const WEIGHT: Record<string, number> = { journey: 60, thread: 1.2, question: 1.4, concept: 1, waypoint: 0.2 };
const AREA = 17_000;
const LONGEST = 38;
const SANS = 'Inter, "Segoe UI", system-ui, -apple-system, "Helvetica Neue", Arial, sans-serif';
const SERIF = '"Iowan Old Style", "Palatino Linotype", Palatino, "Source Serif 4", Georgia, serif';
const FONTS: Record<string, string> = {
  journey: `600 13px ${SANS}`,
  thread: `500 12px ${SANS}`,
  question: `italic 13px ${SERIF}`,
  concept: `400 11.5px ${SANS}`,
  waypoint: `400 11px ${SANS}`,
};

export class Labels {
  private order: number[] | null = null;

  constructor(
    private readonly data: Data,
    private readonly shown: Uint8Array,
    private readonly visible: Uint8Array,
  ) {}

  forget(): void {
    this.order = null;
  }

  private ranked(): number[] {
    if (this.order) return this.order;
    const { data } = this;
    const rank = (node: number): number =>
      (WEIGHT[data.kindName(node)] ?? 1) * (2 + data.degree[node]!) + (data.ringed.has(node) ? 12 : 0);
    const order: number[] = [];
    for (let node = 0; node < data.n; node++) if (this.shown[node]) order.push(node);
    order.sort((a, b) => rank(b) - rank(a) || a - b);
    this.order = order;
    return order;
  }

  draw(pen: CanvasRenderingContext2D, frame: Frame): void {
    const taken: Box[] = [];
    const most = Math.max(10, Math.round((frame.width * frame.height) / AREA));
    let drawn = 0;
    const write = (node: number, always: boolean): void => {
      const place = frame.at(node);
      if (!place || place.x < -20 || place.x > frame.width || place.y < 0 || place.y > frame.height) return;
      if (this.write(pen, frame, node, place, taken, always)) drawn++;
    };
    for (const node of frame.hot) write(node, true);
    for (const node of this.ranked()) {
      if (drawn >= most) break;
      if (this.visible[node] && frame.lit(node) && !frame.hot.includes(node)) write(node, false);
    }
  }

  private write(
    pen: CanvasRenderingContext2D, frame: Frame, node: number, place: Place, taken: Box[], always: boolean,
  ): boolean {
    const kind = this.data.kindName(node);
    const text = short(this.data.label(node), always ? 70 : LONGEST);
    pen.font = FONTS[kind] ?? FONTS["concept"]!;
    const wide = pen.measureText(text).width;
    const right = place.x + place.size + 5;
    const flips = right + wide + 8 > frame.width && place.x - place.size - wide > 8;
    const left = flips ? place.x - place.size - 5 - wide : right;
    const box = { left: left - 6, top: place.y - 10, right: left + wide + 6, bottom: place.y + 10 };
    if (!always && (box.right > frame.width + 8 || taken.some((other) => meet(box, other)))) return false;
    taken.push(box);
    const { theme } = frame;
    const colour = kind === "journey" ? kindColour(theme, kind) : kind === "concept" ? mix(theme.ink, theme.paper, 0.28) : theme.ink;
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    pen.lineWidth = 4;
    pen.strokeStyle = theme.paper;
    pen.strokeText(text, left, place.y);
    pen.fillStyle = colour;
    pen.fillText(text, left, place.y);
    return true;
  }
}

const meet = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

export function short(text: string, longest: number): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length <= longest ? flat : `${flat.slice(0, longest - 1).trimEnd()}…`;
}
