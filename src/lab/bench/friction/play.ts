/** Plays the calls of a scenario over one way to its server, as an honest agent and a user who consents to everything would. */
import { setTimeout } from "node:timers/promises";
import { type Json, isArray, member, stringMember } from "../../../core/json.ts";
import { type Answer, textOf } from "../../../app/client/mcp-client.ts";
import { comparable, said } from "./outcome.ts";
import { type Given, resolved } from "./references.ts";
import type { FrictionCall, FrictionScenario } from "./friction-scenario.ts";
import type { Way } from "./ways.ts";

/** Questions about one call after which it counts as one that cannot be had. */
const questionsMax = 3;

export type Played = {
  readonly tool: string;
  readonly acts: boolean;
  /** `unreached`: an argument follows from an answer that never came. `failed`: the server itself reported an error. */
  readonly outcome: "answered" | "failed" | "blocked" | "unreached";
  /** Times that the call was stopped for consent. */
  readonly questions: number;
  /** Reasons of the first question or of the refusal, or the error of the server. */
  readonly whys: readonly string[];
  /** What came back in the end, with what differs by nature put out. */
  readonly answer: string | undefined;
};

export async function play(scenario: FrictionScenario, way: Way, places: Places): Promise<readonly Played[]> {
  const answers: (Given | undefined)[] = [];
  const played: Played[] = [];
  for (const [index, call] of scenario.calls.entries()) {
    if (index > 0 && scenario.paceMs > 0) await setTimeout(scenario.paceMs);
    const one = await playCall(call, way, { answers, mask: scenario.mask, places });
    played.push(one.row);
    answers.push(one.given);
  }
  return played;
}

/** What `${WORKSPACE}` and the like stand for. */
export type Places = Readonly<Record<string, string>>;

/** Puts the places of this run into a text. */
export function placed(text: string, places: Places): string {
  return text.replaceAll(/\$\{([A-Z]+)\}/g, (whole, name: string) => places[name] ?? whole);
}

function placedJson(value: Json, places: Places): Json {
  if (typeof value === "string") return placed(value, places);
  if (isArray(value)) return value.map((one) => placedJson(one, places));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, placedJson(one, places)]));
}

type Context = {
  readonly answers: readonly (Given | undefined)[];
  readonly mask: readonly RegExp[];
  readonly places: Places;
};

async function playCall(
  { tool, given, acts }: FrictionCall,
  way: Way,
  { answers, mask, places }: Context,
): Promise<{ readonly row: Played; readonly given: Given | undefined }> {
  const args = resolved(
    Object.fromEntries(Object.entries(given).map(([key, one]) => [key, placedJson(one, places)])),
    answers,
  );
  const row = { tool, acts, questions: 0, whys: [], answer: undefined } as const;
  if (!args.ok) return { row: { ...row, outcome: "unreached", whys: [args.error] }, given: undefined };
  let questions = 0;
  let whys: readonly string[] = [];
  for (;;) {
    const answer = await way.call(tool, args.value);
    const stopped = { ...row, questions, whys: whys.length === 0 && !answer.ok ? [answer.error] : whys };
    if (!answer.ok) return { row: { ...stopped, outcome: "failed" }, given: undefined };
    const was = said(answer.value);
    if (was.kind === "answered") {
      const { failed } = answer.value;
      const known = failed && whys.length === 0 ? [textOf(answer.value).slice(0, errorUnitsMax)] : whys;
      const outcome = failed ? "failed" : "answered";
      const ended = { ...row, outcome, questions, whys: known, answer: comparable(answer.value, mask) } as const;
      return { row: ended, given: givenOf(answer.value) };
    }
    const id = was.kind === "asked" ? was.id : undefined;
    if (questions === 0) whys = await reasonsOf(way, id, was.why);
    if (was.kind === "asked") questions += 1;
    if (id === undefined || questions > questionsMax || !(await way.approve(id)))
      return { row: { ...row, outcome: "blocked", questions, whys }, given: undefined };
  }
}

/** Characters of a server's error that are kept. */
const errorUnitsMax = 200;

async function reasonsOf(way: Way, id: string | undefined, sentence: string): Promise<readonly string[]> {
  const lines = id === undefined ? [] : await way.reasons(id);
  return lines.length === 0 ? [sentence] : lines;
}

function givenOf(answer: Answer): Given {
  const content = member(answer.value, "content");
  const texts = isArray(content) ? content.flatMap((block) => stringMember(block, "text") ?? []) : [];
  return { text: texts.join("\n"), structured: member(answer.value, "structuredContent") };
}
