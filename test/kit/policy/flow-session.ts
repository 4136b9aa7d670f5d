/** A flow mechanism over a plain state, for the tests of the mechanism `flow`. */
import {
  type ArgumentContract,
  type FieldContract,
  type Role,
  resultScope,
  type ToolContract,
} from "../../../src/core/contract.ts";
import type { Grant, RunEvent } from "../../../src/core/event.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { exactly, joinRanges, levelLabel, makeLattice, withTrust, type LabelRange } from "../../../src/core/label.ts";
import type { ArgumentLabel, CallMoment, CallOption, ReleaseMoment } from "../../../src/core/moment.ts";
import type { Reason } from "../../../src/core/opinion.ts";
import type { ModelState, Run } from "../../../src/core/run.ts";
import type { FlowMode, Ir } from "../../../src/policy/ir/ir.ts";
import { type FlowMemory, makeFlow } from "../../../src/mechanisms/flow/flow.ts";

const made = makeLattice({ levels: ["public", "private"], categories: [], groups: [] });
if (!made.ok) throw new Error(made.error);
export const lattice = made.value;
export const open = lattice.bottom;
export const secret = levelLabel(lattice, "private") ?? lattice.top;
export const untrusted = withTrust(lattice, open, "untrusted");

export type State = ModelState & {
  readonly context: LabelRange;
  readonly unmediated?: LabelRange;
  readonly grants: readonly Grant[];
  readonly store: LabelRange;
  readonly added: LabelRange;
  readonly reasons: readonly Reason[];
};

const emptyParts: Omit<State, keyof ModelState> = {
  context: exactly(open),
  grants: [],
  store: exactly(open),
  added: exactly(open),
  reasons: [],
};
export const emptyState = emptyParts as State;

/** Every state of a session comes from `emptyState`. */
const stateOf = (q: ModelState): State => q as State;

/** Not a hash: a digest that tells values apart is all that the tests need. */
export const digest = (value: Json): string => `digest of ${JSON.stringify(value)}`;

export function argument(role: Role, schemaValues: readonly Json[] = []): ArgumentContract {
  return { role, sink: true, audience: 0, forbidden: secret, schemaValues };
}

export function contract(
  tool: string,
  output: LabelRange,
  fields: readonly FieldContract[] = [],
  changes: Partial<ToolContract> = {},
): ToolContract {
  return {
    server: "s",
    tool,
    toolDigest: undefined,
    source: "operator",
    effects: { must: [], may: [] },
    flags: { irreversible: false, openWorld: false },
    arguments: new Map([["to", argument("recipient")]]),
    rest: argument("content"),
    output: { label: output, fields },
    cases: [],
    reads: [],
    writes: [],
    opens: [],
    consequential: true,
    ...changes,
  };
}

export function makeIr(flow: FlowMode): Ir {
  return {
    digest: "d",
    lattice,
    flow,
    predicates: [{ kind: "workspace" }],
    rules: [],
    checks: [],
    hazards: [],
    stores: [{ name: "box", audience: 0, initial: exactly(secret) }],
    execute: "confirm",
    host: { send: 0, read: "gated", execute: false },
  };
}

/** A run of a scripted agent against one flow mechanism; K grows with every pass. */
export function makeSession(mode: FlowMode, labelsMatter: (contract: ToolContract) => boolean = () => true) {
  const flow = makeFlow({
    ir: makeIr(mode),
    contextOf: (q) => stateOf(q).context,
    unmediatedOf: (q) => stateOf(q).unmediated ?? exactly(open),
    grantsOf: (q) => stateOf(q).grants,
    storeLabels: (q, names) => (names.includes("box") ? stateOf(q).store : exactly(open)),
    addedLabels: (q, names) => (names.includes("box") ? stateOf(q).added : exactly(open)),
    hazards: (q) => stateOf(q).reasons,
    labelsMatter,
    digest,
  });
  let memory: FlowMemory = flow.initial();
  let q = emptyState;
  let calls = 0;
  const run = (): Run => ({ key: "run", q, memories: new Map() });
  const remember = (event: RunEvent): void => {
    memory = flow.remember(memory, event, run());
  };
  const call = (tool: ToolContract, values: JsonObject, at = 0): CallMoment => ({
    kind: "call",
    at,
    call: `c${(calls += 1)}`,
    method: "tools/call",
    contract: tool,
    arguments: values,
    workspace: [],
    digest: digest(values),
  });
  const labels = (tool: ToolContract, values: JsonObject, at = 0): ReadonlyMap<string, ArgumentLabel> =>
    flow.label?.(call(tool, values, at), run(), memory) ?? new Map();
  const optionOf = (tool: ToolContract, values: JsonObject): CallOption => ({
    class: { server: tool.server, tool: tool.tool, truths: new Map(), keys: new Map(), amounts: new Map() },
    contract: tool,
    arguments: labels(tool, values),
  });
  const releaseMoment = (
    tool: ToolContract,
    option: CallOption | undefined,
    { failed, value }: { readonly failed: boolean; readonly value: Json },
  ): ReleaseMoment => ({
    kind: "release",
    at: 0,
    call: option === undefined ? undefined : `c${calls}`,
    contract: tool,
    option,
    outcome: failed ? "failed" : "succeeded",
    value,
  });
  return {
    flow,
    labels,
    optionOf,
    consider: (moment: Parameters<typeof flow.consider>[0]["moment"], option?: CallOption) =>
      flow.consider({ moment, option }, run(), memory, new Map()),
    call,
    set: (changes: Partial<State>) => {
      q = { ...q, ...changes };
    },
    say: (text: string) => remember({ at: 0, kind: "registered", text: { source: "instruction", value: text } }),
    remember,
    /** Sends a call, releases its result as the obligation says, and returns that label. */
    exchange(tool: ToolContract, values: JsonObject, value: Json, how: "pass" | "withhold" = "pass", failed = false) {
      const option = optionOf(tool, values);
      const opinion = flow.consider(
        { moment: releaseMoment(tool, option, { failed, value }), option: undefined },
        run(),
        memory,
        new Map(),
      );
      const found = opinion.kind === "settled" ? opinion.obligations[0] : undefined;
      const label = found?.kind === "label" ? found : { range: exactly(open), fields: [] };
      const event = { at: 0, call: `c${calls}`, server: tool.server, tool: tool.tool };
      remember({
        ...event,
        kind: "dispatched",
        method: "tools/call",
        option,
        arguments: values,
        digest: digest(values),
      });
      const scope = resultScope(tool);
      const held = how === "pass" ? { value } : {};
      remember({ ...event, kind: "released", how, label: label.range, fields: label.fields, scope, ...held });
      if (how === "pass") q = { ...q, context: joinRanges(q.context, label.range) };
      return label;
    },
    /** Label of text that belongs to no call. */
    message(tool: ToolContract) {
      const opinion = flow.consider(
        { moment: releaseMoment(tool, undefined, { failed: false, value: null }), option: undefined },
        run(),
        memory,
        new Map(),
      );
      const found = opinion.kind === "settled" ? opinion.obligations[0] : undefined;
      return found?.kind === "label" ? found.range : undefined;
    },
  };
}
