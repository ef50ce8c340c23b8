// The side panel: legend and filters, seeds, hypotheses, Journeys.
import type { App, Tab } from "./app";
import { dayText, isoText, NO_DAY, secondsText, spoken } from "./data";
import { nodeButton, standingBadge } from "./details";
import { el, plural, svg, type Child } from "./dom";
import { DASHES, dreamColour } from "./palette";

const SHAPES = ["cut_point", "weak_bridge", "missing_middle", "cycle", "knot", "island", "shadow_route"];
const NAMES: Record<string, string> = {
  thread: "Threads", question: "Questions", concept: "Concepts", journey: "Journeys", waypoint: "Waypoints",
};

export function side(app: App, tab: Tab): HTMLElement {
  switch (tab) {
    case "map": return filterPanel(app);
    case "seeds": return seedList(app);
    case "hypotheses": return dreamList(app);
    case "journeys": return journeyList(app);
  }
}

function toggle(app: App, set: Set<string>, name: string, label: Child, count: number): HTMLElement {
  const box = el("input", { type: "checkbox", name, onchange: () => {
    if (box.checked) set.delete(name);
    else set.add(name);
    app.filtered();
  } });
  box.checked = !set.has(name);
  return el("label", { class: "check" }, box, label, el("small", {}, count.toLocaleString("en")));
}

function counted(names: Iterable<string>): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

function group(title: string, name: string, ...children: Child[]): HTMLElement {
  return el("fieldset", { id: name }, el("legend", {}, title), ...children);
}

function filterPanel(app: App): HTMLElement {
  const { data, filters } = app;
  const kinds = new Uint32Array(data.raw.kinds.length);
  for (const kind of data.kind) kinds[kind]!++;
  return el("div", { class: "filters" },
    group("On the map", "kinds", ...data.raw.kinds.flatMap((kind, at) =>
      kinds[at] ? [toggle(app, filters.kinds, kind, el("span", {}, el("i", { class: `dot ${kind}` }), NAMES[kind] ?? kind), kinds[at]!)] : [])),
    seedToggle(app),
    timeFilter(app),
    projectFilter(app),
    sourceFilter(app),
    dreamFilters(app),
    held(app),
    el("p", { class: "keys" }, el("kbd", {}, "/"), " search  ", el("kbd", {}, "Esc"), " back  ",
      el("kbd", {}, "1"), "–", el("kbd", {}, "4"), " views"),
  );
}

/** What the page does not hold, so that nobody takes it for the whole record. */
function held(app: App): HTMLElement | null {
  const { turns } = app.data.raw;
  if (turns.text === null) return el("p", { class: "hint" }, "This page holds no turn texts.");
  if (!turns.text.some((text) => text.length >= turns.clip)) return null;
  return el("p", { class: "hint" }, `Turns are cut after ${turns.clip.toLocaleString("en")} characters; search sees as much.`);
}

function seedToggle(app: App): HTMLElement | null {
  const count = app.data.raw.seeds.length;
  if (!count) return null;
  const box = el("input", { type: "checkbox", name: "seeds", onchange: () => {
    app.map.showSeeds = box.checked;
    app.map.redraw();
  } });
  box.checked = app.map.showSeeds;
  return el("label", { class: "check alone" }, box, el("span", {}, el("i", { class: "dot seed" }), "Ring around seeds"),
    el("small", {}, String(count)));
}

function sourceFilter(app: App): HTMLElement | null {
  const names: string[] = [];
  for (let node = 0; node < app.data.n && app.data.kind[node] === 0; node++) names.push(app.data.note(node));
  const found = counted(names.filter(Boolean));
  if (found.length < 2) return null;
  return group("Source", "sources", ...found.map(([name, count]) => toggle(app, app.filters.sources, name, name, count)));
}

function projectFilter(app: App): HTMLElement | null {
  const found = counted(app.data.raw.nodes.project.filter((at) => at >= 0).map((at) => app.data.word(at)));
  if (!found.length) return null;
  const select = el("select", { id: "project", "aria-label": "Project", onchange: () => {
    app.filters.project = select.value;
    app.filtered();
  } }, el("option", { value: "" }, "All projects"),
  ...found.map(([name, count]) => el("option", { value: name }, `${name} (${count})`)));
  select.value = app.filters.project;
  return group("Project", "projects", select);
}

const BINS = 44;

function timeFilter(app: App): HTMLElement | null {
  const { data, filters } = app;
  const [low, high] = [filters.firstDay, filters.lastDay];
  if (high === NO_DAY || high <= low) return null;
  const bins = new Array<number>(BINS).fill(0);
  const bin = (day: number): number => Math.min(BINS - 1, Math.floor(((day - low) / (high - low)) * BINS));
  for (let node = 0; node < data.n && data.kind[node] === 0; node++) {
    if (data.first[node] !== NO_DAY) bins[bin(data.first[node]!)]!++;
  }
  const most = Math.max(...bins, 1);
  const bars = bins.map((count, at) => svg("rect", {
    x: at * 6, y: 30 - (count / most) * 28, width: 4.4, height: (count / most) * 28 + 0.5, rx: 1,
  }));
  const said = el("output", { class: "range-text" });
  const slider = (label: string, value: number): HTMLInputElement =>
    el("input", { type: "range", min: low, max: high, value, "aria-label": label, oninput: () => changed() });
  const from = slider("from", Math.max(low, filters.from));
  const until = slider("until", Math.min(high, filters.until));
  const text = (): void => {
    const [a, b] = [Number(from.value), Number(until.value)];
    said.textContent = `${dayText(a)} – ${dayText(b)}`;
    from.setAttribute("aria-valuetext", dayText(a));
    until.setAttribute("aria-valuetext", dayText(b));
    bars.forEach((bar, at) => bar.classList.toggle("out", at < bin(a) || at > bin(b)));
  };
  const changed = (): void => {
    if (Number(from.value) > Number(until.value)) {
      [from.value, until.value] = [until.value, from.value];
    }
    filters.from = Number(from.value) === low ? NO_DAY : Number(from.value);
    filters.until = Number(until.value) === high ? Number.MAX_SAFE_INTEGER : Number(until.value);
    text();
    app.filtered();
  };
  text();
  return group("Time", "time",
    svg("svg", { viewBox: `0 0 ${BINS * 6} 31`, class: "bars", "aria-hidden": "true", preserveAspectRatio: "none" }, ...bars),
    el("div", { class: "range" }, from, until), said);
}

