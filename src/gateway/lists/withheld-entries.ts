/**
 * Entries of lists that are withheld until an approver lets them out (lifecycle.md 1.1, 1.2): those that changed since
 * they were accepted, and those whose text gives orders to a model. A change concerns servers that the policy relies on
 * alone: what it says of their tools was said of what they were. Their first list is accepted but for entries with
 * findings, and so is what a label pack is pinned to. Of any other server only entries with findings are withheld.
 */
import type { ToolContract } from "../../core/contract.ts";
import { type Json, isObject, stringMember } from "../../core/json.ts";
import { digest } from "../../wire/canonical.ts";
import { isObserved } from "../decision/call.ts";
import type { IdSource } from "../ports/ids.ts";
import type { EntryFindings } from "../ports/policy.ts";
import type { Services } from "../ports/services.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { AcceptedLists } from "./accepted-lists.ts";
import { type ListQuestion, askOfList, matchOf, rulingOn } from "./list-question.ts";
import { changeLines, findingLines } from "./entry-changes.ts";
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

/** Why an entry is withheld: the record that says so, and the approval that lets it out, if one was asked for. */
export type KeptBack = {
  readonly code: "SG-CHANGED" | "SG-LIST-TEXT";
  readonly decision: string;
  readonly approval?: string;
};

/** Entries that are withheld, by their places within the list. */
export type Withheld = ReadonlyMap<number, KeptBack>;

/**
 * Lists that change with the data of a server: what is not accepted of an entry is its prose, and its address stays.
 */
export const addressLists: ReadonlySet<string> = new Set(["resources/list", "resources/templates/list"]);

/** Questions about one list that may be open; a list that changes at every look asks no further until one is ruled. */
const questionsMax = 4;

type Open = ListQuestion & { readonly code: KeptBack["code"]; readonly entries: readonly Json[] };

/** What was asked about changed lists, by server and list: shared by all sessions. */
export class OpenChanges {
  readonly #asked = new Map<string, Open[]>();
  readonly #refused = new Map<string, KeptBack>();
  readonly #turns = new Map<string, Promise<unknown>>();
  /** By entry: a list that comes again unchanged keeps its entries. */
  readonly #findings = new WeakMap<object, EntryFindings>();

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

