/**
 * Lists on their way to the client: strings are admitted, entries are exposed or hidden by the same function that
 * judges calls. Verdicts are kept by (state, list, policy) and recomputed only when a digest changes.
 */
import type { ToolContract } from "../core/contract.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { isObject, member, stringMember } from "../core/json.ts";
import type { Verdict } from "../core/verdict.ts";
import { errorCodes, errorMessage } from "../wire/errors.ts";
import { perRequestKeys } from "../wire/meta.ts";
import { runCache } from "../wire/modern.ts";
import type { Admission } from "./admissions.ts";
import { admitList } from "./admit.ts";
import { isObserved } from "./call.ts";
import type { Catalogue, ListMethod, ListState, Page } from "./catalogue.ts";
import { entriesMember, entriesOf, usedBy } from "./catalogue.ts";
import { appendBatch, Batch } from "./journal.ts";
import { listWaitMsMax } from "./limits.ts";
import { plainSignature } from "./list-watch.ts";
import type { LiveRun } from "./live-run.ts";
import type { ListedTool, Shortlist } from "../core/regulation-view.ts";
import type { LoadedPolicy } from "./policy-port.ts";
import { consentMetaKey } from "./meta.ts";
import type { Exchange } from "./ports.ts";
import type { Answered, Scene } from "./scene.ts";
import { isModern } from "./scene.ts";

/** What a run is shown of a list. */
type Showing = {
  readonly verdicts: readonly Verdict[];
  /** Entries that the task needs, where the run has a shortlist; the others are left out and stay callable. */
  readonly shortlist: Shortlist | undefined;
  /** Equal signatures, equal lists; `plainSignature` where everything is shown as it is. */
  readonly signature: string;
};

const everything: Showing = { verdicts: [], shortlist: undefined, signature: plainSignature };

export class Lists<Q> {
  readonly #scene: Scene<Q>;
  readonly #catalogue: Catalogue<Q>;
  /** Called with the signature of each list that the client is shown. */
  readonly #onShown: (live: LiveRun<Q>, method: ListMethod, signature: string) => void;

  /** The entries of the newest list, measured once. */
  #measured: { readonly entries: readonly Json[]; readonly tools: readonly ListedTool[] } | undefined;

  #admitted: { state: ListState; policy: LoadedPolicy<Q>; epoch: number; admission: Admission } | undefined;

  constructor(
    scene: Scene<Q>,
    catalogue: Catalogue<Q>,
    onShown: (live: LiveRun<Q>, method: ListMethod, signature: string) => void,
  ) {
    this.#scene = scene;
    this.#catalogue = catalogue;
    this.#onShown = onShown;
  }

  /** Answers a list request from the server's answer to it, or from a page drained before. */
  async answer(exchange: Exchange, live: LiveRun<Q>, relayed: () => Promise<Answered>): Promise<Answered> {
    const { request } = exchange;
    const method = request.method as ListMethod; // the mediator routes only list methods here
    const cursor = stringMember(request.params, "cursor");
    const known = this.#catalogue.known(method);
    if (cursor !== undefined) {
      const state = known ?? (await this.drain(method, request.params));
      const page = state?.pages.find((one) => one.cursor === cursor);
      if (state === undefined || page === undefined) {
        // The server may say no in its own words; what it lists under a cursor that admission never saw is not shown.
        const answer = await relayed();
        if (answer.kind === "error") return answer;
        return errorMessage(request.id, errorCodes.invalidParams, "Unknown cursor. Start the list again.");
      }
      return this.#show(live, state, page, { kind: "response", id: request.id, result: page.result });
    }
    const first = await relayed();
    if (first.kind === "error" || !isObject(first.result)) return first;
    const state = await this.#catalogue.accept(method, first.result, this.#nextPage(method, request.params));
    const page = state?.pages[0];
    if (state === undefined || page === undefined) {
      const text = `The list of \`${this.#scene.server}\` has no end, broke off or is no list. Ask the operator to check the server.`;
      return errorMessage(request.id, errorCodes.internalError, text);
    }
    return this.#show(live, state, page, first);
  }

