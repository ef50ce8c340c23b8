// The details panel: one node, seed, hypothesis or turn, with everything it rests on.
import type { App, Target } from "./app";
import { dayText, isoText, NO_DAY, secondsText, spoken, type Evidence, type Hypothesis } from "./data";
import { el, plural, type Child } from "./dom";
import { short } from "./labels";
import { turnCard, turnList, copyButton } from "./turns";

const NEIGHBOURS = 14;

export function details(app: App, target: Target): HTMLElement {
  switch (target.type) {
    case "node": return nodeDetails(app, target.at);
    case "seed": return seedDetails(app, target.at);
    case "hypothesis": return dreamDetails(app, target.at);
    case "turn": return turnDetails(app, target.at);
  }
}

export function nodeButton(app: App, node: number, note?: string): HTMLElement {
  if (node < 0) return el("span", { class: "absent" }, "not on this page");
  return el("button", { type: "button", class: "node", onclick: () => app.open({ type: "node", at: node }) },
    el("i", { class: `dot ${app.data.kindName(node)}` }),
    el("span", { class: "name" }, short(app.data.label(node), 110)),
    note ? el("small", {}, note) : null,
  );
}

function head(kind: string, kindClass: string, title: string, ...rest: Child[]): HTMLElement {
  return el("header", { class: "head" },
    el("p", { class: "kind" }, el("i", { class: `dot ${kindClass}` }), kind),
    el("h2", { tabindex: -1 }, title),
    ...rest,
  );
}

