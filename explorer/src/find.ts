// Worker: which nodes and turns hold all words of a text. Keeps the page responsive.

let labels: string[] = [];
let texts: string[] = [];
const LIMIT = 40;

interface Asked { labels?: string[]; texts?: string[]; query?: string; ticket?: number }

function holds(text: string, words: string[]): boolean {
  return words.every((word) => text.includes(word));
}

self.onmessage = ({ data }: MessageEvent<Asked>) => {
  if (data.labels) labels = data.labels.map((label) => label.toLowerCase());
  if (data.texts) texts = data.texts.map((text) => text.toLowerCase());
  if (data.query === undefined) return;
  const words = data.query.toLowerCase().split(/\s+/).filter(Boolean);
  const nodes: number[] = [];
  const turns: number[] = [];
  let total = 0;
  if (words.length) {
    labels.forEach((label, at) => {
      if (!holds(label, words)) return;
      total++;
      nodes.push(at);
    });
    texts.forEach((text, at) => {
      if (!holds(text, words)) return;
      total++;
      if (turns.length < LIMIT) turns.push(at);
    });
  }
  const begins = (at: number): number => (labels[at]!.startsWith(words[0]!) ? 0 : 1);
  nodes.sort((a, b) => begins(a) - begins(b) || labels[a]!.length - labels[b]!.length || a - b);
  self.postMessage({ ticket: data.ticket, total, nodes: nodes.slice(0, LIMIT), turns, all: nodes });
};
