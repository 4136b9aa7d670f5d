/**
 * The lists of a server: drained completely, because admission and contracts need all of it, whatever page the client
 * is at. A list that comes again unchanged keeps its digest and everything that was derived from it.
 */
import type { RunningProcess, ToolContract } from "../../core/contract.ts";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { digest } from "../../wire/canonical.ts";
import { contractsMax, listedContractsMax, listEntriesMax, listPagesMax } from "../ports/limits.ts";
import type { LoadedPolicy } from "../ports/policy.ts";
import { sameJson } from "../runs/same-json.ts";

export type ListMethod = "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list";

/** Member of the result that holds the entries. */
export const entriesMember: Readonly<Record<ListMethod, string>> = {
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
};

/** The method by which an entry of the list is used; its contract decides what is shown. */
export const usedBy: Readonly<Record<ListMethod, string>> = {
  "tools/list": "tools/call",
  "prompts/list": "prompts/get",
  "resources/list": "resources/read",
  "resources/templates/list": "resources/read",
};

export function isListMethod(method: string): method is ListMethod {
  return Object.hasOwn(entriesMember, method);
}

export type Page = { readonly cursor: string | undefined; readonly result: JsonObject };

export type ListState = {
  readonly method: ListMethod;
  readonly pages: readonly Page[];
  readonly entries: readonly Json[];
  readonly digest: string;
};

/** Asks the server for the page at a cursor; undefined when it does not answer with a list. */
export type NextPage = (cursor: string) => Promise<JsonObject | undefined>;

/** A policy's contracts of one server: of tools that it lists, and of methods and names that it does not list. */
type Contracts = { readonly listed: Map<string, ToolContract>; readonly others: Map<string, ToolContract> };

export class Catalogue {
  readonly #server: string;
  readonly #hash: (text: string) => string;
  readonly #running: () => RunningProcess | undefined;
  readonly #lists = new Map<ListMethod, ListState>();
  /** How often the server said that a list changed, and how often it had when the list that is known was asked for. */
  readonly #changes = new Map<ListMethod, number>();
  readonly #seen = new Map<ListMethod, number>();
  #tools = new Map<string, JsonObject>();
  /** By policy digest and running process; dropped when the list changes. */
  #contracts = new Map<string, Contracts>();
  #listedContracts = 0;

  /** `running`: how the process of the server runs at this moment; contracts are believed of no other. */
  constructor(
    server: string,
    hash: (text: string) => string,
    running: () => RunningProcess | undefined = () => undefined,
  ) {
    this.#server = server;
    this.#hash = hash;
    this.#running = running;
  }

  /** The list if it is known and the server has not said that it changed. */
  known(method: ListMethod): ListState | undefined {
    return this.#seen.get(method) === this.#changesOf(method) ? this.#lists.get(method) : undefined;
  }

  changed(method: ListMethod): void {
    this.#changes.set(method, this.#changesOf(method) + 1);
  }

