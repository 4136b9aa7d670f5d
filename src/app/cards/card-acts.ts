/** What each answer to a card makes of what is on record. */
import { type Result, err, ok } from "../../core/result.ts";
import { serverPattern } from "../../policy/document/shapes-labels.ts";
import { today } from "../policy/policy-source.ts";
import { type Card, type CardTool, acceptedLabel, openTools, toolsOf } from "./card.ts";
import type { CardAnswer, ServerAnswer } from "./card-answers.ts";
import type { CardState } from "./card-files.ts";

export const cardChoices = ["accept", "reads", "isolated", "refuse", "later", "forget"] as const;
/** `reads`: accept the ready tools that only read. `forget`: as if the card was never answered. */
export type CardChoice = (typeof cardChoices)[number];

export type CardAct = {
  readonly choice: CardChoice;
  /** Doubtful tools that were reviewed one by one: their reading is taken at its word. */
  readonly reviewed: readonly string[];
  readonly days: number;
  /** Who answers, and by which factor. */
  readonly by: string;
};

/** Days that an answer holds at most; a reading of a tool that is used for years is looked at again. */
export const daysMax = 3_650;
export const daysUsual = 90;

const usableServer = new RegExp(serverPattern, "u");

const dayMs = 86_400_000;

export type Answered = {
  readonly change: (state: CardState) => CardState;
  /** Tools that the answer covers. */
  readonly covered: readonly CardTool[];
};

export function answered(card: Card, act: CardAct, nowMs: number): Result<Answered, string> {
  const { choice, days } = act;
  if (!Number.isInteger(days) || days < 1 || days > daysMax)
    return err(`Give a whole number of days from 1 to ${daysMax}.`);
  if (!usableServer.test(card.server))
    return err(
      "The name of this server cannot be written in a policy: give it one without dots and spaces in the client.",
    );
  const covered = coveredBy(card, act);
  if (!covered.ok) return covered;
  if (covered.value.length === 0 && (choice === "accept" || choice === "reads"))
    return err(choice === "reads" ? onlyDoubts("that only reads ") : onlyDoubts(""));
  const until = today(nowMs + days * dayMs);
  const record: ServerAnswer = {
    answer: answerOf[choice],
    at: new Date(nowMs).toISOString(),
    by: act.by,
    tools: Object.fromEntries(toolsOf(card).map(({ name, digest }) => [name, digest])),
  };
  const { server } = card;
  const made = covered.value.map((tool) => {
    const whole = act.reviewed.includes(tool.name);
    return { server, tool: tool.name, digest: tool.digest, label: acceptedLabel(tool, card, whole), until };
  });
  const listed = new Set(toolsOf(card).map(({ digest }) => digest));
  const change = ({ readings, servers }: CardState): CardState => {
    const next = new Map(servers);
    if (choice === "forget") next.delete(server);
    else next.set(server, record);
    const others = readings.filter((one) => one.server !== server);
    if (choice === "forget" || choice === "refuse") return { readings: others, servers: next };
    // Of a digest that is not listed now nothing is kept: another version is another question. What evidence took away
    // comes back by an answer alone that covers it.
    const flagged = servers.get(server)?.flagged;
    if (choice === "later" && flagged !== undefined)
      return { readings, servers: next.set(server, { ...record, flagged }) };
    const kept = readings.filter(
      (one) =>
        flagged === undefined &&
        one.server === server &&
        listed.has(one.digest) &&
        !made.some((each) => each.digest === one.digest && each.tool === one.tool),
    );
    return { readings: [...others, ...kept, ...made], servers: next };
  };
  return ok({ change, covered: covered.value });
}

function onlyDoubts(which: string): string {
  return `No tool ${which}is certain enough to be accepted unseen: go through those in doubt with \`sluicegate cards NAME --review\`.`;
}

const answerOf: Readonly<Record<CardChoice, CardAnswer>> = {
  accept: "accepted",
  reads: "accepted",
  isolated: "isolated",
  refuse: "refused",
  later: "later",
  forget: "later",
};

function coveredBy(card: Card, { choice, reviewed }: CardAct): Result<readonly CardTool[], string> {
  const open = openTools(card);
  const foreign = reviewed.find((name) => !open.some((tool) => tool.name === name && tool.standing === "doubtful"));
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
  return ok([...ready, ...open.filter(({ name }) => reviewed.includes(name))]);
}
