/** Concrete arguments for a class of calls: they satisfy its truths and its key, and carry what it is said to carry. */
import type { ToolContract } from "../../src/core/contract.ts";
import { type Json, type JsonObject, isArray, isObject, member } from "../../src/core/json.ts";
import { classify } from "../../src/policy/semantics/classify.ts";
import { type KeySpec, workspacePredicate } from "../../src/policy/ir/ir.ts";
import { slotsOf } from "../../src/policy/semantics/monitors.ts";
import { relevance } from "../../src/policy/semantics/relevance.ts";
import { canonicalKeys } from "../../src/policy/values/canonical-value.ts";
import { pointerValue } from "../../src/policy/values/pointer.ts";
import type { KeyRelation } from "../../src/proof/prove/classes.ts";
import type { Subject } from "../../src/proof/prove/subject.ts";
import { carrying, fromTraces, plainCandidates, workspace } from "./candidates.ts";

export type Wanted = {
  readonly contract: ToolContract;
  readonly truths: ReadonlyMap<number, boolean>;
  /** Texts that an argument has to hold, by name; the name "" is any that the contract does not list. */
  readonly carried: ReadonlyMap<string, readonly string[]>;
  readonly key: { readonly spec: KeySpec; readonly relation: KeyRelation } | undefined;
};

export class Arguments {
  readonly #subject: Subject;
  readonly #listed: (server: string, tool: string) => JsonObject | undefined;
  /** Keys of the thing that the counterexample follows, once a call has named it. */
  #followed: readonly string[] | undefined;
  readonly #others = new Set<string>();

  constructor(subject: Subject, listed: (server: string, tool: string) => JsonObject | undefined) {
    this.#subject = subject;
    this.#listed = listed;
  }

  /** Truths of a concrete call, of the predicates that are asked for. */
  truths(contract: ToolContract, given: JsonObject, predicates: readonly number[]): ReadonlyMap<number, boolean> {
    const { ir } = this.#subject.policy;
    const frame = { ir, slots: slotsOf(ir) };
    const relevant = { ...relevance(frame)(contract), predicates };
    const moment = { kind: "call", at: 0, call: "c", method: "tools/call", contract, arguments: given } as const;
    return classify(frame, relevant, { ...moment, workspace: [workspace], digest: "" }).truths;
  }