function facts(rows: [string, Child][]): HTMLElement {
  const kept = rows.filter(([, value]) => value !== null && value !== "" && value !== undefined);
  return el("dl", { class: "facts" }, ...kept.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function span(app: App, node: number): string {
  const [first, last] = [app.data.first[node]!, app.data.last[node]!];
  if (first === NO_DAY) return "dates unknown";
  return first === last ? dayText(first) : `${dayText(first)} – ${dayText(last)}`;
}

function nodeDetails(app: App, node: number): HTMLElement {
  const { data } = app;
  const kind = data.kindName(node);
  const journey = data.journeyOf.get(node);
  const id = data.id(node);
  const names: Record<string, string> = { thread: "Source", question: "Status", concept: "Sort", journey: "Status", waypoint: "Arc" };
  return el("article", {},
    head(kind, kind, data.label(node)),
    facts([
      [names[kind] ?? "Note", spoken(data.note(node))],
      ["When", span(app, node)],
      ["Project", data.word(data.raw.nodes.project[node]!)],
      ["Connections", String(data.degree[node])],
      ["Id", el("span", {}, el("code", {}, id), copyButton(id, "copy id"))],
    ]),
    journey === undefined ? null : journeyPart(app, journey, node),
    marksPart(app, node),
    nearPart(app, node),
    turnList(app, data.turnsOf(node), kind === "thread" ? "Turns" : "Source turns"),
  );
}

function journeyPart(app: App, at: number, here: number): HTMLElement {
  const journey = app.data.raw.journeys[at]!;
  return el("section", {},
    here === journey.node ? null : el("p", {}, "A waypoint of ", nodeButton(app, journey.node)),
    journey.inquiry ? [el("h3", {}, "Core inquiry"), el("p", { class: "said" }, journey.inquiry)] : null,
    journey.frontier ? [el("h3", {}, "Where it stands"), el("p", { class: "said" }, journey.frontier)] : null,
    el("h3", {}, "Waypoints", el("span", { class: "count" }, String(journey.stops.length))),
    el("ol", { class: "stops" }, ...journey.stops.map((stop) =>
      el("li", { class: stop.node === here ? "here" : "" },
        el("time", {}, secondsText(stop.at)),
        nodeButton(app, stop.node),
        stop.hint ? el("p", { class: "hint" }, stop.hint) : null,
      ))),
  );
}

function marksPart(app: App, node: number): HTMLElement | null {
  const seeds = [...(app.data.seedsOf.get(node) ?? [])];
  const dreams = app.data.dreamsOf.get(node) ?? [];
  if (!seeds.length && !dreams.length) return null;
  return el("section", {},
    el("h3", {}, "Marked by"),
    ...seeds.sort((a, b) => part(app, a, node).rank - part(app, b, node).rank || a - b).map((at) => {
      const seed = app.data.raw.seeds[at]!;
      return el("button", { type: "button", class: "row", onclick: () => app.open({ type: "seed", at }) },
        el("b", { class: "shape" }, spoken(seed.shape)), ` · ${spoken(part(app, at, node).role)} · `, seed.sentence ?? seed.id);
    }),
    ...dreams.map((at) => {
      const one = app.data.raw.hypotheses[at]!;
      return el("button", { type: "button", class: `row dream ${one.function}`, onclick: () => app.open({ type: "hypothesis", at }) },
        el("b", {}, app.data.raw.marked), " ", one.title ?? one.hypothesis_id);
    }),
  );
}

/** What a node is to a seed; what the seed is about comes before what lies on its sides. */
function part(app: App, seed: number, node: number): { role: string; rank: number } {
  const role = app.data.raw.seeds[seed]!.members.find((member) => member[1] === node)?.[0] ?? "member";
  return { role, rank: ["cut", "via", "member"].indexOf(role) + 1 || 4 };
}

function nearPart(app: App, node: number): HTMLElement | null {
  const near = app.data.neighbours(node);
  if (!near.length) return null;
  near.sort((a, b) => app.data.kind[a]! - app.data.kind[b]! || app.data.degree[b]! - app.data.degree[a]! || a - b);
  const list = el("div", { class: "nodes" });
  const draw = (from: number, to: number): void => list.append(...near.slice(from, to).map((at) => nodeButton(app, at)));
  draw(0, NEIGHBOURS);
  const more = el("button", { type: "button", class: "more wide", onclick: () => { draw(NEIGHBOURS, near.length); more.remove(); } },
    `show all ${near.length}`);
  return el("section", {},
    el("h3", {}, "Connected to", el("span", { class: "count" }, String(near.length))),
    list, near.length > NEIGHBOURS ? more : null);
}

function seedDetails(app: App, at: number): HTMLElement {
  const seed = app.data.raw.seeds[at]!;
  return el("article", {},
    head(`seed · ${spoken(seed.shape)}`, "seed", seed.sentence ?? seed.id),
    el("p", { class: "caution" }, "A candidate, not a fact: read its turns again before you rely on it."),
    facts([
      ["Provenance", seed.provenance],
      ["Variant", spoken(seed.kind)],
      ["Level", seed.level === null ? null : String(seed.level)],
      ["Score", String(seed.score)],
      ["Id", el("span", {}, el("code", {}, seed.id), copyButton(seed.id, "copy id"))],
    ]),
    el("section", {},
      el("h3", {}, "Members", el("span", { class: "count" }, String(seed.members.length))),
      el("div", { class: "nodes" }, ...seed.members.map((member) => nodeButton(app, member[1], spoken(member[0]))))),
    turnList(app, seed.refs),
  );
}

export function standingBadge(one: Hypothesis): HTMLElement {
  return el("span", { class: `badge ${one.standing}` }, spoken(one.standing));
}

function dreamDetails(app: App, at: number): HTMLElement {
  const one = app.data.raw.hypotheses[at]!;
  const side = (name: string): Evidence[] => one.claims.filter((claim) => (claim.side ?? "none") === name);
  return el("article", { class: "hypothesis" },
    head(app.data.raw.marked, `dream ${one.function}`, one.title ?? one.hypothesis_id,
      el("p", { class: "badges" }, el("span", { class: `function ${one.function}` }, spoken(one.function)), standingBadge(one))),
    one.summary ? el("p", { class: "lead" }, one.summary) : null,
    el("div", { class: "pair" }, nodeButton(app, one.src), nodeButton(app, one.dst)),
    evidence(app, "Evidence, one side", [...side("a")]),
    evidence(app, "Evidence, other side", [...side("b")]),
    evidence(app, "What joins them", [...side("middle"), ...side("none")]),
    one.counter.length
      ? evidence(app, "Counter-evidence", one.counter, "against")
      : el("section", { class: "against" }, el("h3", {}, "Counter-evidence"), el("p", { class: "absent" }, "None was found. That is no support either.")),
    one.why_not_fact ? el("section", {}, el("h3", {}, "Why this is not a fact"), el("p", {}, one.why_not_fact)) : null,
    facts([
      ["Confidence", `${one.points} of 98 points`],
      ["State", spoken(one.state)],
      ["Rule", spoken(one.rule)],
      ["Mode", `${one.mode}, ${one.method}`],
      ["Next check", spoken(one.next_check)],
      ["Review after", isoText(one.review_after)],
      ["Expires", isoText(one.expires_at)],
      ["Ends early on", (one.triggers ?? []).map(spoken).join(", ")],
      ["Closed because", one.closed_reason],
      ["Id", el("span", {}, el("code", {}, one.hypothesis_id), copyButton(one.hypothesis_id, "copy id"))],
    ]),
    reviewPart(app, one),
    turnList(app, one.refs, "Premises"),
  );
}

function evidence(app: App, title: string, rows: Evidence[], css = ""): HTMLElement | null {
  if (!rows.length) return null;
  return el("section", { class: css },
    el("h3", {}, title),
    ...rows.map((row) => el("div", { class: "claim" },
      row.kind ? el("b", {}, `${spoken(row.kind)}: `) : null,
      el("p", { class: "said" }, row.text ?? row.statement ?? "The words were left out of the page."),
      ...row.refs.map((turn) =>
        el("button", { type: "button", class: "cite", onclick: () => app.open({ type: "turn", at: turn }) },
          el("code", {}, app.data.ref(turn)), el("span", {}, beyond(row.text ?? row.statement ?? "", app.data.raw.turns.text?.[turn] ?? "")))),
    )));
}

/** The beginning of a cited turn, unless the claim says the same words already. */
function beyond(claim: string, turn: string): string {
  const begins = short(turn, 150);
  return claim.includes(begins.slice(0, 60)) ? "" : begins;
}

const ACTS = ["approve", "reject"] as const;

function reviewPart(app: App, one: Hypothesis): HTMLElement {
  const save = el("button", { type: "button", class: "save", onclick: () => download(app) });
  const boxes = ACTS.map((act) => el("button", { type: "button", class: `act ${act}`, onclick: () => {
    if (app.acts.get(one.hypothesis_id) === act) app.acts.delete(one.hypothesis_id);
    else app.acts.set(one.hypothesis_id, act);
    refresh();
  } }, act));
  const refresh = (): void => {
    boxes.forEach((box, at) => box.setAttribute("aria-pressed", String(app.acts.get(one.hypothesis_id) === ACTS[at])));
    save.hidden = app.acts.size === 0;
    save.textContent = `download review file (${app.acts.size})`;
  };
  refresh();
  return el("section", { class: "review" }, el("h3", {}, "Your review"),
    el("p", { class: "hint" }, "Nothing is sent. Your choices go into a file that clew can read."),
    el("div", { class: "acts" }, ...boxes, save));
}

function download(app: App): void {
  const acts = [...app.acts].sort().map(([target, act]) => ({ act, target }));
  const body = JSON.stringify({ schema: "clew.review/1", acts }, null, 1);
  const link = el("a", { href: URL.createObjectURL(new Blob([body], { type: "application/json" })), download: "clew-review.json" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function turnDetails(app: App, turn: number): HTMLElement {
  const thread = app.data.raw.turns.thread[turn]!;
  const all = thread < 0 ? [turn] : app.data.turnsOf(thread);
  const at = all.indexOf(turn);
  const near = all.slice(Math.max(0, at - 1), at + 2).filter((other) => other !== turn);
  const before = near.filter((other) => other < turn);
  return el("article", {},
    head("turn", "turn", app.data.ref(turn)),
    thread < 0 ? null : el("p", { class: "from" }, "in ", nodeButton(app, thread)),
    el("div", { class: "turns" },
      ...before.map((other) => turnCard(app, other)),
      el("div", { class: "here" }, turnCard(app, turn)),
      ...near.filter((other) => other > turn).map((other) => turnCard(app, other))),
    thread < 0 ? null : el("p", { class: "hint" }, `One of ${plural(all.length, "turn")} of this thread.`),
  );
}