  findings(entry: object, find: () => EntryFindings): EntryFindings {
    const known = this.#findings.get(entry) ?? find();
    this.#findings.set(entry, known);
    return known;
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

/** The entries of a list that this run is not shown; undefined where it is shown all. */
export function withheldOf(needs: WithheldNeeds, live: LiveRun, listed: Listed): Promise<Withheld | undefined> {
  return needs.changes.turn(`${needs.server} ${listed.what}`, () => look({ needs, live, listed }));
}

type Look = { readonly needs: WithheldNeeds; readonly live: LiveRun; readonly listed: Listed };

/** A look with what it is compared with. */
type Comparison = Look & {
  /** Lists whose accepted entries count; what is accepted now is added to the first. */
  readonly lists: readonly [string, ...string[]];
  /** Findings by the place of the entry. */
  readonly found: ReadonlyMap<number, EntryFindings>;
  /** Every entry has to be accepted, not only those with findings. */
  readonly all: boolean;
};

async function look({ needs, live, listed }: Look): Promise<Withheld | undefined> {
  const { accepted, server } = needs;
  const { what, entries } = listed;
  const found = findingsByPlace({ needs, live, listed });
  const readByOperator = foundKey(what);
  const own = await accepted.of(server, what);
  const read = own.ok && found.size > 0 ? await accepted.of(server, readByOperator) : own;
  if (!own.ok || !read.ok) {
    const why = { code: "SG-CHANGED", decision: needs.ids.next() } as const;
    return new Map(entries.map((_, place) => [place, why]));
  }
  const relied = own.value !== undefined || reliesOn(live, server, listed);
  const compared: Comparison = {
    needs,
    live,
    listed,
    found,
    all: relied,
    lists: relied ? [what, readByOperator] : [readByOperator],
  };
  if (own.value === undefined && relied && entries.length > 0) {
    accepted.accept(
      server,
      what,
      entries.filter((_, place) => !found.has(place)),
    );
  }
  if (isObserved(live, server) || unacceptedOf(compared).length === 0) return undefined;
  await takeRulings(compared);
  return withheldNow(compared);
}

/** Name of the list of entries with findings that an approver let out. */
const foundKey = (what: string): string => `found ${what}`;

/** Asks about what is not accepted, entries with findings apart from those that merely changed. */
async function withheldNow(compared: Comparison): Promise<Withheld | undefined> {
  const withheld = new Map<number, KeptBack>();
  const open = unacceptedOf(compared);
  const groups = { "SG-CHANGED": [] as number[], "SG-LIST-TEXT": [] as number[] };
  for (const place of open) {
    const refused = refusal(compared, place);
    if (refused !== undefined) withheld.set(place, refused);
    else groups[compared.found.has(place) ? "SG-LIST-TEXT" : "SG-CHANGED"].push(place);
  }
  for (const code of ["SG-CHANGED", "SG-LIST-TEXT"] as const) {
    const places = groups[code];
    const question = places.length === 0 ? undefined : await questionFor(compared, code, places);
    if (question !== undefined) for (const place of places) withheld.set(place, question);
  }
  return withheld.size === 0 ? undefined : withheld;
}

function findingsByPlace({ needs, live, listed }: Look): ReadonlyMap<number, EntryFindings> {
  // Names of resources and prompts are titles: two of them may be alike without any harm.
  const names = listed.what === "tools/list" ? listed.entries.map((entry) => stringMember(entry, "name") ?? "") : [];
  const found = new Map<number, EntryFindings>();
  for (const [place, entry] of listed.entries.entries()) {
    const read = isObject(entry) ? entry : { entry };
    const one = needs.changes.findings(read, () => live.policy.findings(read, names));
    if (one.verdict !== "allow") found.set(place, one);
  }
  return found;
}

/** The operator said something of this server: that it is trusted, or what its tools do. */
function reliesOn(live: LiveRun, server: string, { what, contracts }: Listed): boolean {
  const { trusted, labelled } = live.policy.server(server);
  // A pack may know tools of a server that the policy does not name; contracts of methods say nothing of a server.
  return trusted || labelled || (what === "tools/list" && contracts.some(({ source }) => source === "pack"));
}

function unacceptedOf({ needs, live, listed, lists, found, all }: Comparison): readonly number[] {
  const { server, accepted } = needs;
  return listed.entries.flatMap((entry, place) => {
    if (!all && !found.has(place)) return [];
    if (lists.some((list) => accepted.isAccepted(server, list, entry))) return [];
    if (addressLists.has(listed.what) && isAddressAlone(entry) && !found.has(place)) return [];
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
async function takeRulings(compared: Comparison): Promise<void> {
  const { needs, live, lists } = compared;
  const key = keyOf(compared);
  const left: Open[] = [];
  for (const question of needs.changes.asked(key)) {
    const ruling = await rulingOn(needs, live, question);
    const { code, decision, entries } = question;
    if (ruling === "approved") needs.accepted.accept(needs.server, lists[0], entries);
    else if (ruling === "refused") {
      for (const entry of entries) needs.changes.refuse(key, needs.accepted.digestOf(entry), { code, decision });
    } else if (ruling === "open") left.push(question);
  }
  needs.changes.keep(key, left);
}

/**
 * The question about exactly these entries: one that is open, or a new one; undefined where an approval from before a
 * restart lets them out.
 */
async function questionFor(
  compared: Comparison,
  code: KeptBack["code"],
  places: readonly number[],
): Promise<KeptBack | undefined> {
  const { needs, live, listed, lists, found } = compared;
  const { accepted, changes, server, services } = needs;
  const { what } = listed;
  const entries = places.flatMap((place) => listed.entries[place] ?? []);
  const key = keyOf(compared);
  const open = changes.asked(key);
  const changed = entries.map((entry) => accepted.digestOf(entry)).toSorted();
  const of = digest({ changed }, services.secrets.hash);
  const known = open.find((one) => one.of === of);
  if (known !== undefined) return { code, decision: known.decision, approval: known.id };
  const subject = { server, what, of };
  if ((await rulingOn(needs, live, { ...subject, match: matchOf(live, subject) })) === "approved") {
    accepted.accept(server, lists[0], entries);
    return undefined;
  }
  const last = open.at(-1);
  if (last !== undefined && open.length >= questionsMax) return { code, decision: last.decision, approval: last.id };
  const names = entries.map(nameOfEntry);
  const list = await accepted.of(server, what);
  const before = list.ok ? list.value : undefined;
  const findings = places.flatMap((place) => findingLines(listed.entries[place] ?? null, found.get(place)));
  // A first list has no text that an entry could have changed from.
  const differences =
    before === undefined ? [] : changeLines(entries.map((now) => ({ now, old: before.last(nameOfEntry(now)) })));
  const question = await askOfList(needs, live, { ...subject, code, names, lines: [...findings, ...differences] });
  changes.keep(key, [...open, { ...question, code, entries }]);
  return { code, decision: question.decision, approval: question.id };
}