function stroke(app: App, name: string): SVGSVGElement {
  return svg("svg", { viewBox: "0 0 34 8", class: "stroke", "aria-hidden": "true" },
    svg("path", {
      d: "M1 4H33", stroke: dreamColour(app.theme, name, "valid"), "stroke-width": 2,
      "stroke-dasharray": (DASHES[name] ?? [5, 5]).join(" "), "stroke-linecap": "round", fill: "none",
    }));
}

function dreamFilters(app: App): HTMLElement | null {
  const all = app.data.raw.hypotheses;
  if (!all.length) return null;
  const { filters } = app;
  return el("div", {},
    group("Dreamt edges", "functions",
      el("p", { class: "hint" }, app.data.raw.marked),
      ...counted(all.map((one) => one.function)).map(([name, count]) =>
        toggle(app, filters.functions, name, el("span", {}, stroke(app, name), spoken(name)), count))),
    group("Standing", "standings", ...counted(all.map((one) => one.standing)).map(([name, count]) =>
      toggle(app, filters.standings, name, el("span", { class: `badge ${name}` }, spoken(name)), count))),
  );
}

function empty(text: string): HTMLElement {
  return el("p", { class: "empty" }, text);
}

function card(css: string, open: () => void, ...children: Child[]): HTMLElement {
  return el("li", {}, el("button", { type: "button", class: `card ${css}`, onclick: open }, ...children));
}

function seedList(app: App): HTMLElement {
  const { seeds } = app.data.raw;
  if (!seeds.length) return empty("No seeds: nothing in this record has one of the seven shapes yet.");
  const rank = (shape: string): number => (SHAPES.indexOf(shape) + 99) % 99;
  const shapes = [...new Set(seeds.map((seed) => seed.shape))].sort((a, b) => rank(a) - rank(b));
  return el("div", { class: "list" },
    el("p", { class: "hint" }, `${plural(seeds.length, "seed")}: shapes in the record that are worth a second look.`),
    ...shapes.flatMap((shape) => [
      el("h3", {}, spoken(shape)),
      el("ul", {}, ...seeds.flatMap((seed, at) => seed.shape === shape ? [
        card("seed", () => app.open({ type: "seed", at }),
          el("span", { class: "sentence" }, seed.sentence ?? seed.id),
          el("span", { class: "meta" }, plural(seed.refs.length, "source turn"),
            seed.provenance === "annotated" ? el("em", {}, "annotated") : null))] : [])),
    ]));
}

function dreamList(app: App): HTMLElement {
  const all = app.data.raw.hypotheses;
  if (!all.length) return empty("No hypotheses on this page: nothing was dreamt, or they were left out.");
  const order = ["valid", "review_due", "expired", "invalidated"];
  const shown = all.map((_, at) => at).filter((at) => app.filters.dream(at));
  shown.sort((a, b) => order.indexOf(all[a]!.standing) - order.indexOf(all[b]!.standing) || all[b]!.points - all[a]!.points || a - b);
  return el("div", { class: "list" },
    el("p", { class: "notice" }, el("b", {}, app.data.raw.marked), ". Each is a guess with its evidence and a date to look again."),
    shown.length < all.length ? el("p", { class: "hint" }, `${shown.length} of ${all.length} shown, by the filters of the map.`) : null,
    el("ul", {}, ...shown.map((at) => {
      const one = all[at]!;
      return card(`dream ${one.function}`, () => app.open({ type: "hypothesis", at }),
        el("span", { class: "badges" }, el("span", { class: `function ${one.function}` }, spoken(one.function)), standingBadge(one)),
        el("span", { class: "sentence" }, one.title ?? one.hypothesis_id),
        el("span", { class: "meta" }, `${plural(one.refs.length, "premise")} · `,
          one.counter.length ? `${one.counter.length} against` : "no counter-evidence", ` · review ${isoText(one.review_after)}`),
        el("span", { class: "words" }, app.data.raw.marked));
    })));
}

function journeyList(app: App): HTMLElement {
  const { journeys } = app.data.raw;
  if (!journeys.length) return empty("No Journeys yet: an inquiry must come up in three threads to be one.");
  return el("div", { class: "list" },
    el("p", { class: "hint" }, "Inquiries that go on over three or more threads, and where each stands."),
    el("ul", {}, ...journeys.map((journey) => card("journey", () => app.open({ type: "node", at: journey.node }),
      el("span", { class: "badges" }, el("span", { class: `badge ${app.data.note(journey.node)}` }, app.data.note(journey.node))),
      el("span", { class: "sentence" }, app.data.label(journey.node)),
      journey.frontier ? el("span", { class: "meta" }, journey.frontier) : null,
      el("span", { class: "meta" }, plural(journey.stops.length, "waypoint"), " · ",
        secondsText(journey.stops.at(-1)?.at ?? null))))));
}

export { nodeButton };
