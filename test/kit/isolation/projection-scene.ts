// Orders, traces and calls for tests of the mechanism `projection`, written in one line.
import type { ToolContract } from "../../../src/core/contract.ts";
import {
  type EffectEvent,
  type EffectTrace,
  type WorkspaceChange,
  traceQuestion,
} from "../../../src/core/isolation/effect-trace.ts";
import { traceJson } from "../../../src/core/isolation/effect-record.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Answer, Answers } from "../../../src/core/opinion.ts";
import type { IsolationOrder, Scope, ToolScope } from "../../../src/core/isolation/scope.ts";
import { type Grounds, groundsOf } from "../../../src/mechanisms/projection/grounds.ts";
import { calledOf } from "../../../src/mechanisms/projection/call-scope.ts";
import { narrowScope } from "./isolation-order.ts";
import { argument, contract, lattice, option } from "../policy/scene.ts";
import type { ModelState, Run } from "../../../src/core/run.ts";

export const workspace = "/home/ana/work";

/** A run for mechanisms that do not look at its state. */
export const run: Run = { key: "r", q: {} as ModelState, memories: new Map() };

type ScopePart = {
  readonly files?: Partial<Scope["files"]>;
  readonly workspace?: Partial<Scope["files"]["workspace"]>;
  readonly net?: Partial<Scope["net"]>;
  readonly exec?: Partial<Scope["exec"]>;
  readonly tools?: Readonly<Record<string, Partial<ToolScope>>>;
} & Partial<Pick<Scope, "sockets" | "trace" | "serial" | "onViolation">>;

export function scopeOf(part: ScopePart = {}): Scope {
  const { files, net, exec, tools = {}, workspace: place, ...rest } = part;
  const none: ToolScope = { read: [], write: [], allow: [], programs: [] };
  return {
    ...narrowScope,
    files: { ...narrowScope.files, ...files, workspace: { ...narrowScope.files.workspace, ...place } },
    net: { mode: "list", allow: ["api.example.com:443"], callBytesMax: 1, serverBytesMax: 1, ...net },
    exec: { mode: "list", programs: ["git"], ...exec },
    tools: new Map(Object.entries(tools).map(([name, one]) => [name, { ...none, ...one }])),
    ...rest,
  };
}

export function orderOf(part: ScopePart = {}, mode: IsolationOrder["mode"] = "auto"): IsolationOrder {
  return { server: "s", mode, require: "none", scope: scopeOf(part), digest: "order" };
}

export function event(part: Partial<EffectEvent> & Pick<EffectEvent, "action">): EffectEvent {
  return { sequence: 1, at: 1, outcome: "success", grade: "hint", phase: "call", count: 1, ...part };
}

export function change(path: string, part: Partial<WorkspaceChange> = {}): WorkspaceChange {
  return { path, kind: "modified", bytes: 1, guarded: false, ...part };
}

export function traceOf(part: Partial<EffectTrace> = {}): EffectTrace {
  return {
    tier: "A",
    complete: true,
    dropped: 0,
    places: {
      home: "/home/ana",
      workspace: [workspace],
      code: ["/opt/server", "/usr", "/opt/node/bin/node"],
      scratch: ["/tmp", "/home/ana/.cache/own"],
    },
    events: [],
    changes: [],
    ...part,
  };
}

const path = argument("path", false);

/** A tool with a path, and everything else that the policy says of it. */
export function tool(part: Partial<ToolContract> & { does?: readonly string[] } = {}): ToolContract {
  return contract("t", { does: ["read.local"], arguments: new Map([["path", path]]), ...part });
}

/** Grounds of a call with these arguments; trusted ones. */
export function grounds(trace: EffectTrace, order = orderOf(), of = tool(), given: JsonObject = {}): Grounds {
  return groundsOf(order, trace, calledOf(order, { option: option(of), arguments: given }, lattice));
}

/** The answer that the gateway gives about a call, or about what happened between calls. */
export function evidence(trace: EffectTrace, call: string | undefined = "c"): Answers {
  const question = traceQuestion("gateway", "s", call);
  const answer: Answer = { kind: "known", question, value: traceJson(trace) };
  return new Map([[question.key, answer]]);
}
