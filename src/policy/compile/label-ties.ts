/**
 * Entries of `labels` that fit the same tools equally well and say different things of them. Which one holds would be
 * a matter of the alphabet, so such a policy is refused.
 */
import canonicalize from "canonicalize";
import type { ToolLabelsForm } from "../document/long-form.ts";
import { type Problem, problem, quoted } from "../document/diagnostic.ts";

/** An entry as written, with how much its selector says. */
export type Ranked = {
  readonly selector: string;
  readonly server: string;
  readonly tool: string;
  readonly rank: number;
  readonly form: ToolLabelsForm;
};

export function labelTies(entries: readonly Ranked[]): readonly Problem[] {
  const found: Problem[] = [];
  // Two whole names fit no tool together, and they are nearly all.
  const wild = entries.filter(({ selector }) => selector.includes("*"));
  for (const [index, one] of wild.entries()) {
    for (const other of wild.slice(index + 1)) {
      if (one.rank !== other.rank || !meet(one.server, other.server) || !meet(one.tool, other.tool)) continue;
      const part = disputed(one.form, other.form);
      if (part === undefined) continue;
      const message = `${quoted(one.selector)} and ${quoted(other.selector)} fit the same tools equally well and differ in \`${part}\``;
      found.push(problem("TIE", ["labels", other.selector], message, "make one of the two name more, or say the same"));
    }
  }
  return found;
}

/** The first part of which both speak, in different words. */
function disputed(one: ToolLabelsForm, other: ToolLabelsForm): string | undefined {
  const parts = ["effects", "flags", "output", "cases", "reads", "writes", "opens"] as const;
  const part = parts.find((name) => differ(one[name], other[name]));
  if (part !== undefined) return part;
  const names = new Set([...Object.keys(one.args ?? {}), ...Object.keys(other.args ?? {})]);
  // `rest` is about what its own entry does not name, and so about what the other one does.
  const said = (form: ToolLabelsForm, name: string) => form.args?.[name] ?? form.rest;
  const isDisputed = [...names].some((name) => differ(said(one, name), said(other, name)));
  return isDisputed ? "args" : differ(one.rest, other.rest) ? "rest" : undefined;
}

function differ(one: object | undefined, other: object | undefined): boolean {
  return one !== undefined && other !== undefined && canonicalize(one) !== canonicalize(other);
}

/** Whether some name fits both patterns, in which `*` stands for any characters. */
function meet(one: string, other: string): boolean {
  if (!one.includes("*") && !other.includes("*")) return one === other;
  // Row by row: for each end of `other`, whether what is left of both has a name in common.
  let below: boolean[] = [];
  for (let at = one.length; at >= 0; at -= 1) {
    const row: boolean[] = Array.from({ length: other.length + 1 }, () => false);
    for (let to = other.length; to >= 0; to -= 1) {
      const [left, right] = [one[at], other[to]];
      if (left === undefined && right === undefined) row[to] = true;
      else if (left === "*") row[to] = below[to] === true || (right !== undefined && row[to + 1] === true);
      else if (right === "*") row[to] = row[to + 1] === true || (left !== undefined && below[to] === true);
      else row[to] = left === right && below[to + 1] === true;
    }
    below = row;
  }
  return below[0] === true;
}
