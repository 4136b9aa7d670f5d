/**
 * Lists on their way to the client: strings are admitted, entries are exposed or hidden by the same function that
 * judges calls. Verdicts are kept by (state, list, policy) and recomputed only when a digest changes.
 */
import { type Json, type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import type { Verdict } from "../../core/verdict.ts";
import { errorCodes, errorMessage } from "../../wire/errors.ts";
import { runCache } from "../../wire/modern.ts";
import {
  type Catalogue,
  type ListMethod,
  type ListState,
  type Page,
  entriesMember,
  entriesOf,
} from "../upstream/listed-tools.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import { listWaitMsMax } from "../ports/limits.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { Exchange } from "../ports/transport.ts";
import { consentMetaKey } from "../ports/ids.ts";
import type { Answered, ClientState } from "../ports/conversation.ts";
import { isModern, protocolOnly } from "../upstream/client-facts.ts";
import { addressOf } from "./entry-form.ts";
import type { ListWatch } from "./list-signatures.ts";
import type { LinkSeat } from "../upstream/link-seat.ts";
import type { Showing, Showings } from "./showings.ts";
import type { Announcer } from "./list-changed.ts";
import type { Services } from "../ports/services.ts";

type Needs = {
  readonly server: string;
  readonly services: Services;
  readonly lists: ListWatch;
  readonly client: ClientState;
  readonly link: LinkSeat;
};

export class Lists {
  readonly #needs: Needs;
  readonly #catalogue: Catalogue;
  readonly #showings: Showings;
  readonly #announcer: Announcer;

  constructor(needs: Needs, catalogue: Catalogue, parts: { showings: Showings; announcer: Announcer }) {
    this.#needs = needs;
    this.#catalogue = catalogue;
    this.#showings = parts.showings;
    this.#announcer = parts.announcer;
  }

  /** Answers a list request from the server's answer to it, or from a page drained before. */
  async answer(exchange: Exchange, live: LiveRun, relayed: () => Promise<Answered>): Promise<Answered> {
    const { request } = exchange;
    const method = request.method as ListMethod; // the router sends only list methods here
    const cursor = stringMember(request.params, "cursor");
    const known = this.#catalogue.known(method);
    if (cursor !== undefined) {
      const state = known ?? (await this.drain(method, request.params));
      const page = state?.pages.find((one) => one.cursor === cursor);
      if (state === undefined || page === undefined) {
        // A cursor that no list of this server had is text of the client, and not for the server to read.
        return errorMessage(request.id, errorCodes.invalidParams, "Invalid cursor");
      }
      return this.#show(live, state, page, { kind: "response", id: request.id, result: page.result });
    }
    const first = await relayed();
    if (first.kind === "error" || !isObject(first.result)) return first;
    const state = await this.#catalogue.accept(method, first.result, this.#nextPage(method, request.params));
    const page = state?.pages[0];
    if (state === undefined || page === undefined) {
      const text = `The list of \`${this.#needs.server}\` has no end, broke off or is not a list. Ask the operator to check the server.`;
      return errorMessage(request.id, errorCodes.internalError, text);
    }
    return this.#show(live, state, page, first);
  }

  /** Fetches a list for the gateway itself: contracts are needed before the first call. */
  async drain(method: ListMethod, params: JsonObject | undefined): Promise<ListState | undefined> {
    const first = await this.#needs.link.ask(method, protocolOnly(params), { ms: listWaitMsMax });
    if (first?.kind !== "response" || !isObject(first.result)) return undefined;
    return this.#catalogue.accept(method, first.result, this.#nextPage(method, params));
  }

  #nextPage(method: ListMethod, params: JsonObject | undefined) {
    return async (cursor: string): Promise<JsonObject | undefined> => {
      const answer = await this.#needs.link.ask(method, { ...protocolOnly(params), cursor }, { ms: listWaitMsMax });
      return answer?.kind === "response" && isObject(answer.result) ? answer.result : undefined;
    };
  }

  async #show(live: LiveRun, state: ListState, page: Page, message: Answered): Promise<Answered> {
    const admission = await this.#showings.admission(live, state);
    const id = message.id ?? 0;
    const name = entriesMember[state.method];
    // A list that depends on the run must not be kept for others, nor for long.
    const caching = isModern(this.#needs) ? runCache : {};
    if (admission.kind === "quarantined") {
      // Text that the server wrote beside the entries is left out as well: it is not admitted.
      const resultType = page.result["resultType"] === undefined ? {} : { resultType: "complete" };
      return { kind: "response", id, result: { ...resultType, [name]: [], ...caching } };
    }
    const showing = await this.#showings.of(live, state);
    this.#announcer.shown(live, state.method, showing.signature);
    this.#record(live, state, showing);
    const start = startOf(state, page);
    const entries = entriesOf(state.method, page.result);
    const verdicts = showing.verdicts.slice(start, start + entries.length);
    const { shortlist, bare } = showing;
    if (verdicts.every((verdict) => verdict === "allow") && shortlist === undefined && bare.size === 0) {
      const kept = { ...page.result, ...caching };
      return live.policy.regulated && isModern(this.#needs) ? { kind: "response", id, result: kept } : message;
    }
    const shown = entries.flatMap((entry, index) => {
      const verdict = verdicts[index] ?? "deny";
      if (verdict === "deny" || shortlist?.shown.has(start + index) === false) return [];
      const whole = bare.has(start + index) ? addressOf(entry) : entry;
      return [verdict === "confirm" ? marked(whole) : whole];
    });
    return { kind: "response", id, result: { ...page.result, [name]: shown, ...caching } };
  }

  /**
   * Records that a run is shown another list than before: the entries that an agent could choose from explain its
   * choice.
   */
  #record(live: LiveRun, { method, entries }: ListState, { verdicts, shortlist, signature }: Showing): void {
    const { server, services, lists } = this.#needs;
    if (method === "tools/list") live.tokensSaved.set(server, shortlist?.tokensSaved ?? 0);
    if (!lists.shown({ live, server, method, signature })) return;
    const count = (which: Verdict): number => verdicts.filter((verdict) => verdict === which).length;
    const saved = shortlist === undefined ? {} : { tokensSaved: shortlist.tokensSaved };
    const counts = { entries: entries.length, hidden: count("deny"), asked: count("confirm"), ...saved };
    const batch = new EventBatch();
    batch.parts.push({ live, events: [] });
    void appendBatch(services.log, batch, { notes: { moment: "expose", server, method, ...counts } });
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
