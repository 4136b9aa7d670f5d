/**
 * Contracts of messages other than tool calls (channel table of gateway.md 2), and of the client's own tools.
 * Data that reaches a server is a send wherever it travels; an unknown method is the worst case.
 */
import type { ArgumentContract, Role, ToolContract } from "../../core/contract.ts";
import { type EffectRange, everyEffect } from "../../core/effect.ts";
import { type LabelRange, join, trustOf, unknownRange } from "../../core/label.ts";
import { assemble, evidenceOf } from "./contracts.ts";
import { memoryOf } from "./enclosed.ts";
import { hostTools } from "./host-tools.ts";
import { type LabelTable, type ServerFacts, serverFacts } from "../ir/label-table.ts";

type MethodFacts = {
  readonly base: "read" | "write" | "none";
  readonly roles: { readonly [argument: string]: Role };
  readonly rest: Role;
  /** Answers of the user or of the operator's own settings: no control argument, nothing chosen by the model. */
  readonly answer?: true;
};

const read = (roles: MethodFacts["roles"], rest: Role = "query"): MethodFacts => ({ base: "read", roles, rest });

const methods: { readonly [method: string]: MethodFacts } = {
  "resources/read": read({ uri: "destination" }),
  "resources/subscribe": read({ uri: "destination" }),
  "resources/unsubscribe": read({ uri: "destination" }),
  "subscriptions/listen": read({ uri: "destination" }),
  "prompts/get": read({ name: "identifier" }),
  "completion/complete": read({ ref: "identifier", argument: "query", context: "query" }),
  "elicitation/create": { base: "write", roles: {}, rest: "content", answer: true },
  "sampling/createMessage": { base: "write", roles: {}, rest: "content", answer: true },
  "roots/list": { base: "none", roles: {}, rest: "content", answer: true },
  "tasks/get": read({ taskId: "identifier" }, "identifier"),
  "tasks/result": read({ taskId: "identifier" }, "identifier"),
  "tasks/list": read({}),
  "tasks/cancel": read({ taskId: "identifier" }, "identifier"),
  "tasks/update": { base: "write", roles: { taskId: "identifier" }, rest: "content", answer: true },
  "notifications/progress": { base: "none", roles: {}, rest: "content" },
  "notifications/message": { base: "none", roles: {}, rest: "content" },
  "notifications/cancelled": { base: "none", roles: {}, rest: "content" },
  "logging/setLevel": { base: "none", roles: {}, rest: "query" },
  ping: { base: "none", roles: {}, rest: "query" },
};

/** Methods with a row of their own; every other one is worst case. */
export const knownMethods: readonly string[] = Object.keys(methods);

export function contractOfMethod(table: LabelTable, server: string, method: string): ToolContract {
  const facts = serverFacts(table, server);
  const process = table.processes.get(server)?.process;
  const reach = facts.reach ?? packReach(table, facts) ?? (process === undefined ? undefined : "local");
  const memory = memoryOf(table, server);
  const stores = memory === undefined ? [] : [memory];
  const row = Object.hasOwn(methods, method) ? methods[method] : undefined;
  const base = {
    server,
    tool: method,
    toolDigest: undefined,
    source: row === undefined ? ("unknown" as const) : ("operator" as const),
    cases: [],
    reads: stores,
    writes: stores,
    opens: [],
    output: { label: resultRange(table, facts), fields: [] },
    ...(process === undefined ? {} : { process }),
  };
  const seen = reach === "local" ? undefined : [facts.operator ?? "anyone"];
  const argument = (role: Role): ArgumentContract => methodArgument(table, role, seen);
  if (row === undefined) {
    return {
      ...base,
      effects: {
        must: [],
        may: reach === "local" ? everyEffect.filter((effect) => effect.includes(".local")) : everyEffect,
      },
      flags: { irreversible: true, openWorld: reach !== "local" },
      arguments: new Map(),
      rest: argument("query"),
      consequential: true,
    };
  }
  const rest = argument(row.rest);
  return {
    ...base,
    effects: effectsOf(row, reach),
    flags: { irreversible: false, openWorld: reach !== "local" },
    arguments: new Map(Object.entries(row.roles).map(([name, role]) => [name, argument(role)])),
    rest,
    consequential: row.base === "write" || (row.base === "read" && rest.sink),
    ...(row.answer === true ? { answers: true as const } : {}),
  };
}

function packReach(table: LabelTable, facts: ServerFacts): "local" | "network" | undefined {
  return facts.pack === undefined ? undefined : table.packs.get(facts.pack)?.reach;
}

function effectsOf(row: MethodFacts, reach: "local" | "network" | undefined): EffectRange {
  if (row.base === "none") return { must: [], may: [] };
  const effect = `${row.base}.${reach === "local" ? "local" : "external"}`;
  return { must: [effect], may: [effect] };
}

function resultRange(table: LabelTable, facts: ServerFacts): LabelRange {
  const { lattice } = table.labels;
  const range = unknownRange(lattice);
  return facts.trust === "untrusted" ? { lo: join(range.lo, trustOf(lattice, lattice.top)), hi: range.hi } : range;
}

function methodArgument(table: LabelTable, role: Role, seen: readonly string[] | undefined): ArgumentContract {
  const { labels } = table;
  const audience = seen === undefined ? [] : role === "destination" ? [...new Set([...seen, "anyone"])] : seen;
  const sink = audience.length > 0;
  return {
    role,
    sink,
    audience: labels.groupBits(audience, []),
    forbidden: sink ? labels.forbidden(undefined, audience, []) : labels.lattice.bottom,
    schemaValues: [],
  };
}

/**
 * A tool of the client itself, reported by a hook. The client is not the adversary (gateway.md 4), so what its vendor
 * documents of its tools is believed; a tool that is not in the list is the worst case.
 */
export function contractOfHostTool(table: LabelTable, client: string, tool: string): ToolContract {
  const server = `host:${client}`;
  const evidence = evidenceOf(table, { server, tool, listed: { name: tool }, toolDigest: undefined });
  const known = hostTools(table.labels, client, tool);
  const believed =
    known === undefined ? evidence.believed : [...evidence.believed, { source: "pack" as const, statement: known }];
  return assemble(table, { ...evidence, believed }, { server, tool, toolDigest: undefined });
}