  /** Fetches a list for the gateway itself: contracts are needed before the first call. */
  async drain(method: ListMethod, params: JsonObject | undefined): Promise<ListState | undefined> {
    const first = await this.#scene.askServer(method, protocolOnly(params), { ms: listWaitMsMax });
    if (first?.kind !== "response" || !isObject(first.result)) return undefined;
    return this.#catalogue.accept(method, first.result, this.#nextPage(method, params));
  }

  /** The admission of the list that a call relies on; a list that cannot be had admits nothing and forbids nothing. */
  admission(live: LiveRun<Q>, state: ListState): Admission | Promise<Admission> {
    const last = this.#admitted;
    // Every call passes here: the last answer is kept beside its question, so that nothing is hashed or joined.
    const { epoch } = this.#scene.admissions;
    if (last?.state === state && last.policy === live.policy && last.epoch === epoch) return last.admission;
    const contracts = this.#contracts(live, state);
    const admission = admitList(this.#scene, live, { state, contracts, what: state.method });
    if (!(admission instanceof Promise)) this.#admitted = { state, policy: live.policy, epoch, admission };
    return admission;
  }

  #nextPage(method: ListMethod, params: JsonObject | undefined) {
    return async (cursor: string): Promise<JsonObject | undefined> => {
      const answer = await this.#scene.askServer(method, { ...protocolOnly(params), cursor }, { ms: listWaitMsMax });
      return answer?.kind === "response" && isObject(answer.result) ? answer.result : undefined;
    };
  }

  async #show(live: LiveRun<Q>, state: ListState, page: Page, message: Answered): Promise<Answered> {
    const admission = await this.admission(live, state);
    const id = message.id ?? 0;
    const name = entriesMember[state.method];
    // A list that depends on the run must not be kept for others, nor for long.
    const caching = isModern(this.#scene) ? runCache : {};
    if (admission.kind === "quarantined") {
      // Nothing that the server wrote beside the entries either: nobody has admitted it.
      const resultType = page.result["resultType"] === undefined ? {} : { resultType: "complete" };
      return { kind: "response", id, result: { ...resultType, [name]: [], ...caching } };
    }
    const showing = await this.#showing(live, state);
    this.#onShown(live, state.method, showing.signature);
    this.#record(live, state, showing);
    const start = startOf(state, page);
    const entries = entriesOf(state.method, page.result);
    const verdicts = showing.verdicts.slice(start, start + entries.length);
    const { shortlist } = showing;
    if (verdicts.every((verdict) => verdict === "allow") && shortlist === undefined) {
      const kept = { ...page.result, ...caching };
      return live.policy.regulated && isModern(this.#scene) ? { kind: "response", id, result: kept } : message;
    }
    const shown = entries.flatMap((entry, index) => {
      const verdict = verdicts[index] ?? "deny";
      if (verdict === "deny" || shortlist?.shown.has(start + index) === false) return [];
      return [verdict === "confirm" ? marked(entry) : entry];
    });
    return { kind: "response", id, result: { ...page.result, [name]: shown, ...caching } };
  }

  /** What the run would be shown of a list now, as a signature; undefined when the list is not known. */
  async signature(live: LiveRun<Q>, method: ListMethod): Promise<string | undefined> {
    const state = this.#catalogue.known(method);
    if (state === undefined) return undefined;
    const admission = await this.admission(live, state);
    // Who leaves quarantine is told by the ruling.
    return admission.kind === "quarantined" ? undefined : (await this.#showing(live, state)).signature;
  }

  async #showing(live: LiveRun<Q>, state: ListState): Promise<Showing> {
    const { server, exposures } = this.#scene;
    if (isObserved(live, server)) return everything;
    const contracts = this.#contracts(live, state);
    const verdicts = await exposures.of({ live, server, state, contracts });
    const shortlist = state.method === "tools/list" ? this.#shortlist(live, state, verdicts) : undefined;
    const plain = shortlist === undefined && verdicts.every((verdict) => verdict === "allow");
    const letters = verdicts.map((verdict, index) => (shortlist?.shown.has(index) === false ? "-" : verdict[0]));
    return { verdicts, shortlist, signature: plain ? plainSignature : letters.join("") };
  }

  /** Of the tools that may be shown, those that the task needs; indices are those of the list. */
  #shortlist(live: LiveRun<Q>, state: ListState, verdicts: readonly Verdict[]): Shortlist | undefined {
    if (!live.policy.regulated) return undefined;
    const open = this.#tools(state).flatMap((tool, index) => (verdicts[index] === "deny" ? [] : [{ tool, index }]));
    const found = live.policy.shortlist(
      live.state,
      open.map(({ tool }) => tool),
    );
    if (found === undefined) return undefined;
    return { ...found, shown: new Set(open.flatMap(({ index }, place) => (found.shown.has(place) ? [index] : []))) };
  }

