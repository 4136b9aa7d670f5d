/**
 * Fits log-odds of evidence to answers by hand: logistic regression with a pull of each weight towards what it was thought
 * to be before any label was seen, so that a sign that the labels say nothing of keeps its weight.
 */
export type Row = { readonly signs: readonly string[]; readonly yes: boolean; readonly weight: number };

export type Weights = { readonly [sign: string]: number };

/** How strongly weights are pulled: those with a prior to it, those of single words to nothing. */
export type Pull = { readonly known: number; readonly word: number; readonly bias: number };
/** Few labels speak of where a server acts (one a server) and of each single action: what was thought before counts more. */
export function pullOf(question: string): Pull {
  return ["acts", "reads", "writes"].includes(question)
    ? { known: 0.15, word: 0.8, bias: 0.1 }
    : { known: 1, word: 3, bias: 8 };
}

const rounds = 400;
const step = 0.06;

/**
 * Signs that may bear on a question, by the beginning of their id: where a tool acts is told by no verb, and what it does by no
 * place. Fewer signs for a few hundred labels say more of servers without labels.
 */
export function bearsOn(question: string, sign: string): boolean {
  const places = /^(place|server|tools|says|page|own|vcs):|^within:|^name:(touch|visit)$|^openWorldHint/;
  if (question === "outside") return places.test(sign);
  if (/^(place|server|tools|says|page|within|own):|^(d|a|s)=/.test(sign)) return false;
  if (["acts", "reads", "writes", "runs"].includes(question)) return !sign.startsWith("openWorldHint");
  return /^(name|name-mid|name-later|name-carried|noun|text|text-later|vcs):/.test(sign);
}

/** Deterministic: no shuffling and no chance. Signs without a prior need `serversMin` servers to count (see `fitting`). */
export function fitLogistic(rows: readonly Row[], prior: Weights, pull: Pull): Weights {
  const names = [...new Set(["bias", ...Object.keys(prior), ...rows.flatMap(({ signs }) => signs)])];
  const index = new Map(names.map((name, at) => [name, at]));
  const before = names.map((name) => prior[name] ?? 0);
  const strength = names.map((name) => (name === "bias" ? pull.bias : name in prior ? pull.known : pull.word));
  const sparse = rows.map(({ signs, yes, weight }) => ({
    at: [0, ...signs.map((sign) => index.get(sign) ?? 0)],
    yes: yes ? 1 : 0,
    weight,
  }));
  const weights = Float64Array.from(before);
  const first = new Float64Array(names.length);
  const second = new Float64Array(names.length);
  for (let round = 1; round <= rounds; round += 1) {
    const slope = Float64Array.from(weights, (weight, at) => (strength[at] ?? 0) * (weight - (before[at] ?? 0)));
    for (const { at, yes, weight } of sparse) {
      let sum = 0;
      for (const one of at) sum += weights[one] ?? 0;
      const miss = weight * (1 / (1 + Math.exp(-sum)) - yes);
      for (const one of at) slope[one] = (slope[one] ?? 0) + miss;
    }
    for (let at = 0; at < names.length; at += 1) {
      const gradient = slope[at] ?? 0;
      first[at] = 0.9 * (first[at] ?? 0) + 0.1 * gradient;
      second[at] = 0.999 * (second[at] ?? 0) + 0.001 * gradient * gradient;
      const move = (first[at] ?? 0) / (1 - 0.9 ** round) / (Math.sqrt((second[at] ?? 0) / (1 - 0.999 ** round)) + 1e-8);
      weights[at] = (weights[at] ?? 0) - step * move;
    }
  }
  return Object.fromEntries(names.map((name, at) => [name, weights[at] ?? 0]));
}

export function scoreOf(weights: Weights, signs: readonly string[]): number {
  return signs.reduce((sum, sign) => sum + (weights[sign] ?? 0), weights["bias"] ?? 0);
}