  find(wanted: Wanted): JsonObject {
    const { contract, truths, carried } = wanted;
    const schema = member(this.#listed(contract.server, contract.tool), "inputSchema");
    const named = [...this.#mentioned(wanted), ...carried.keys(), ...requiredOf(schema)];
    const found: Record<string, Json> = {};
    for (const name of new Set(named)) {
      const value = this.#valueOf(wanted, name, schema);
      if (value !== undefined) found[name === "" ? freeName(contract, schema) : name] = value;
    }
    if (truths.get(workspacePredicate) === false && this.truths(contract, found, [workspacePredicate]).get(0) === true)
      Object.assign(found, this.#outside(wanted, schema));
    const real = this.truths(contract, found, [...truths.keys()]);
    for (const [index, truth] of truths) {
      if (real.get(index) !== truth) throw new Error(this.#told(wanted, index));
    }
    return found;
  }

  /** Arguments by their top-level names that the truths and the key speak of. */
  #mentioned({ truths, key }: Wanted): readonly string[] {
    const places = [...truths.keys()].flatMap((index) => {
      const predicate = this.#subject.policy.ir.predicates[index];
      return predicate?.kind === "argument" ? [predicate.argument] : [];
    });
    return [...places, ...(key === undefined ? [] : [key.spec.argument])].map(topName);
  }

  #valueOf(wanted: Wanted, name: string, schema: Json | undefined): Json | undefined {
    const { contract, carried, key } = wanted;
    const own = member(member(schema, "properties"), name);
    const secrets = carried.get(name);
    const plain = [
      ...fromTraces(this.#subject.policy, contract.tool, name),
      ...plainCandidates(own, this.#testsOf(wanted, name)),
    ];
    const values = secrets === undefined ? plain : carrying(plain, secrets, own);
    const needed = secrets !== undefined || requiredOf(schema).includes(name);
    const candidates: readonly (Json | undefined)[] = needed ? values : [undefined, ...values];
    const fits = candidates.findIndex((value) => this.#fits(wanted, name, value));
    if (fits < 0) throw new Error(this.#told(wanted, undefined, name));
    const chosen = candidates[fits];
    if (key !== undefined && topName(key.spec.argument) === name) {
      const keys = keysOf(key.spec, chosen === undefined ? {} : { [name]: chosen });
      if (key.relation === "same") this.#followed ??= keys;
      if (key.relation === "other") for (const one of keys ?? []) this.#others.add(one);
    }
    return chosen;
  }

  #testsOf({ truths }: Wanted, name: string) {
    return [...truths.keys()].flatMap((index) => {
      const predicate = this.#subject.policy.ir.predicates[index];
      return predicate?.kind === "argument" && topName(predicate.argument) === name ? [predicate.test] : [];
    });
  }

  #fits({ contract, truths, key }: Wanted, name: string, value: Json | undefined): boolean {
    const given = value === undefined ? {} : { [name]: value };
    const about = [...truths].filter(([index]) => {
      const predicate = this.#subject.policy.ir.predicates[index];
      return predicate?.kind === "argument" && topName(predicate.argument) === name;
    });
    const path = (contract.arguments.get(name) ?? contract.rest).role === "path";
    const mustBeInside = path && truths.get(workspacePredicate) === true;
    const real = this.truths(contract, given, [workspacePredicate, ...about.map(([index]) => index)]);
    if (about.some(([index, truth]) => real.get(index) !== truth)) return false;
    if (mustBeInside && real.get(workspacePredicate) === false) return false;
    if (key === undefined || topName(key.spec.argument) !== name) return true;
    const keys = keysOf(key.spec, given);
    if (key.relation === "unreadable") return keys === undefined;
    if (keys === undefined) return false;
    if (key.relation === "other") return !keys.some((one) => this.#followed?.includes(one));
    if (this.#followed === undefined) return !keys.some((one) => this.#others.has(one));
    return JSON.stringify(keys) === JSON.stringify(this.#followed);
  }

  /** One path that leads outside, in the first argument that admits one. */
  #outside(wanted: Wanted, schema: Json | undefined): JsonObject {
    for (const [name, { role }] of wanted.contract.arguments) {
      if (role !== "path" || wanted.carried.has(name)) continue;
      const listed = fromTraces(this.#subject.policy, wanted.contract.tool, name);
      const own = member(member(schema, "properties"), name);
      const value = [...listed, ...plainCandidates(own, this.#testsOf(wanted, name))].find((one) => {
        const outside = this.truths(wanted.contract, { [name]: one }, [workspacePredicate]).get(0) === false;
        return outside && this.#fits(wanted, name, one);
      });
      if (value !== undefined) return { [name]: value };
    }
    return {};
  }

  #told({ contract, truths }: Wanted, index: number | undefined, name = ""): string {
    const { predicates } = this.#subject.policy.ir;
    const tests = (index === undefined ? [...truths.keys()] : [index])
      .filter((one) => {
        const predicate = predicates[one];
        return index !== undefined || (predicate?.kind === "argument" && topName(predicate.argument) === name);
      })
      .map((one) => `${truths.get(one)}: ${JSON.stringify(predicates[one]).slice(0, 400)}`);
    return `no value of the pool for ${contract.server}.${contract.tool} ${name} fits ${tests.join("; ")}`;
  }
}

function keysOf(spec: KeySpec, given: JsonObject): readonly string[] | undefined {
  return canonicalKeys(spec.form, pointerValue(given, spec.argument), { foldLocalPart: spec.foldLocalPart });
}

function topName(place: string): string {
  return place.startsWith("/") ? (place.slice(1).split("/")[0] ?? "") : place;
}

function requiredOf(schema: Json | undefined): readonly string[] {
  const required = member(schema, "required");
  return isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** A name that the contract does not list: one of the schema, or one that nobody knows. */
function freeName({ arguments: known }: ToolContract, schema: Json | undefined): string {
  const properties = member(schema, "properties");
  return Object.keys(isObject(properties) ? properties : {}).find((name) => !known.has(name)) ?? "remark";
}
