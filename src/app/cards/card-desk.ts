/**
 * The cards of a running gateway: made of what servers are and list, answered once for each server and set of digests, and
 * opened again for what changed. An answer is on record before it counts.
 */
import { BoundedMap } from "../../core/bounded-map.ts";
import type { ToolContract } from "../../core/contract.ts";
import { type JsonObject, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { Cards, SeenList } from "../../gateway/ports/cards.ts";
import type { ServerTarget } from "../../gateway/ports/transport.ts";
import { notice } from "../../gateway/decision/notice.ts";
import { orderSentences } from "../../policy/isolation/words.ts";
import { readingKey } from "../../policy/sections/readings.ts";
import { digest } from "../../wire/canonical.ts";
import { sha256, toolDigest } from "../policy/policy-source.ts";
import { many, shown } from "../state/sentences.ts";
import type { AcceptedReadings } from "./accepted-readings.ts";
import { type Card, type SeenTool, makeCard, openTools, toolsOf } from "./card.ts";
import { networkOf } from "./card-hosts.ts";
import type { CardFiles } from "./card-files.ts";
import { cardCommand } from "./card-command.ts";
import { type CardAct, answered, givesMore, standingText } from "./card-acts.ts";
import type { ServerAnswer } from "./card-answers.ts";
import { packsFitting } from "./pack-offers.ts";
import { isOpen, seenTools } from "./seen-tools.ts";
import { serverFacts } from "./server-facts.ts";
import type { TrialDesk } from "./trials/trial-desk.ts";

/** Servers whose lists are remembered; of any more the oldest have no card until they list again. */
const serversMax = 256;

/** Notices of one server about lists that are not accepted, each about another list. */
const noticesMax = 5;

/** Other commands under the name of a server that its card shows. */
const startsMax = 4;

export type CardDeskParts = {
  readonly files: CardFiles;
  readonly readings: AcceptedReadings;
  readonly trials: TrialDesk;
  readonly tell: (text: string) => void;
  readonly wallMs: () => number;
  /** Tier and what is missing for a better one, of a server that runs now under an order of isolation. */
  readonly isolation: (server: string) => Card["isolation"];
  /** Lists of a server are to be asked for again, after an answer. */
  readonly answeredFor: (server: string, about: AnsweredEntries) => Promise<void>;
};

/** Entries that an answer covers, and all that the card showed without findings: the first list of a server is theirs. */
export type AnsweredEntries = { readonly covered: readonly JsonObject[]; readonly shown: readonly JsonObject[] };

type Known = {
  target?: ServerTarget;
  declared?: { readonly name: string; readonly version: string };
  list?: SeenList;
  /** Commands under this name before the one that was started last, as cards show them. */
  readonly earlier: Set<string>;
  /** The sets of tools that the operator was told of. */
  readonly told: Set<string>;
};

export class CardDesk implements Cards {
  readonly #parts: CardDeskParts;
  readonly #servers = new BoundedMap<string, Known>(serversMax);

  constructor(parts: CardDeskParts) {
    this.#parts = parts;
  }

  reached(server: string, target: ServerTarget): void {
    const known = this.#known(server);
    const { starts } = serverFacts(target);
    if (known.target !== undefined) known.earlier.add(serverFacts(known.target).starts);
    known.earlier.delete(starts);
    for (const oldest of known.earlier) if (known.earlier.size > startsMax) known.earlier.delete(oldest);
    known.target = target;
  }

  declared(server: string, name: string, version: string): void {
    this.#known(server).declared = { name, version };
  }

  seen(list: SeenList): void {
    const known = this.#known(list.server);
    known.list = list;
    const open = list.contracts.filter(isOpen).length;
    // Calls of a server that is refused do not ask: they are told why, and how that is taken back.
    if (open === 0 || known.told.has(list.digest) || this.refusal(list.server) !== undefined) return;
    if (known.told.size >= noticesMax) return;
    known.told.add(list.digest);
    const answer = this.#parts.readings.state.servers.get(list.server);
    // What an answer that left tools open was about needs no second notice.
    const changed = list.entries.some(
      (entry) => answer?.tools[stringMember(entry, "name") ?? ""] !== toolDigest(entry),
    );
    if (answer !== undefined && !changed) return;
    const what =
      answer === undefined
        ? isEnclosed(list.contracts)
          ? "that nothing is accepted of: it can do nothing outside, and few of their calls ask"
          : "that nothing is accepted of: their calls ask"
        : "that changed or are new: their calls ask";
    this.#parts.tell(
      notice(
        known.told.size < noticesMax
          ? `Server \`${list.server}\` lists ${many(open, "tool")} ${what}.`
          : `Server \`${list.server}\` changes its list again and again: no more is said of that.`,
        ` Answer its card once: \`${cardCommand(list.server)}\`.`,
      ),
    );
  }

  /** Without a tier: of the process of the server that is held least. */
  refusal(server: string, tier = this.#parts.isolation(server)?.tier ?? "none"): string | undefined {
    const answer = this.#parts.readings.state.servers.get(server);
    const way = `\`${cardCommand(server, "--forget")}\` takes that back.`;
    if (answer?.answer === "refused") return `You refused this server on its card: ${way}`;
    if (answer?.answer !== "isolated" || tier !== "none") return undefined;
    return `You accepted this server only where it runs isolated, and now it does not: add it to \`isolation\` of your policy, or ${way}`;
  }

  hint({ server, tool, source }: ToolContract): readonly string[] {
    if (!isOpen({ source }) || this.#servers.get(server)?.list === undefined) return [];
    const name = shown(server, 64);
    return [
      `Nothing is accepted of \`${shown(tool, 64)}\` yet, so its calls ask. To decide for all of them, answer the card of \`${name}\` once with \`${cardCommand(server)}\`.`,
    ];
  }

  flagged(server: string, why: string): void {
    void this.flag(server, why);
  }

  /** Servers that have listed tools, and those that were refused or flagged, whether they run or not. */
  servers(): readonly string[] {
    const listed = [...this.#servers].flatMap(([name, { list }]) => (list === undefined ? [] : [name]));
    const held = [...this.#parts.readings.state.servers].filter(
      ([, { answer, flagged }]) => answer === "refused" || flagged !== undefined,
    );
    return [...new Set([...listed, ...held.map(([name]) => name)])].toSorted();
  }

  /** Undefined for a server that listed nothing yet and of which nothing is on record. */
  card(server: string): Card | undefined {
    const { list, target, declared, earlier } = this.#servers.get(server) ?? {};
    const { readings, servers } = this.#parts.readings.state;
    const answer = servers.get(server);
    if (list === undefined && answer === undefined) return undefined;
    const order = list?.policy.isolation(server);
    const isolation = this.#parts.isolation(server);
    const opened = answer?.flagged === undefined ? (answer?.hosts?.allow ?? []) : [];
    const tools = list === undefined ? [] : this.#tools(list, target);
    const probe =
      target?.kind === "stdio" && list !== undefined
        ? this.#parts.trials.shownOn(server, target, list.entries)
        : undefined;
    const own = readings.filter((one) => one.server === server && tools.some(({ digest: of }) => of === one.digest));
    return makeCard({
      server,
      facts: target === undefined ? undefined : serverFacts(target),
      earlier: [...(earlier ?? [])],
      declared,
      digest: cardDigest(tools, answer, probe),
      tools,
      isolation,
      enclosed: list !== undefined && isEnclosed(list.contracts),
      network: networkOf(server, order, isolation?.wanted ?? [], opened),
      scope: order === undefined ? [] : orderSentences(order),
      packs: packsFitting(list?.entries ?? []),
      listed: list !== undefined,
      probe,
      answer,
      until: own.map(({ until }) => until).toSorted()[0],
    });
  }

  #tools(list: SeenList, target: ServerTarget | undefined): readonly SeenTool[] {
    const { server } = list;
    // What was accepted since the list was seen counts here at once, and what was taken back counts no more.
    const counting = new Set((this.#parts.readings.source?.document.readings ?? []).map(readingKey));
    return seenTools(list, target?.kind === "http").map((tool): SeenTool => {
      if (tool.source === "operator" || tool.source === "pack") return tool;
      const isAccepted = counting.has(readingKey({ server, tool: tool.name, digest: tool.digest }));
      return { ...tool, source: isAccepted ? "card" : tool.source === "card" ? "unknown" : tool.source };
    });
  }

  /** The card that an answer is for, as it is now; the error says why it cannot be answered so. `shownDigest`: of the card that was shown. */
  answerable(server: string, shownDigest: string, choice: string): Result<Card, string> {
    const { fault } = this.#parts.readings;
    if (fault !== undefined) return err(fault);
    const card = this.card(server);
    const mayAccept = givesMore(choice) && choice !== "forget";
    if (card === undefined || (!card.listed && mayAccept))
      return err(`No server \`${shown(server, 64)}\` has listed its tools yet: start its client, then repeat.`);
    // A server that changes its list at every moment can be refused all the same.
    if (card.digest !== shownDigest && choice !== "refuse")
      return err(`The card of \`${shown(server, 64)}\` changed since it was shown: look at it again, then answer.`);
    return ok(card);
  }

  /** Puts an answer on record, and lets it count. */
  async answer(server: string, shownDigest: string, act: CardAct): Promise<Result<Card, string>> {
    const { files, readings, wallMs, answeredFor } = this.#parts;
    const found = this.answerable(server, shownDigest, act.choice);
    if (!found.ok) return found;
    const card = found.value;
    const made = answered(card, act, wallMs());
    if (!made.ok) return made;
    const written = await files.change(made.value.change);
    if (!written.ok) return written;
    readings.refresh();
    this.#servers.get(server)?.told.clear();
    const quiet = toolsOf(card).filter(({ findings }) => findings.length === 0);
    await answeredFor(server, {
      covered: made.value.covered.map(({ entry }) => entry),
      shown: quiet.map(({ entry }) => entry),
    });
    return ok(this.card(server) ?? { ...card, state: "new", answer: undefined });
  }

  /** Calls a server with made-up data, and puts the verdict on record before it is shown. The error is a sentence. */
  async tryOut(server: string): Promise<Result<Card, string>> {
    const target = this.#servers.get(server)?.target;
    const name = shown(server, 64);
    if (target === undefined) return err(`No client has started \`${name}\` yet: start it, then repeat.`);
    if (target.kind !== "stdio")
      return err(
        `\`${name}\` runs elsewhere, where calls with made-up data would act on real data: it is not tried out.`,
      );
    const tried = await this.#parts.trials.tryOut(server, target);
    if (!tried.ok) return tried;
    if (tried.value !== undefined) await this.flag(server, tried.value);
    const card = this.card(server);
    return card === undefined
      ? err(`\`${name}\` has not listed its tools yet: start its client, then repeat.`)
      : ok(card);
  }

  /** Evidence against a server: nothing of it counts until its card is answered again. */
  async flag(server: string, why: string): Promise<void> {
    const { readings, tell } = this.#parts;
    const isAnswered = readings.state.servers.has(server);
    if (!readings.flag(server, why)) return;
    const way = ` Look: \`${cardCommand(server)}\`.`;
    if (isAnswered) tell(notice(`What you accepted of server \`${server}\` does not count any more: ${why}`, way));
    const written = await readings.recordFlags();
    if (written.ok) return;
    const still = ` This is not on record, so it holds until Sluicegate ends; it is tried again. ${written.error}`;
    tell(notice(`Against server \`${server}\`: ${why}.`, still));
  }

  #known(server: string): Known {
    const known = this.#servers.get(server) ?? { earlier: new Set(), told: new Set() };
    this.#servers.set(server, known);
    return known;
  }
}

/** The process of the server has no way out, so belief in it rests on that. */
function isEnclosed(contracts: readonly ToolContract[]): boolean {
  return contracts.every(({ process }) => process !== undefined);
}

/** What an answer is bound to: the name and digest of every tool, and what was answered or found of the server before. */
function cardDigest(tools: readonly SeenTool[], answer: ServerAnswer | undefined, trial: Card["probe"]): string {
  const standing = `${standingText(answer)} ${trial?.now?.verdict ?? ""} ${trial?.now?.at ?? ""}`;
  return digest({ tools: tools.map(({ name, digest: of }) => [name, of]), standing }, sha256);
}

/** Tools of a card in words of numbers, for lists of cards. */
export function countsOf(card: Card): { readonly tools: number; readonly ready: number; readonly doubtful: number } {
  const open = openTools(card);
  const ready = open.filter(({ standing }) => standing === "ready").length;
  return { tools: toolsOf(card).length, ready, doubtful: open.length - ready };
}