  #changesOf(method: ListMethod): number {
    return this.#changes.get(method) ?? 0;
  }

  /**
   * Takes a first page, drains the rest, and keeps the result; undefined when the server's list has no end, or a page
   * of it is no list.
   */
  async accept(method: ListMethod, first: JsonObject, next: NextPage): Promise<ListState | undefined> {
    const changes = this.#changesOf(method);
    if (!isPage(method, first)) return undefined;
    const pages: Page[] = [{ cursor: undefined, result: first }];
    const entries: Json[] = [...entriesOf(method, first)];
    const seen = new Set<string>();
    for (let cursor = stringMember(first, "nextCursor"); cursor !== undefined;) {
      if (seen.has(cursor) || pages.length >= listPagesMax || entries.length > listEntriesMax) return undefined;
      seen.add(cursor);
      const result = await next(cursor);
      if (result === undefined || !isPage(method, result)) return undefined;
      pages.push({ cursor, result });
      for (const entry of entriesOf(method, result)) entries.push(entry);
      cursor = stringMember(result, "nextCursor");
    }
    // Whatever changed meanwhile may be missing in a page that had come already.
    this.#seen.set(method, changes);
    return this.#keep(method, pages, entries);
  }

  tool(name: string): JsonObject | undefined {
    return this.#tools.get(name);
  }

  /** The contract of a tool under a policy; a tool that is not listed is believed nothing of. */
  contractOfTool(policy: LoadedPolicy, name: string): ToolContract {
    const running = this.#running();
    const { listed, others } = this.#remembered(policy);
    const entry = this.#tools.get(name);
    const make = (tool: JsonObject): ToolContract => policy.contractOfTool(this.#server, tool, undefined, running);
    if (entry === undefined) return kept(others, `tool ${name}`, () => make({ name }));
    const known = listed.get(name);
    if (known !== undefined) return known;
    const made = make(entry);
    if (this.#listedContracts < listedContractsMax) {
      this.#listedContracts += 1;
      listed.set(name, made);
    }
    return made;
  }

  /** Names of all entries of a list; undefined while it is not known. */
  names(method: ListMethod): readonly string[] | undefined {
    return this.#lists.get(method)?.entries.flatMap((entry) => stringMember(entry, "name") ?? []);
  }

  /** Contracts of all tools that are listed now. */
  listed(policy: LoadedPolicy): readonly ToolContract[] {
    return [...this.#tools.keys()].map((name) => this.contractOfTool(policy, name));
  }

  contractOfMethod(policy: LoadedPolicy, method: string): ToolContract {
    const running = this.#running();
    const { others } = this.#remembered(policy);
    return kept(others, `method ${method}`, () => policy.contractOfMethod(this.#server, method, running));
  }

  /** Tier and order of the running process as one text: what was judged of its contracts holds while it is the same. */
  get process(): string {
    const running = this.#running();
    return running === undefined ? "" : `${running.tier} ${running.order}`;
  }

  #remembered(policy: LoadedPolicy): Contracts {
    const key = `${policy.digest} ${this.process}`;
    const known = this.#contracts.get(key);
    if (known !== undefined) return known;
    // Only the newest policy matters for long; older ones end with the runs that still use them.
    if (this.#contracts.size >= 8) this.#forget();
    const made = { listed: new Map(), others: new Map() };
    this.#contracts.set(key, made);
    return made;
  }

  #forget(): void {
    this.#contracts = new Map();
    this.#listedContracts = 0;
  }

  #keep(method: ListMethod, pages: readonly Page[], entries: readonly Json[]): ListState {
    const old = this.#lists.get(method);
    const same = old !== undefined && sameJson(old.entries, entries);
    // Derived values are found by their entries, so entries that come again unchanged stay the same objects.
    const state = same ? { ...old, pages } : { method, pages, entries, digest: digest([...entries], this.#hash) };
    this.#lists.set(method, state);
    if (method !== "tools/list" || same) return state;
    this.#tools = new Map();
    this.#forget();
    for (const entry of entries) {
      const name = stringMember(entry, "name");
      // The first of two tools with one name is the one that most clients call; the second is dropped from calls.
      if (name !== undefined && isObject(entry) && !this.#tools.has(name)) this.#tools.set(name, entry);
    }
    return state;
  }
}

function kept(others: Map<string, ToolContract>, name: string, make: () => ToolContract): ToolContract {
  const known = others.get(name);
  if (known !== undefined) return known;
  const made = make();
  if (others.size < contractsMax) others.set(name, made);
  return made;
}

/** Text in place of a list would be no entry, and so reach the client without a look. */
function isPage(method: ListMethod, result: JsonObject): boolean {
  return isArray(member(result, entriesMember[method]));
}

export function entriesOf(method: ListMethod, result: JsonObject): readonly Json[] {
  const entries = member(result, entriesMember[method]);
  return isArray(entries) ? entries : [];
}
