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
import type { Admission } from "./admissions.ts";
import { admitList } from "./admit.ts";
import { isObserved } from "./call.ts";
import type { Catalogue, ListMethod, ListState, Page } from "./catalogue.ts";
import { entriesMember, entriesOf, usedBy } from "./catalogue.ts";
import { judge } from "./judge.ts";
import { listWaitMsMax } from "./limits.ts";
import type { LiveRun } from "./live-run.ts";
import type { LoadedPolicy } from "./policy-port.ts";
import { consentMetaKey } from "./meta.ts";
import type { Exchange } from "./ports.ts";
import type { Answered, Scene } from "./scene.ts";
import { isModern } from "./scene.ts";

/** Verdicts of lists that are remembered. */
const exposuresMax = 32;

export class Lists<Q> {
  readonly #scene: Scene<Q>;
  readonly #catalogue: Catalogue<Q>;
  readonly #exposures = new Map<string, readonly Verdict[]>();

  #admitted: { state: ListState; policy: LoadedPolicy<Q>; epoch: number; admission: Admission } | undefined;

  constructor(scene: Scene<Q>, catalogue: Catalogue<Q>) {
    this.#scene = scene;
    this.#catalogue = catalogue;
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
      const text = `The list of \`${this.#scene.server}\` has no end or broke off. Ask the operator to check the server.`;
      return errorMessage(request.id, errorCodes.internalError, text);
    }
    return this.#show(live, state, page, first);
  }

  /** Fetches a list for the gateway itself: contracts are needed before the first call. */
  async drain(method: ListMethod, params: JsonObject | undefined): Promise<ListState | undefined> {
    const first = await this.#scene.askServer(method, protocolOnly(params), listWaitMsMax);
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
      const answer = await this.#scene.askServer(method, { ...protocolOnly(params), cursor }, listWaitMsMax);
      return answer?.kind === "response" && isObject(answer.result) ? answer.result : undefined;
    };
  }

  async #show(live: LiveRun<Q>, state: ListState, page: Page, message: Answered): Promise<Answered> {
    const admission = await this.admission(live, state);
    const id = message.id ?? 0;
    const name = entriesMember[state.method];
    if (admission.kind === "quarantined") {
      const { nextCursor: _cursor, ...rest } = page.result;
      return { kind: "response", id, result: { ...rest, [name]: [] } };
    }
    if (isObserved(live, this.#scene.server)) return message;
    const start = startOf(state, page);
    const entries = entriesOf(state.method, page.result);
    const verdicts = (await this.#exposed(live, state)).slice(start, start + entries.length);
    if (verdicts.every((verdict) => verdict === "allow")) return message;
    const shown = entries.flatMap((entry, index) => {
      const verdict = verdicts[index] ?? "deny";
      return verdict === "deny" ? [] : [verdict === "confirm" ? marked(entry) : entry];
    });
    // A list that depends on the run must not be kept for others, nor for long.
    const caching = isModern(this.#scene) ? { ttlMs: 0, cacheScope: "private" } : {};
    return { kind: "response", id, result: { ...page.result, [name]: shown, ...caching } };
  }

  /** A verdict for each entry of the whole list. */
  async #exposed(live: LiveRun<Q>, state: ListState): Promise<readonly Verdict[]> {
    const { policy } = live;
    const key = `${policy.digest} ${state.method} ${state.digest} ${policy.stateDigest(live.state, this.#scene.services.clock.monotonicMs())}`;
    const known = this.#exposures.get(key);
    if (known !== undefined) return known;
    const byContract = new Map<ToolContract, Verdict>();
    const verdicts: Verdict[] = [];
    for (const contract of this.#contracts(live, state)) {
      const verdict = byContract.get(contract) ?? (await this.#verdict(live, contract));
      byContract.set(contract, verdict);
      verdicts.push(verdict);
    }
    if (this.#exposures.size >= exposuresMax) this.#exposures.clear();
    this.#exposures.set(key, verdicts);
    return verdicts;
  }

  #verdict(live: LiveRun<Q>, contract: ToolContract): Verdict | Promise<Verdict> {
    const at = this.#scene.services.clock.monotonicMs();
    return judge(live, this.#scene.services.oracle, { kind: "expose", at, contract }, ({ verdict }) => verdict);
  }

  #contracts(live: LiveRun<Q>, state: ListState): readonly ToolContract[] {
    if (state.method !== "tools/list") {
      const contract = this.#catalogue.contractOfMethod(live.policy, usedBy[state.method]);
      return state.entries.map(() => contract);
    }
    return state.entries.map((entry) => this.#catalogue.contractOfTool(live.policy, stringMember(entry, "name") ?? ""));
  }
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
