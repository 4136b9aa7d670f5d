/**
 * The part of a server's lists that each run is shown: whether they are admitted, and which of their entries are
 * hidden.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { ListedTool, Shortlist } from "../../core/explain/regulation-view.ts";
import { type Json, isObject, stringMember } from "../../core/json.ts";
import type { Verdict } from "../../core/verdict.ts";
import type { Admission } from "../decision/admissions.ts";
import { isObserved } from "../decision/call.ts";
import type { LoadedPolicy } from "../ports/policy.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { type Catalogue, type ListMethod, type ListState, usedBy } from "../upstream/listed-tools.ts";
import { type AdmissionNeeds, admitList } from "./admission.ts";
import { type CardRefusalNeeds, cardRefusal } from "./card-refusal.ts";
import type { Exposures } from "./exposures.ts";
import { plainSignature } from "./list-signatures.ts";
import { type KeptBack, type Withheld, type WithheldNeeds, addressLists, withheldOf } from "./withheld-entries.ts";

type Needs = AdmissionNeeds & WithheldNeeds & CardRefusalNeeds & { readonly exposures: Exposures };

/** Why a call of what a server lists is refused, and the approval that would let it pass. */
export type KeptFromCalls = Omit<KeptBack, "code"> & {
  readonly code: "SG-QUARANTINED" | "SG-CARD-REFUSED" | KeptBack["code"];
};

/** The part of a list that a run is shown; without verdicts in observe mode, where all entries are shown. */
export type Showing = {
  readonly verdicts: readonly Verdict[];
  /** Entries that the task needs, where the run has a shortlist; the others are left out and stay callable. */
  readonly shortlist: Shortlist | undefined;
  /** Entries that are shown by their address alone, since the rest of them changed and is not accepted. */
  readonly bare: ReadonlySet<number>;
  /** Equal signatures, equal lists; `plainSignature` where everything is shown as it is. */
  readonly signature: string;
};

type Looked = {
  readonly state: ListState;
  readonly policy: LoadedPolicy;
  /** Of the acceptances that were known. */
  readonly epoch: number;
  readonly withheld: Withheld | undefined;
};

/** The operator refused the server: nothing of it is listed. Calls are refused where they come in. */
const refusedByCard: Admission = { kind: "quarantined", decision: "card" };

const noPlaces: ReadonlySet<number> = new Set();
const everything: Showing = { verdicts: [], shortlist: undefined, bare: noPlaces, signature: plainSignature };

export class Showings {
  readonly #needs: Needs;
  readonly #catalogue: Catalogue;
  /** The entries of the newest list, measured once. */
  #measured: { readonly entries: readonly Json[]; readonly tools: readonly ListedTool[] } | undefined;
  #admitted:
    | { state: ListState; policy: LoadedPolicy; process: string; epoch: number; admission: Admission }
    | undefined;
  /** The list that the card of the server was made of. */
  #carded: Pick<Looked, "state" | "policy"> | undefined;
  /** What was withheld of each list when last looked at. Under the same policy and acceptances it can only become less. */
  readonly #looked = new Map<ListMethod, Looked>();

  constructor(needs: Needs, catalogue: Catalogue) {
    this.#needs = needs;
    this.#catalogue = catalogue;
  }

  /** The admission of the list that a call relies on; a list that cannot be had admits nothing and forbids nothing. */
  admission(live: LiveRun, state: ListState): Admission | Promise<Admission> {
    const isRefused = cardRefusal(this.#needs) !== undefined;
    const last = this.#admitted;
    // Every call passes here: the last answer is kept beside its question, so that nothing is hashed or joined.
    const { epoch } = this.#needs.admissions;
    const { process } = this.#catalogue;
    const same = last?.state === state && last.policy === live.policy && last.process === process;
    if (same && last.epoch === epoch && !isRefused) return last.admission;
    // A refused server has a card too, on which the refusal is taken back.
    this.#seen(live, state);
    if (isRefused) return refusedByCard;
    const contracts = this.#contracts(live, state);
    const admission = admitList(this.#needs, live, { state, contracts, what: state.method });
    if (!(admission instanceof Promise)) this.#admitted = { state, policy: live.policy, process, epoch, admission };
    return admission;
  }

  /** The card of the server is made from what it lists, and from what was accepted of it before. */
  #seen(live: LiveRun, state: ListState): void {
    const { server, services, accepted } = this.#needs;
    const { policy } = live;
    const isSame = this.#carded?.state === state && this.#carded.policy === policy;
    if (state.method !== "tools/list" || isSame) return;
    const entries = state.entries.filter((entry) => isObject(entry));
    const before = (name: string): Json | undefined => accepted.known(server, state.method)?.last(name);
    if (entries.length < state.entries.length) return;
    const contracts = this.#contracts(live, state);
    services.cards?.seen({ server, digest: state.digest, entries, contracts, policy, before });
    this.#carded = { state, policy };
  }

  /** Why nothing of this name may be called now; undefined where it may. */
  keptBack(
    live: LiveRun,
    state: ListState,
    name: string,
  ): KeptFromCalls | undefined | Promise<KeptFromCalls | undefined> {
    const admission = this.admission(live, state);
    const looked = this.#lookedAt(live, state);
    const isOpen = !(admission instanceof Promise) && admission.kind === "connected";
    if (isOpen && looked !== undefined && entryOf(looked.withheld, state, name) === undefined) return undefined;
    return this.#keptBack(live, state, name);
  }

  async #keptBack(live: LiveRun, state: ListState, name: string): Promise<KeptFromCalls | undefined> {
    const admission = await this.admission(live, state);
    if (admission.kind === "quarantined") {
      const { decision, approval } = admission;
      return { code: "SG-QUARANTINED", decision, ...(approval === undefined ? {} : { approval: approval.id }) };
    }
    return entryOf(await this.#withheld(live, state), state, name);
  }

  #lookedAt(live: LiveRun, state: ListState): Looked | undefined {
    const last = this.#looked.get(state.method);
    const isSame = last?.state === state && last.policy === live.policy && last.epoch === this.#needs.accepted.epoch;
    return isSame ? last : undefined;
  }

