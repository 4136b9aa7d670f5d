// A small world for tests of the semantics: a lattice, contracts, and calls written in one line.
import type { ArgumentContract, ArgumentRole, ToolContract } from "../../../src/core/contract.ts";
import type { Effect } from "../../../src/core/effect.ts";
import type { RunEvent } from "../../../src/core/event.ts";
import {
  type Label,
  type LabelRange,
  type Lattice,
  exactly,
  excludedBits,
  forbiddenAt,
  levelLabel,
  makeLattice,
} from "../../../src/core/label.ts";
import type { CallOption } from "../../../src/core/moment.ts";
import type { Check, Hazard, Ir, Pattern, Rule } from "../../../src/policy/ir/ir.ts";
import { slotsOf } from "../../../src/policy/semantics/monitors.ts";
import { type Q, initialState } from "../../../src/policy/semantics/state.ts";
import { type Frame, next } from "../../../src/policy/semantics/transition.ts";

const made = makeLattice({
  levels: ["public", "private"],
  categories: ["medical", "finance"],
  groups: ["me", "anyone"],
});
if (!made.ok) throw new Error(made.error);
export const lattice: Lattice = made.value;
export const nothing: Label = lattice.bottom;
export const secret = levelLabel(lattice, "private") as Label; // declared two lines above

export const pattern = (part: Partial<Pattern> = {}): Pattern => ({ predicates: [], data: [], stores: [], ...part });
export const tool = (name: string): Pattern => pattern({ tools: [{ server: "*", tool: name }] });

export function rule(
  id: string,
  part: { tier: Rule["tier"] } & ({ when: Pattern } | { temporal: (Rule & { kind: "temporal" })["temporal"] }),
): Rule {
  const common = { id, tier: part.tier, why: `because of ${id}`, serves: [], mode: "enforce" as const };
  return "when" in part
    ? { ...common, kind: "plain", when: part.when }
    : { ...common, kind: "temporal", temporal: part.temporal };
}

export function frameOf(part: {
  rules?: readonly Rule[];
  checks?: readonly Check[];
  hazards?: readonly Hazard[];
  stores?: Ir["stores"];
  execute?: Ir["execute"];
  host?: Ir["host"];
}): Frame {
  const ir: Ir = {
    digest: "test",
    lattice,
    flow: "provenance",
    predicates: [{ kind: "workspace" }],
    rules: part.rules ?? [],
    checks: part.checks ?? [],
    hazards: part.hazards ?? [],
    stores: part.stores ?? [],
    execute: part.execute ?? "confirm",
    host: part.host ?? { send: 0, read: "gated", execute: false },
  };
  return { ir, slots: slotsOf(ir) };
}

export function argument(role: ArgumentRole, sink: boolean): ArgumentContract {
  const anyone = excludedBits(lattice, ["anyone"]) as Label; // a declared group
  return {
    role,
    sink,
    audience: sink ? 2 : 0,
    forbidden: sink ? forbiddenAt(lattice, nothing, anyone) : nothing,
    schemaValues: [],
  };
}

export function contract(name: string, part: Partial<ToolContract> & { does?: readonly Effect[] } = {}): ToolContract {
  const { does, ...rest } = part;
  return {
    server: "s",
    tool: name,
    toolDigest: undefined,
    source: "operator",
    effects: { must: does ?? [], may: does ?? [] },
    flags: { irreversible: false, openWorld: false },
    arguments: new Map(),
    rest: argument("content", false),
    output: { label: exactly(nothing), fields: [] },
    cases: [],
    reads: [],
    writes: [],
    opens: [],
    consequential: (does ?? []).some((effect) => !effect.startsWith("read")),
    ...rest,
  };
}

/** A call of a tool with labelled arguments and, for keyed rules, keys. */
export function option(
  of: ToolContract,
  labels: Readonly<Record<string, LabelRange>> = {},
  more: { keys?: Readonly<Record<string, readonly string[]>>; amounts?: Readonly<Record<string, string>> } = {},
): CallOption {
  return {
    contract: of,
    class: {
      server: of.server,
      tool: of.tool,
      truths: new Map([[0, true]]),
      keys: new Map(Object.entries(more.keys ?? {})),
      amounts: new Map(Object.entries(more.amounts ?? {})),
    },
    arguments: new Map(
      Object.entries(labels).map(([name, range]) => [name, { range, digest: `digest of ${name}`, path: [] }]),
    ),
  };
}

export function start(frame: Frame, shared?: Q): Q {
  return initialState(frame.ir, frame.slots, shared);
}

let counter = 0;

export function dispatch(frame: Frame, q: Q, x: CallOption, at: number): { readonly q: Q; readonly call: string } {
  counter += 1;
  const call = `call-${counter}`;
  const event: RunEvent = { at, kind: "dispatched", call, method: "tools/call", option: x, arguments: {}, digest: "d" };
  return { q: must(frame, q, event), call };
}

export function must(frame: Frame, q: Q, event: RunEvent): Q {
  const moved = next(frame, q, event);
  if (!moved.ok) throw new Error(moved.error);
  return moved.value;
}

/** A whole round: dispatch, settle, release with the given label. */
export function round(
  frame: Frame,
  q: Q,
  x: CallOption,
  how: { at: number; outcome?: "succeeded" | "failed"; label?: LabelRange },
): Q {
  const sent = dispatch(frame, q, x, how.at);
  const settled: RunEvent =
    how.outcome === "failed"
      ? { at: how.at, kind: "failed", call: sent.call, noEffect: false }
      : { at: how.at, kind: "succeeded", call: sent.call };
  const label = how.label ?? exactly(nothing);
  const { server, tool: name } = x.contract;
  const out: RunEvent = {
    at: how.at,
    kind: "released",
    call: sent.call,
    server,
    tool: name,
    how: "pass",
    label,
    fields: [],
  };
  return must(frame, must(frame, sent.q, settled), out);
}
