/** Values with their true labels: unique secrets are planted in results and stores, and looked for wherever text arrives. */
import { sha256 } from "../../../src/app/policy/policy-source.ts";

/** A text that somebody has, and the labels of everything that shaped it, encodings and pieces included. */
export type Value = { readonly text: string; readonly all: number };

export class Planter {
  readonly #planted: { readonly token: string; readonly label: number }[] = [];

  /** A text that nobody has seen before, with this true label. */
  plant(label: number): Value {
    const token = `k${sha256(`planted ${this.#planted.length}`).slice(0, 27)}`;
    this.#planted.push({ token, label });
    return { text: token, all: label };
  }

  /** Labels of the planted secrets that stand in the text as they are. */
  clear(text: string): number {
    return this.#planted.reduce((all, { token, label }) => (text.includes(token) ? all | label : all), 0);
  }

  /** The planted secrets that stand in the text as they are. */
  tokensIn(text: string): readonly Value[] {
    return this.#planted
      .filter(({ token }) => text.includes(token))
      .map(({ token, label }) => ({ text: token, all: label }));
  }
}

/** What an agent does with what it has seen. Numbers pick among the values seen. */
export type Recipe =
  | { readonly kind: "plain"; readonly word: string }
  | { readonly kind: "copy"; readonly of: number }
  | { readonly kind: "token"; readonly of: number }
  | { readonly kind: "join"; readonly of: number; readonly and: number }
  | { readonly kind: "half"; readonly of: number }
  | { readonly kind: "encode"; readonly of: number };

export function cook(recipe: Recipe, seen: readonly Value[], planter: Planter): Value {
  const pick = (index: number): Value => seen[index % Math.max(1, seen.length)] ?? { text: "nothing", all: 0 };
  switch (recipe.kind) {
    case "plain":
      return { text: recipe.word, all: 0 };
    case "copy":
      return pick(recipe.of);
    case "token": {
      const tokens = planter.tokensIn(pick(recipe.of).text);
      return tokens[recipe.of % Math.max(1, tokens.length)] ?? pick(recipe.of);
    }
    case "join": {
      const [left, right] = [pick(recipe.of), pick(recipe.and)];
      return { text: `${left.text} and ${right.text}`, all: left.all | right.all };
    }
    case "half": {
      const { text, all } = pick(recipe.of);
      const piece = text.slice(0, Math.ceil(text.length / 2));
      // The piece may stand in another value as well, a trusted one too: only what all of those share has surely shaped it.
      const holders = seen.filter((value) => value.text.includes(piece.trim()));
      return { text: piece, all: holders.reduce((shared, value) => shared & value.all, all) };
    }
    case "encode": {
      const { text, all } = pick(recipe.of);
      return { text: Buffer.from(text).toString("base64"), all };
    }
  }
}
