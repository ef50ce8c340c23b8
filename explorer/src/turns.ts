// Turns as quotations: who, when, the words, and where they are kept.
import type { App } from "./app";
import { secondsText } from "./data";
import { el, ICONS, icon, plural } from "./dom";

const PAGE = 12;
const TALL = 700;

export function turnCard(app: App, turn: number, words?: string[]): HTMLElement {
  const { turns, roles } = app.data.raw;
  const role = roles[turns.role[turn]!] ?? "other";
  const file = app.data.word(turns.file[turn]!);
  const ref = app.data.ref(turn);
  const line = turns.line[turn];
  const text = turns.text?.[turn];
  const body = text === undefined || text === ""
    ? el("p", { class: "absent" }, "The text of this turn was left out of the page.")
    : el("blockquote", { class: text.length > TALL ? "tall" : "" }, ...marked(text, words));
  const card = el("article", { class: `turn ${role}` },
    el("header", {},
      el("span", { class: "role" }, role),
      el("time", {}, secondsText(turns.at[turn] ?? null)),
    ),
    body,
    el("footer", {},
      el("code", { class: "ref", title: "SourceRef of this turn" }, ref),
      copyButton(ref, "copy reference"),
      file ? el("span", { class: "file" }, line === null || line === undefined ? file : `${file}:${line}`) : null,
    ),
  );
  if (body.classList.contains("tall")) {
    const more = el("button", { type: "button", class: "more", onclick: () => {
      body.classList.toggle("tall");
      more.textContent = body.classList.contains("tall") ? "show the whole turn" : "show less";
    } }, "show the whole turn");
    body.after(more);
  }
  return card;
}

/** Text with every occurrence of the words marked. */
export function marked(text: string, words: string[] = []): (string | HTMLElement)[] {
  const wanted = words.filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!wanted.length) return [text];
  const parts = text.split(new RegExp(`(${wanted.join("|")})`, "gi"));
  return parts.map((part, at) => (at % 2 ? el("mark", {}, part) : part));
}

export function turnList(app: App, turns: number[], title = "Source turns"): HTMLElement | null {
  if (!turns.length) return null;
  const list = el("div", { class: "turns" });
  let drawn = 0;
  const more = el("button", { type: "button", class: "more wide", onclick: () => draw() });
  const draw = (): void => {
    for (const turn of turns.slice(drawn, drawn + PAGE)) list.append(turnCard(app, turn));
    drawn = Math.min(drawn + PAGE, turns.length);
    more.hidden = drawn >= turns.length;
    more.textContent = `show more (${turns.length - drawn} left)`;
  };
  draw();
  return el("section", {}, el("h3", {}, title, el("span", { class: "count" }, plural(turns.length, "turn"))), list, more);
}

export function copyButton(text: string, label: string): HTMLElement {
  const button = el("button", { type: "button", class: "copy", "aria-label": label, title: label, onclick: () => {
    void navigator.clipboard?.writeText(text).then(() => {
      button.classList.add("done");
      setTimeout(() => button.classList.remove("done"), 1200);
    }).catch(() => undefined);
  } }, icon(ICONS.link));
  return button;
}
