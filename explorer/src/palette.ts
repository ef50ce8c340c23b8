// Colours for both themes. Kinds are told apart by hue and lightness, so that they hold for
// colour-blind eyes; dream functions have a dash pattern of their own besides.

export interface Theme {
  dark: boolean;
  paper: string; ink: string; muted: string; edge: string; strong: string; seed: string;
  kinds: Record<string, string>;
  functions: Record<string, string>;
}

export const LIGHT: Theme = {
  dark: false,
  paper: "#fbfaf7", ink: "#22252b", muted: "#666c76", edge: "#d0cabd", strong: "#8b8a86", seed: "#b98900",
  kinds: { thread: "#2f6db3", question: "#d9781a", concept: "#86a39c", journey: "#86326f", waypoint: "#b97fab" },
  functions: {
    compensatory: "#6247c2", prospective: "#087f7b", amplification: "#c2304f", active_imagination: "#577f1f",
  },
};

export const DARK: Theme = {
  dark: true,
  paper: "#14161a", ink: "#e9e6df", muted: "#9aa1ab", edge: "#3a4049", strong: "#7d838d", seed: "#f0c64f",
  kinds: { thread: "#69a7ea", question: "#f2a552", concept: "#6f938b", journey: "#dd86c4", waypoint: "#a86f9a" },
  functions: {
    compensatory: "#a594f5", prospective: "#4cc9c0", amplification: "#f2728c", active_imagination: "#a9cf62",
  },
};

export const DASHES: Record<string, number[]> = {
  compensatory: [7, 5],
  prospective: [2, 4],
  amplification: [13, 5],
  active_imagination: [9, 4, 2, 4],
};

const FADE: Record<string, number> = { valid: 0, review_due: 0.35, expired: 0.62, invalidated: 0.78 };

export const kindColour = (theme: Theme, kind: string): string => theme.kinds[kind] ?? theme.muted;

export function dreamColour(theme: Theme, name: string, standing: string): string {
  return mix(theme.functions[name] ?? theme.muted, theme.paper, FADE[standing] ?? 0.5);
}

/** Opaque mixture: the renderer draws transparent edge colours wrongly. */
export function mix(one: string, other: string, share: number): string {
  const part = (from: number): string => {
    const [a, b] = [one, other].map((colour) => parseInt(colour.slice(from, from + 2), 16)) as [number, number];
    return Math.round(a + (b - a) * share).toString(16).padStart(2, "0");
  };
  return `#${part(1)}${part(3)}${part(5)}`;
}
