// Journeys on a common time axis: one line each, a mark per waypoint, and where it stands now.
import type { App } from "./app";
import { dayText, secondsText, type Journey } from "./data";
import { svg } from "./dom";
import { short } from "./labels";

const ROW = 62;
const TOP = 34;
const DAY = 86400;

interface Axis { low: number; high: number; left: number; right: number }

const place = (axis: Axis, at: number): number =>
  axis.left + ((at - axis.low) / Math.max(1, axis.high - axis.low)) * (axis.right - axis.left);

/** The first days of the months within the axis, thinned so that their names have room. */
function months(axis: Axis): number[] {
  const start = new Date(axis.low * 1000);
  const found: number[] = [];
  for (let step = 1; ; step++) {
    const at = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + step, 1) / 1000;
    if (at > axis.high || step > 1200) break;
    found.push(at);
  }
  const every = Math.max(1, Math.ceil(found.length / Math.max(1, (axis.right - axis.left) / 74)));
  return found.filter((_, at) => at % every === 0);
}

const MONTH = new Intl.DateTimeFormat("en", { month: "short", year: "2-digit", timeZone: "UTC" });

export function timeline(app: App, width: number, selected: number | null): SVGSVGElement | HTMLElement {
  const rows = app.data.raw.journeys
    .map((journey) => ({ journey, times: journey.stops.flatMap((stop) => stop.at ?? []) }))
    .filter(({ times }) => times.length > 0)
    .sort((a, b) => Math.max(...b.times) - Math.max(...a.times) || a.journey.node - b.journey.node);
  const all = rows.flatMap(({ times }) => times);
  const axis: Axis = {
    low: Math.min(...all, Infinity) - 4 * DAY, high: Math.max(...all, -Infinity) + 4 * DAY,
    left: 28, right: width - 36,
  };
  const height = TOP + rows.length * ROW + 16;
  const picture = svg("svg", {
    class: "timeline", width, height, viewBox: `0 0 ${width} ${height}`, role: "group",
    "aria-label": `Timeline of ${rows.length} Journeys`,
  });
  if (!rows.length) return picture;
  for (const at of months(axis)) {
    const x = place(axis, at);
    picture.append(
      svg("line", { x1: x, x2: x, y1: TOP - 8, y2: height, class: "tick" }),
      svg("text", { x, y: TOP - 14, class: "month" }, MONTH.format(at * 1000)),
    );
  }
  rows.forEach(({ journey }, at) => picture.append(row(app, journey, axis, TOP + at * ROW, selected)));
  return picture;
}

function row(app: App, journey: Journey, axis: Axis, top: number, selected: number | null): SVGGElement {
  const status = app.data.note(journey.node);
  const name = app.data.label(journey.node);
  const y = top + 40;
  const stops = journey.stops.filter((stop) => stop.at !== null).sort((a, b) => a.at! - b.at!);
  const [first, last] = [place(axis, stops[0]!.at!), place(axis, stops.at(-1)!.at!)];
  const here = selected !== null && (selected === journey.node || journey.stops.some((stop) => stop.node === selected));
  const room = Math.floor((axis.right - axis.left) / 7.4);
  const line = svg("g", { class: `way ${status}${here ? " here" : ""}` },
    svg("rect", { x: 0, y: top + 2, width: axis.right + 36, height: ROW - 4, class: "band" }),
    button(svg("text", { x: axis.left, y: top + 22, class: "path" },
      short(name, room), svg("tspan", { class: "status", dx: 10 }, status)), `Journey ${name}, ${status}`,
    () => app.open({ type: "node", at: journey.node })),
    svg("line", { x1: first, x2: last, y1: y, y2: y, class: "thread-line" }),
    status === "traveling" ? svg("line", { x1: last, x2: axis.right + 30, y1: y, y2: y, class: "onward" }) : null,
  );
  for (const stop of stops) {
    const label = `${secondsText(stop.at)}: ${short(app.data.label(stop.node), 160)}`;
    const mark = svg("circle", { cx: place(axis, stop.at!), cy: y, r: stop.node === selected ? 8 : 5.5, class: "stop" },
      svg("title", {}, label));
    line.append(button(mark, label, () => app.open({ type: "node", at: stop.node })));
  }
  line.append(end(status, last, y));
  return line;
}

function end(status: string, x: number, y: number): SVGElement {
  if (status === "abandoned") return svg("path", { d: `M${x + 11} ${y - 4}l8 8m0-8l-8 8`, class: "end" });
  if (status === "arrived") return svg("path", { d: `M${x + 11} ${y}l4 4 7-9`, class: "end" });
  return svg("g", {});
}

function button<E extends SVGElement>(made: E, label: string, run: () => void): E {
  made.setAttribute("role", "button");
  made.setAttribute("tabindex", "0");
  made.setAttribute("aria-label", label);
  made.addEventListener("click", run);
  made.addEventListener("keydown", (event) => {
    const key = (event as KeyboardEvent).key;
    if (key !== "Enter" && key !== " ") return;
    event.preventDefault();
    run();
  });
  return made;
}

export const spanText = (low: number, high: number): string => `${dayText(low)} – ${dayText(high)}`;