  #tools({ entries }: ListState): readonly ListedTool[] {
    if (this.#measured?.entries !== entries)
      this.#measured = { entries, tools: entries.map((entry) => listedTool(this.#scene.server, entry)) };
    return this.#measured.tools;
  }

  /** That a run is shown another list than before goes on record: what an agent could choose from explains what it chose. */
  #record(live: LiveRun<Q>, { method, entries }: ListState, { verdicts, shortlist, signature }: Showing): void {
    const { server, services, lists } = this.#scene;
    if (method === "tools/list") live.tokensSaved.set(server, shortlist?.tokensSaved ?? 0);
    if (!lists.shown({ live, server, method, signature })) return;
    const count = (which: Verdict): number => verdicts.filter((verdict) => verdict === which).length;
    const saved = shortlist === undefined ? {} : { tokensSaved: shortlist.tokensSaved };
    const counts = { entries: entries.length, hidden: count("deny"), asked: count("confirm"), ...saved };
    const batch = new Batch<Q>();
    batch.parts.push({ live, events: [] });
    void appendBatch(services.log, batch, { notes: { moment: "expose", server, method, ...counts } });
  }

  #contracts(live: LiveRun<Q>, state: ListState): readonly ToolContract[] {
    if (state.method !== "tools/list") {
      const contract = this.#catalogue.contractOfMethod(live.policy, usedBy[state.method]);
      return state.entries.map(() => contract);
    }
    return state.entries.map((entry) => this.#catalogue.contractOfTool(live.policy, stringMember(entry, "name") ?? ""));
  }
}

function listedTool(server: string, entry: Json): ListedTool {
  const name = stringMember(entry, "name") ?? "";
  const description = stringMember(entry, "description") ?? stringMember(entry, "title") ?? "";
  return { server, name, description, bytes: new TextEncoder().encode(JSON.stringify(entry)).length };
}

/** Where a page begins within the whole list. */
function startOf(state: ListState, page: Page): number {
  let start = 0;
  for (const other of state.pages) {
    if (other === page) break;
    start += entriesOf(state.method, other.result).length;
  }
  return start;
}

/** The mark goes into `_meta` only: touching a description would change digests and what the model reads. */
function marked(entry: Json): Json {
  if (!isObject(entry)) return entry;
  const found = member(entry, "_meta");
  const meta = isObject(found) ? found : {};
  return { ...entry, _meta: { ...meta, [consentMetaKey]: true } };
}

/** What a request of the gateway needs of a client's one: version and capabilities of the modern era. */
export function protocolOnly(params: JsonObject | undefined): JsonObject | undefined {
  const meta = params?.["_meta"];
  if (!isObject(meta)) return undefined;
  const kept = Object.entries(meta).filter(([name]) => perRequestKeys.includes(name));
  return kept.length === 0 ? undefined : { _meta: Object.fromEntries(kept) };
}
