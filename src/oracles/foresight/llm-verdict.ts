/**
 * Resolves the written answer of a model. A model that contradicts itself is read the stricter way, and an unlisted tool is
 * dropped and counted, so no answer is milder than its strictest part.
 */
import { covers } from "../../core/effect.ts";
import type { StateClass } from "../../core/questions/prediction.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { filteredNamesMax, wordsKeptCharsMax } from "./llm-limits.ts";
import type { ShownTool } from "./llm-prompt.ts";

/** An answer as it was written; `filtered` is undefined where no list could be read. */
export type Written = {
  readonly nextState: string;
  readonly reasoning: string;
  readonly safety: StateClass;
  readonly filtered: readonly string[] | undefined;
};

export type ModelVerdict = {
  readonly nextState: string;
  readonly reasoning: string;
  readonly safety: StateClass;
  /** Names as they are listed. */
  readonly filtered: readonly string[];
  readonly invented: number;
};

export function isStateClass(value: unknown): value is StateClass {
  return value === "safe" || value === "critical" || value === "unsafe";
}

const strictness = { safe: 0, critical: 1, unsafe: 2 } as const;

export function stricterClass(left: StateClass, right: StateClass): StateClass {
  return strictness[left] >= strictness[right] ? left : right;
}

/** Resolves contradictions. `safe` without a readable list is not an answer: the other half could contradict it. */
export function resolved(written: Written, tools: readonly ShownTool[]): Result<ModelVerdict, string> {
  const { filtered } = written;
  if (filtered === undefined && written.safety === "safe") return err("its answer has no list of tools");
  const { found, invented } = matched(filtered ?? [], tools);
  const safety = (filtered ?? []).length > 0 ? stricterClass(written.safety, "critical") : written.safety;
  return ok({
    nextState: kept(written.nextState),
    reasoning: kept(written.reasoning),
    safety,
    filtered: safety === "safe" || found.length > 0 ? found : consequential(tools),
    invented,
  });
}

/** Harm was announced, and no tool named: every tool that does more than read what is local could be the one. */
export function consequential(tools: readonly ShownTool[]): readonly string[] {
  const changes = ({ effects }: ShownTool): boolean =>
    effects.length === 0 || effects.some((effect) => !covers("read.local", effect));
  return tools.filter(changes).map((tool) => tool.name);
}

type Matched = { readonly found: readonly string[]; readonly invented: number };

/** Listed tools that were named, by full name or by the part behind the server, in any case of letters. */
function matched(given: readonly string[], tools: readonly ShownTool[]): Matched {
  const byName = new Map<string, string[]>();
  const add = (key: string, name: string): void => {
    const known = byName.get(key.toLowerCase());
    if (known === undefined) byName.set(key.toLowerCase(), [name]);
    else known.push(name);
  };
  for (const { shown, name } of tools) {
    add(shown, name);
    const dot = shown.indexOf(".");
    if (dot >= 0) add(shown.slice(dot + 1), name);
  }
  const found = new Set<string>();
  let invented = Math.max(0, given.length - filteredNamesMax);
  for (const each of given.slice(0, filteredNamesMax)) {
    const names = byName.get(each.trim().toLowerCase());
    if (names === undefined) invented += 1;
    else for (const name of names) found.add(name);
  }
  return { found: tools.map((tool) => tool.name).filter((name) => found.has(name)), invented };
}

/** A model's words for one line of a log: bounded, and nothing in them can move a cursor or turn the line. */
function kept(text: string): string {
  const plain = text.slice(0, 4 * wordsKeptCharsMax).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\s]+/gu, " ");
  return plain.trim().slice(0, wordsKeptCharsMax);
}
