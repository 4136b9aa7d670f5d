/**
 * Entries of lists that changed since they were accepted (lifecycle.md 1.1): they are withheld until an approver lets
 * them out. The first list of a server is accepted as it is, and so is what a label pack is pinned to. Only servers that the
 * policy relies on are concerned: what it says of their tools was said of what they were.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { Json } from "../../core/json.ts";
import { digest } from "../../wire/canonical.ts";
import { isObserved } from "../decision/call.ts";
import type { IdSource } from "../ports/ids.ts";
import type { Services } from "../ports/services.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { AcceptedList, AcceptedLists } from "./accepted-lists.ts";
import { type ListQuestion, askOfList, matchOf, rulingOn } from "./list-question.ts";
import { changeLines } from "./entry-changes.ts";
import { isAddressAlone, nameOfEntry } from "./entry-form.ts";

export type WithheldNeeds = {
  readonly services: Services;
  readonly accepted: AcceptedLists;
  readonly changes: OpenChanges;
  readonly ids: IdSource;
  readonly server: string;
};

export type Listed = {
  /** A list method, or `instructions`. */
  readonly what: string;
  readonly entries: readonly Json[];
  /** Contracts of the entries, where they are tools. */
  readonly contracts: readonly ToolContract[];
};

/** Why entries are withheld: the record that says so, and the approval that lets them out, if one was asked for. */
export type KeptBack = { readonly decision: string; readonly approval?: string };

export type Withheld = {
  /** Places of the entries within the list. */
  readonly places: ReadonlySet<number>;
  readonly why: KeptBack;
};

/**
 * Lists that change with the data of a server: what is not accepted of an entry is its prose, and its address stays.
 */
export const addressLists: ReadonlySet<string> = new Set(["resources/list", "resources/templates/list"]);

/** Questions about one list that may be open; a list that changes at every look asks no further until one is ruled. */
const questionsMax = 4;

type Open = ListQuestion & { readonly entries: readonly Json[] };

/** What was asked about changed lists, by server and list: shared by all sessions. */
export class OpenChanges {
  readonly #asked = new Map<string, Open[]>();
  readonly #refused = new Map<string, KeptBack>();
  readonly #turns = new Map<string, Promise<unknown>>();

  /** One look at a list at a time: what one finds out counts for the next. */
  async turn<Value>(key: string, look: () => Promise<Value>): Promise<Value> {
    const before = this.#turns.get(key) ?? Promise.resolve();
    const turn = before.then(look, look);
    this.#turns.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    }
  }

  asked(key: string): readonly Open[] {
    return this.#asked.get(key) ?? [];
  }

  keep(key: string, open: readonly Open[]): void {
    if (open.length === 0) this.#asked.delete(key);
    else this.#asked.set(key, [...open]);
  }

