// The search box: a combobox whose answers come from a worker.
import finder from "worker:./find.ts";
import type { App, Target } from "./app";
import { el, ICONS, icon, plural } from "./dom";
import { short } from "./labels";
import { marked } from "./turns";

interface Answer { ticket: number; total: number; nodes: number[]; turns: number[]; all: number[] }

export class Search {
  readonly box: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly list: HTMLElement;
  private readonly found: HTMLElement;
  private worker: Worker | null = null;
  private ticket = 0;
  private chosen = -1;
  private targets: Target[] = [];

  constructor(private readonly app: App) {
    this.list = el("div", { id: "results", role: "listbox", "aria-label": "Search results", hidden: true });
    this.found = el("p", { id: "found", class: "sr", "aria-live": "polite" });
    this.input = el("input", {
      id: "search", type: "search", placeholder: "Search labels and turns", autocomplete: "off", spellcheck: "false",
      role: "combobox", "aria-expanded": "false", "aria-controls": "results", "aria-label": "Search labels and turns",
      oninput: () => this.ask(),
      onfocus: () => { if (this.input.value) this.ask(); },
      onkeydown: (event: KeyboardEvent) => this.key(event),
    });
    this.box = el("div", { class: "search", role: "search" }, icon(ICONS.search), this.input, el("kbd", {}, "/"), this.list, this.found);
    document.addEventListener("pointerdown", (event) => {
      if (!this.box.contains(event.target as Node)) this.hide();
    });
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  /** Hand the texts to the worker; done after the first picture, so that it does not wait. */
  prepare(): Worker {
    if (this.worker) return this.worker;
    const url = URL.createObjectURL(new Blob([finder], { type: "text/javascript" }));
    this.worker = new Worker(url);
    const { raw } = this.app.data;
    this.worker.postMessage({ labels: raw.nodes.label.map((label, at) => label || this.app.data.id(at)), texts: raw.turns.text ?? [] });
    this.worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      if (data.ticket === this.ticket) this.show(data);
    };
    return this.worker;
  }

  private words(): string[] {
    return this.input.value.trim().split(/\s+/).filter(Boolean);
  }

  private ask(): void {
    this.ticket++;
    if (!this.words().length) {
      this.clear();
      return;
    }
    this.prepare().postMessage({ query: this.input.value, ticket: this.ticket });
  }

  private show(answer: Answer): void {
    const { app } = this;
    const words = this.words();
    this.targets = [
      ...answer.nodes.slice(0, 24).map((at): Target => ({ type: "node", at })),
      ...answer.turns.slice(0, 16).map((at): Target => ({ type: "turn", at })),
    ];
    this.chosen = -1;
    const rows = this.targets.map((target, at) => this.row(target, at, words));
    const text = answer.total ? `${answer.total.toLocaleString("en")} found` : "nothing found";
    this.found.textContent = text;
    this.list.replaceChildren(el("p", { class: "meta", role: "presentation" },
      answer.total > rows.length ? `${text}, the best ${rows.length} shown` : text), ...rows);
    this.expand(true);
    app.map.matches = new Set(answer.all);
    app.map.redraw();
  }

  private row(target: Target, at: number, words: string[]): HTMLElement {
    const { data } = this.app;
    const isNode = target.type === "node";
    const kind = isNode ? data.kindName(target.at) : "turn";
    const text = isNode ? short(data.label(target.at), 120) : snippet(data.raw.turns.text?.[target.at] ?? "", words[0] ?? "");
    return el("div", {
      role: "option", id: `result-${at}`, class: "result", "aria-selected": "false",
      onclick: () => this.open(at), onmousemove: () => this.choose(at, false),
    }, el("i", { class: `dot ${kind}` }), el("span", {}, ...marked(text, words)), el("small", {}, kind));
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const count = this.targets.length;
      if (count) this.choose((this.chosen + step + count + (this.chosen < 0 && step < 0 ? 1 : 0)) % count, true);
    } else if (event.key === "Enter" && this.targets.length) {
      event.preventDefault();
      this.open(Math.max(0, this.chosen));
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (this.input.value) {
        this.input.value = "";
        this.clear();
      } else this.input.blur();
    }
  }

  private choose(at: number, scroll: boolean): void {
    this.chosen = at;
    const rows = this.list.querySelectorAll("[role=option]");
    rows.forEach((row, other) => row.setAttribute("aria-selected", String(other === at)));
    this.input.setAttribute("aria-activedescendant", `result-${at}`);
    if (scroll) rows[at]?.scrollIntoView({ block: "nearest" });
  }

  private open(at: number): void {
    const target = this.targets[at];
    if (!target) return;
    this.hide();
    this.input.blur();
    this.app.open(target);
  }

  private expand(open: boolean): void {
    this.list.hidden = !open;
    this.input.setAttribute("aria-expanded", String(open));
    if (!open) this.input.removeAttribute("aria-activedescendant");
  }

  private hide(): void {
    this.expand(false);
  }

  private clear(): void {
    this.targets = [];
    this.found.textContent = "";
    this.expand(false);
    this.app.map.matches = null;
    this.app.map.redraw();
  }
}

function snippet(text: string, word: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(word.toLowerCase()) - 40);
  return (at ? "…" : "") + short(text.slice(at, at + 160), 130);
}

export { plural };
