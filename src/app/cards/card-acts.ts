/** What each answer to a card makes of what is on record. */
import { type Result, err, ok } from "../../core/result.ts";
import { serverPattern } from "../../policy/document/shapes-labels.ts";
import type { ReadingText } from "../../policy/sections/readings.ts";
import { today } from "../policy/policy-source.ts";
import { shown } from "../state/sentences.ts";
import { cardCommand } from "./card-command.ts";
import { type Card, type CardTool, acceptedLabel, openTools, reviewedTools, toolsOf } from "./card.ts";
import type { ServerAnswer } from "./card-answers.ts";
import { whyNoHosts } from "./card-hosts.ts";
import type { CardState } from "./card-files.ts";

export const cardChoices = ["accept", "hosts", "reads", "isolated", "refuse", "later", "forget"] as const;
/** `hosts`: accept, and open the named hosts. `reads`: accept the ready tools that only read. `forget`: as if the card was never answered. */
export type CardChoice = (typeof cardChoices)[number];

export type CardAct = {
  readonly choice: CardChoice;
  /** Tools with doubts that were reviewed one by one: their reading is taken at its word. */
  readonly reviewed: readonly string[];
  readonly days: number;
  /** With the choice `hosts`: what is opened to the server. */
  readonly hosts?: readonly string[];
  /** With the choice `hosts`: the server sees the workspace as before. */
  readonly workspace?: boolean;
  /** Who answers; the factor is in the log (`proved`). */
  readonly by: string;
};

/** Days that an answer holds at most; a reading of a tool that is used for years is looked at again. */
export const daysMax = 3_650;
export const daysUsual = 90;

const usableServer = new RegExp(serverPattern, "u");

const dayMs = 86_400_000;

export type Answered = {
  /** The error says why the answer does not hold for what is on record by now. */
  readonly change: (state: CardState) => Result<CardState, string>;
  /** Tools that the answer covers. */
  readonly covered: readonly CardTool[];
};

export function answered(card: Card, act: CardAct, nowMs: number): Result<Answered, string> {
  const { choice, days } = act;
  const { server } = card;
  const wrong = wrongFor(card, act);
  if (wrong !== undefined) return err(wrong);
  const covered = coveredBy(card, act);
  if (!covered.ok) return covered;
  if (covered.value.length === 0 && (choice === "accept" || choice === "reads"))
    return err(choice === "reads" ? onlyDoubts("that only reads ") : onlyDoubts(""));
  const until = today(nowMs + days * dayMs);
  const made = covered.value.map((tool) => {
    const whole = act.reviewed.includes(tool.name);
    return { server, tool: tool.name, digest: tool.digest, label: acceptedLabel(tool, card, whole), until };
  });
  const record = recordFor(act, until);
  const change = (state: CardState): Result<CardState, string> => {
    const before = state.servers.get(server);
    // Another process may have refused the server, or evidence came up, while its card was on a screen.
    if (givesMore(choice) && standingText(before) !== standingText(card.answer))
      return err(`\`${shown(server, 64)}\` was answered or flagged since the card was shown: look at it again.`);
    const servers = new Map(state.servers);
    const after = recordAfter(card, act, before, nowMs);
    if (after === undefined) servers.delete(server);
    else servers.set(server, { ...after, ...record(before) });
    const readings = readingsAfter(card, choice, state, made);
    return ok({ readings: notEnded(readings, today(nowMs)), servers });
  };
  return ok({ change, covered: covered.value });
}

/** What gives a server less, or nothing, needs no proof, and holds whatever happened since its card was shown. */
export function givesMore(choice: string): boolean {
  return choice !== "refuse" && choice !== "later";
}

/** What was answered of a server, and what speaks against it: an answer that gives more is bound to both. */
export function standingText(answer: ServerAnswer | undefined): string {
  return JSON.stringify([answer?.answer, answer?.flagged]);
}

/** Hosts of the answer, else those that were open and that nothing speaks against. */
function recordFor(
  { choice, hosts = [], workspace = false }: CardAct,
  until: string,
): (before: ServerAnswer | undefined) => Pick<ServerAnswer, "hosts"> {
  if (choice === "hosts") return () => ({ hosts: { allow: [...new Set(hosts)], until, workspace } });
  return (before) => {
    const stays = choice !== "refuse" && before?.hosts !== undefined && before.flagged === undefined;
    return stays ? { hosts: before.hosts } : {};
  };
}