  /** An entry that an approver refused stays withheld, and is not asked about again while this gateway runs. */
  refuse(key: string, digestOfMeaning: string, why: KeptBack): void {
    if (this.#refused.size < refusedMax) this.#refused.set(`${key} ${digestOfMeaning}`, why);
  }

  refused(key: string, digestOfMeaning: string): KeptBack | undefined {
    return this.#refused.get(`${key} ${digestOfMeaning}`);
  }
}

/** Refused entries that are remembered; any more are asked about again. */
const refusedMax = 4_096;

/** The entries of a list that this run is not shown, since they changed; undefined where none did. */
export function withheldOf(needs: WithheldNeeds, live: LiveRun, listed: Listed): Promise<Withheld | undefined> {
  return needs.changes.turn(`${needs.server} ${listed.what}`, () => look({ needs, live, listed }));
}

type Look = { readonly needs: WithheldNeeds; readonly live: LiveRun; readonly listed: Listed };

async function look(asked: Look): Promise<Withheld | undefined> {
  const { needs, live, listed } = asked;
  const { accepted, server } = needs;
  const { what, entries } = listed;
  const known = await accepted.of(server, what);
  if (!known.ok) return all(entries, { decision: needs.ids.next() });
  if (known.value === undefined) {
    if (entries.length > 0 && reliesOn(live, server, listed)) accepted.accept(server, what, entries);
    return undefined;
  }
  if (isObserved(live, server)) return undefined;
  const list = known.value;
  if (changedOf(asked, list).length === 0) return undefined;
  await takeRulings(asked);
  const changed = changedOf(asked, list);
  const fresh = changed.filter((place) => refusal(asked, place) === undefined);
  const question = fresh.length === 0 ? undefined : await questionFor(asked, list, fresh);
  const places = question === undefined ? changed.filter((place) => !fresh.includes(place)) : changed;
  const why = question ?? refusal(asked, places[0] ?? 0);
  return why === undefined ? undefined : { places: new Set(places), why };
}

function all(entries: readonly Json[], why: KeptBack): Withheld {
  return { places: new Set(entries.keys()), why };
}

/** The operator said something of this server: that it is trusted, or what its tools do. */
function reliesOn(live: LiveRun, server: string, { what, contracts }: Listed): boolean {
  const { trusted, labelled } = live.policy.server(server);
  // A pack may know tools of a server that the policy does not name; contracts of methods say nothing of a server.
  return trusted || labelled || (what === "tools/list" && contracts.some(({ source }) => source === "pack"));
}

function changedOf({ needs, live, listed }: Look, list: AcceptedList): readonly number[] {
  const { server, accepted } = needs;
  return listed.entries.flatMap((entry, place) => {
    if (list.has(accepted.digestOf(entry))) return [];
    if (addressLists.has(listed.what) && isAddressAlone(entry)) return [];
    // Of two tools with one name the contract is that of the first, so this entry is asked about by its own digest.
    const pinned = (): boolean =>
      live.policy.pinned(server, nameOfEntry(entry), digest(entry, needs.services.secrets.hash));
    return listed.what === "tools/list" && pinned() ? [] : [place];
  });
}

function keyOf({ needs, listed }: Look): string {
  return `${needs.server} ${listed.what}`;
}

function refusal(asked: Look, place: number): KeptBack | undefined {
  const { needs, listed } = asked;
  return needs.changes.refused(keyOf(asked), needs.accepted.digestOf(listed.entries[place] ?? null));
}

/** Approvers may have ruled since the last look. */
async function takeRulings(asked: Look): Promise<void> {
  const { needs, live, listed } = asked;
  const key = keyOf(asked);
  const left: Open[] = [];
  for (const question of needs.changes.asked(key)) {
    const ruling = await rulingOn(needs, live, question);
    if (ruling === "approved") needs.accepted.accept(needs.server, listed.what, question.entries);
    else if (ruling === "refused") {
      for (const entry of question.entries) {
        needs.changes.refuse(key, needs.accepted.digestOf(entry), { decision: question.decision });
      }
    } else if (ruling === "open") left.push(question);
  }
  needs.changes.keep(key, left);
}

/**
 * The question about exactly these entries: one that is open, or a new one; undefined where an approval from before a
 * restart lets them out.
 */
async function questionFor(asked: Look, list: AcceptedList, places: readonly number[]): Promise<KeptBack | undefined> {
  const { needs, live, listed } = asked;
  const { accepted, changes, server, services } = needs;
  const { what } = listed;
  const entries = places.flatMap((place) => listed.entries[place] ?? []);
  const key = keyOf(asked);
  const open = changes.asked(key);
  const changed = entries.map((entry) => accepted.digestOf(entry)).toSorted();
  const of = digest({ changed }, services.secrets.hash);
  const known = open.find((one) => one.of === of);
  if (known !== undefined) return { decision: known.decision, approval: known.id };
  const subject = { server, what, of };
  if ((await rulingOn(needs, live, { ...subject, match: matchOf(live, subject) })) === "approved") {
    accepted.accept(server, what, entries);
    return undefined;
  }
  const last = open.at(-1);
  if (last !== undefined && open.length >= questionsMax) return { decision: last.decision, approval: last.id };
  const names = entries.map(nameOfEntry);
  const lines = changeLines(entries.map((now) => ({ now, old: list.last(nameOfEntry(now)) })));
  const question = await askOfList(needs, live, { ...subject, names, lines });
  changes.keep(key, [...open, { ...question, entries }]);
  return { decision: question.decision, approval: question.id };
}