  /** Entries that are withheld until an approver lets them out. */
  async #withheld(live: LiveRun, state: ListState): Promise<Withheld | undefined> {
    const looked = this.#lookedAt(live, state);
    if (looked !== undefined && looked.withheld === undefined) return undefined;
    const contracts = this.#contracts(live, state);
    const withheld = await withheldOf(this.#needs, live, { what: state.method, entries: state.entries, contracts });
    const { epoch } = this.#needs.accepted;
    this.#looked.set(state.method, { state, policy: live.policy, epoch, withheld });
    return withheld;
  }

  /** Nothing is called that its server does not list now: no text of a client becomes the name of a tool. */
  isUnlisted(live: LiveRun, tool: string): boolean {
    if (isObserved(live, this.#needs.server)) return false;
    return this.#catalogue.known("tools/list") === undefined || this.#catalogue.tool(tool) === undefined;
  }

  /** The signature of the part of a list that the run would be shown now; undefined when the list is not known. */
  async signature(live: LiveRun, method: ListMethod): Promise<string | undefined> {
    const state = this.#catalogue.known(method);
    if (state === undefined) return undefined;
    const admission = await this.admission(live, state);
    // The ruling itself notifies the clients of a list that leaves quarantine.
    return admission.kind === "quarantined" ? undefined : (await this.of(live, state)).signature;
  }

  async of(live: LiveRun, state: ListState): Promise<Showing> {
    const { server, exposures } = this.#needs;
    const withheld = await this.#withheld(live, state);
    if (isObserved(live, server)) return everything;
    const contracts = this.#contracts(live, state);
    const judged = await exposures.of({ live, server, state, contracts });
    const kept = withheld === undefined ? noPlaces : new Set(withheld.keys());
    const [bare, hidden] = addressLists.has(state.method) ? [kept, noPlaces] : [noPlaces, kept];
    const verdicts = hidden.size === 0 ? judged : judged.map((verdict, at) => (hidden.has(at) ? "deny" : verdict));
    const shortlist = state.method === "tools/list" ? this.#shortlist(live, state, verdicts) : undefined;
    const plain = shortlist === undefined && bare.size === 0 && verdicts.every((verdict) => verdict === "allow");
    const letters = verdicts.map((verdict, at) => {
      if (shortlist?.shown.has(at) === false) return "-";
      return bare.has(at) ? `${verdict[0]}b` : verdict[0];
    });
    return { verdicts, shortlist, bare, signature: plain ? plainSignature : letters.join("") };
  }

  /** Of the tools that may be shown, those that the task needs; indices are those of the list. */
  #shortlist(live: LiveRun, state: ListState, verdicts: readonly Verdict[]): Shortlist | undefined {
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
      this.#measured = { entries, tools: entries.map((entry) => listedTool(this.#needs.server, entry)) };
    return this.#measured.tools;
  }

  #contracts(live: LiveRun, state: ListState): readonly ToolContract[] {
    if (state.method !== "tools/list") {
      const contract = this.#catalogue.contractOfMethod(live.policy, usedBy[state.method]);
      return state.entries.map(() => contract);
    }
    return state.entries.map((entry) => this.#catalogue.contractOfTool(live.policy, stringMember(entry, "name") ?? ""));
  }
}

/** Why an entry of this name is withheld: of several with one name any may be the one that the server means. */
function entryOf(withheld: Withheld | undefined, state: ListState, name: string): KeptBack | undefined {
  return [...(withheld ?? [])].find(([place]) => stringMember(state.entries[place], "name") === name)?.[1];
}

function listedTool(server: string, entry: Json): ListedTool {
  const name = stringMember(entry, "name") ?? "";
  const description = stringMember(entry, "description") ?? stringMember(entry, "title") ?? "";
  return { server, name, description, bytes: new TextEncoder().encode(JSON.stringify(entry)).length };
}