function wrongFor(
  { server, answer, network }: Card,
  { choice, days, hosts = [], workspace }: CardAct,
): string | undefined {
  if (!Number.isInteger(days) || days < 1 || days > daysMax) return `Give a whole number of days from 1 to ${daysMax}.`;
  if (givesMore(choice) && choice !== "forget" && !usableServer.test(server))
    return "The name of this server cannot be written in a policy: give it one without dots and spaces in the client.";
  if (choice === "hosts") return whyNoHosts(network, hosts);
  if (hosts.length > 0 || workspace !== undefined) return "Hosts are opened by the answer `hosts` alone.";
  if (choice !== "reads") return undefined;
  // Given for many servers at once, unseen.
  const name = shown(server, 64);
  if (answer?.answer === "refused")
    return `You refused \`${name}\`: \`${cardCommand(server, "--forget")}\` takes that back first.`;
  if (answer?.flagged === undefined) return undefined;
  return `Something speaks against \`${name}\` (${shown(answer.flagged, 140)}): look at \`${cardCommand(server)}\`, and answer there.`;
}

/**
 * Undefined: nothing stays on record. A refusal is lifted by an answer alone that says so, evidence by one that accepts, and
 * that a server runs isolated only by forgetting: `later` needs no proof, so it must lift nothing.
 */
function recordAfter(
  card: Card,
  { choice, by }: CardAct,
  before: ServerAnswer | undefined,
  nowMs: number,
): ServerAnswer | undefined {
  const tools = Object.fromEntries(toolsOf(card).map(({ name, digest }) => [name, digest]));
  const made = { at: new Date(nowMs).toISOString(), by, tools };
  const flagged = before?.flagged === undefined ? {} : { flagged: before.flagged };
  switch (choice) {
    case "forget":
      return undefined;
    case "later":
      if (before === undefined) return { answer: "later", ...made };
      return card.listed && before.answer !== "refused" ? { ...before, tools } : before;
    case "refuse":
      // Which tools it had is of no use, and a server could name so many that its refusal finds no room.
      return { answer: "refused", ...made, tools: {}, ...flagged };
    case "isolated":
      return { answer: "isolated", ...made };
    case "accept":
    case "hosts":
    case "reads":
      return { answer: before?.answer === "isolated" ? "isolated" : "accepted", ...made };
  }
}

/** Readings that count on a day: one whose last day is over is gone for good, whatever a clock says later. */
export function notEnded(readings: readonly ReadingText[], day: string): readonly ReadingText[] {
  return readings.filter(({ until }) => until >= day);
}

function readingsAfter(
  card: Card,
  choice: CardChoice,
  { readings, servers }: CardState,
  made: readonly ReadingText[],
): readonly ReadingText[] {
  if (choice === "later") return readings;
  const others = readings.filter(({ server }) => server !== card.server);
  if (choice === "forget" || choice === "refuse") return others;
  // What evidence took away comes back by an answer alone that covers it.
  if (servers.get(card.server)?.flagged !== undefined) return [...others, ...made];
  // Of a digest that is not listed now nothing is kept: another version is another question.
  const listed = new Set(toolsOf(card).map(({ digest }) => digest));
  const kept = readings.filter(
    (one) =>
      one.server === card.server &&
      listed.has(one.digest) &&
      !made.some((each) => each.digest === one.digest && each.tool === one.tool),
  );
  return [...others, ...kept, ...made];
}

function onlyDoubts(which: string): string {
  return `No tool ${which}is certain enough to be accepted unseen: go through those in doubt with \`sluicegate cards NAME --review\`.`;
}

function coveredBy(card: Card, { choice, reviewed }: CardAct): Result<readonly CardTool[], string> {
  const open = openTools(card);
  const asked = reviewedTools(card);
  const foreign = reviewed.find((name) => !asked.some((tool) => tool.name === name));
  if (foreign !== undefined)
    return err(`\`${foreign.slice(0, 64)}\` is no tool in doubt on this card: look at it again.`);
  if (choice === "refuse" || choice === "later" || choice === "forget") return ok([]);
  const unusable = open.find(
    ({ name, doubts }) => reviewed.includes(name) && doubts.some(({ about }) => about === "name"),
  );
  if (unusable !== undefined)
    return err(
      `\`${unusable.name.slice(0, 64)}\` cannot be accepted: ${unusable.doubts.find(({ about }) => about === "name")?.why ?? ""}. Leave it out of the review.`,
    );
  const ready = open.filter(({ standing }) => standing === "ready");
  if (choice === "reads") return ok(ready.filter(({ reading }) => reading.group === "reads"));
  return ok([...ready, ...open.filter((tool) => reviewed.includes(tool.name) && !ready.includes(tool))]);
}
