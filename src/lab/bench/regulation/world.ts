/** A scenario's policy behind the port of the gateway, with the contracts of its tools: the very code that `run` uses. */
import type { ToolContract } from "../../../core/contract.ts";
import { type JsonObject, stringMember } from "../../../core/json.ts";
import type { Engine } from "../../../core/mechanism.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import type { LoadedPolicy } from "../../../gateway/ports/policy.ts";
import { regulateId } from "../../../mechanisms/regulate/regulate.ts";
import type { PolicyDocument } from "../../../policy/canonical/policy-document.ts";
import { compiledFrom } from "../../../app/policy/named-policy.ts";
import { loadedPolicy } from "../../../app/policy/loaded-policy.ts";
import type { Guard, Oracle } from "./play.ts";
import type { Scenario, ScenarioTool } from "./scenario.ts";

export type World = Guard & { readonly policy: LoadedPolicy };

/** Additions to the policy of a scenario: world models to ask. */
export type Beside = { readonly oracle?: Oracle | undefined };

export function worldOf(scenario: Scenario, { oracle }: Beside = {}): Result<World, string> {
  const asked = oracle === undefined ? {} : { regulation: { models: { embedded: true } } };
  const tools = [...scenario.tools].map(([name, tool]) => listedTool(name, tool));
  const world = worldFrom(scenario.id, { ...scenario.policy, ...asked }, tools);
  return world.ok ? ok({ ...world.value, oracle }) : world;
}

export type Listed = { readonly server: string; readonly tool: JsonObject };

/** A policy document and the listed tools, as far as a decision needs them. */
export function worldFrom(name: string, policy: JsonObject, tools: readonly Listed[]): Result<World, string> {
  // The policy loader finds errors of a document; the type only gives its intended shape.
  const document = policy as unknown as PolicyDocument;
  const compiled = compiledFrom({ file: name, document });
  if (!compiled.ok) return err(`${name}: ${compiled.error}`);
  const loaded = loadedPolicy(compiled.value, name);
  if (loaded.startProblem !== undefined) return err(`${name}: no run may start: ${loaded.startProblem}`);
  const bare = { policy: loaded, engine: loaded.engine, contracts: new Map() };
  return ok(listed(bare, tools));
}

/** The same world with other tools in its list. */
export function listed(world: World, tools: readonly Listed[]): World {
  const contracts = tools.map(({ server, tool }): [string, ToolContract] => [
    `${server}.${stringMember(tool, "name") ?? ""}`,
    world.policy.contractOfTool(server, tool),
  ]);
  return { ...world, contracts: new Map(contracts) };
}

/** The tool as its server would list it. */
function listedTool(name: string, { about, takes }: ScenarioTool): Listed {
  const [server = "", tool = ""] = name.split(".");
  const properties = Object.fromEntries(takes.map((argument) => [argument, { type: "string" }]));
  const inputSchema = { type: "object", properties, required: takes };
  return { server, tool: { name: tool, description: about, inputSchema } };
}

/** The engine without regulation: rules, flow and automata alone. */
export function rulesOnly(engine: Engine): Engine {
  return { ...engine, mechanisms: engine.mechanisms.filter(({ id }) => id !== regulateId) };
}

export function withoutRegulation<G extends Guard>(guard: G): G {
  return { ...guard, engine: rulesOnly(guard.engine) };
}
