/**
 * Walks through the tools of a list with the operator, those in doubt first, and makes policy text of the answers. An answer
 * is one key; what is not answered stays unknown, and its calls ask.
 */
import { stringify } from "yaml";
import { type Role, roles } from "../../core/contract.ts";
import { type JsonObject, setOwn, stringMember } from "../../core/json.ts";
import { type ToolReading, certainLabel, readTools } from "../../oracles/labels/reading.ts";
import { type ArgumentText, type ToolLabelsText, namePattern } from "../../policy/document/shapes-labels.ts";
import { shown } from "../state/sentences.ts";

/** Asks a question and gives what was typed, trimmed; empty at the end of input. */
export type Asking = (question: string) => Promise<string>;

export type Reviewed = {
  /** Labels by `server.tool`. */
  readonly labels: { readonly [selector: string]: ToolLabelsText };
  readonly skipped: readonly string[];
  /** Tools that no entry of `labels:` can stand for, and that were not asked about therefore. */
  readonly problems: readonly ReviewProblem[];
  /** The operator stopped before the end. */
  readonly stopped: boolean;
};

export type ReviewProblem = {
  /** JSON Pointer within the result of `tools/list`. */
  readonly place: string;
  readonly tool: string;
  readonly reason: string;
  readonly remedy: string;
};

const effectKeys: { readonly [key: string]: readonly string[] } = {
  r: ["read.local"],
  R: ["read.external"],
  w: ["write.local"],
  W: ["write.external"],
  s: ["write.external.send"],
  d: ["write.local.delete"],
  D: ["write.external.delete"],
  x: ["execute.local"],
  X: ["execute.external"],
};

const effectHelp =
  "r reads here, R reads outside, w writes here, W writes outside, s sends, d/D deletes here/outside, x/X runs code here/outside";

const roleKeys: { readonly [key: string]: Role } = Object.fromEntries(
  roles.map((role) => [role === "content" ? "t" : (role[0] ?? ""), role]),
);
const roleHelp = "r recipient, d destination, i identifier, a amount, p path, c command, q query, t content";

export async function reviewLabels(server: string, listed: readonly JsonObject[], ask: Asking): Promise<Reviewed> {
  const readings = readTools({ server, tools: listed }).map((reading, index) => ({
    reading,
    tool: listed[index] ?? {},
  }));
  const named = Map.groupBy(listed.keys(), (index) => stringMember(listed[index], "name") ?? "");
  const problems = [...named].flatMap(([name, places]) =>
    places.flatMap((at) => problemOf(server, name, at, places) ?? []),
  );
  const wrong = new Set(problems.map(({ place }) => place));
  const usable = readings.filter((_, index) => !wrong.has(placeOf(index)));
  const ordered = usable.toSorted((left, right) => doubtOf(right.reading) - doubtOf(left.reading));
  const labels: { [selector: string]: ToolLabelsText } = {};
  const skipped: string[] = [];
  for (const { reading, tool } of ordered) {
    const answer = await reviewTool(reading, tool, ask);
    if (answer === "stop") return { labels, skipped, problems, stopped: true };
    if (answer === "skip") skipped.push(reading.tool);
    else setOwn(labels, `${server}.${reading.tool}`, answer);
  }
  return { labels, skipped, problems, stopped: false };
}

const usableName = new RegExp(namePattern, "u");

function placeOf(index: number): string {
  return `/tools/${index}/name`;
}

/** An entry with a `*` would label every tool that it fits, and one of two tools with one name the other as well. */
function problemOf(server: string, name: string, index: number, places: readonly number[]): ReviewProblem | undefined {
  const say = (reason: string, remedy: string): ReviewProblem => ({
    place: placeOf(index),
    tool: name,
    reason,
    remedy,
  });
  const leave = "leave it unlabelled, so that its calls ask, or have its author rename it";
  if (name === "") return say("it has no name", leave);
  if (name.includes("*"))
    return say("in a policy `*` stands for any characters, so the entry would hold for other tools", leave);
  if (!usableName.test(`${server}.${name}`))
    return say(
      "no policy holds a name with spaces or control characters, or `SERVER.TOOL` of more than 128 characters",
      leave,
    );
  const other = places.find((one) => one !== index);
  if (other === undefined) return undefined;
  return say(`${placeOf(other)} is the same, and one entry would hold for both`, "have its author rename one of them");
}

/** Effects in doubt come before doubtful arguments, and more of them first. */
function doubtOf({ doubts }: ToolReading): number {
  return doubts.length + (doubts.some(({ about }) => about === "effects") ? 1_000 : 0);
}

async function reviewTool(
  reading: ToolReading,
  tool: JsonObject,
  ask: Asking,
): Promise<ToolLabelsText | "skip" | "stop"> {
  const effects = reading.facts.find(({ about }) => about === "effects");
  const proposed = reading.label.effects;
  const head = [
    "",
    `${shown(reading.tool, 100)}: ${shown(stringMember(tool, "description") ?? "no description", 300)}`,
    `  ${proposed === undefined ? "in doubt" : "read"}: ${shown(JSON.stringify(effects?.value ?? []), 200)} (${percent(effects?.probability ?? 0)}; ${shown(effects?.because.slice(0, 3).join(", ") ?? "", 160)})`,
  ];
  const keep = proposed === undefined ? "" : ", y as read";
  const typed = await ask(`${head.join("\n")}\n  ${effectHelp}${keep}, n skip, Q stop > `);
  if (typed === "Q") return "stop";
  const chosen = Object.hasOwn(effectKeys, typed) ? effectKeys[typed] : undefined;
  // The end of input is an empty answer, and agrees to nothing.
  if (chosen === undefined && (typed !== "y" || proposed === undefined)) return "skip";
  const args = await reviewArguments(reading, ask);
  if (args === "stop") return "stop";
  const { effects: _effects, flags: _flags, args: _args, ...rest } = certainLabel(reading);
  return {
    ...(chosen === undefined ? { effects: proposed ?? [] } : { effects: [...chosen] }),
    ...(chosen === undefined && reading.label.flags !== undefined ? { flags: reading.label.flags } : {}),
    ...(Object.keys(args).length === 0 ? {} : { args }),
    ...rest,
  };
}

async function reviewArguments(
  reading: ToolReading,
  ask: Asking,
): Promise<{ readonly [name: string]: ArgumentText } | "stop"> {
  const args: { [name: string]: ArgumentText } = { ...certainLabel(reading).args };
  for (const { about, why } of reading.doubts) {
    const name = /^args\/(.*)\/role$/s.exec(about)?.[1];
    if (name === undefined) continue;
    const typed = await ask(
      `  argument ${shown(name, 60)} (${shown(why, 120)})\n  ${roleHelp}, Enter leaves it out, Q stop > `,
    );
    if (typed === "Q") return "stop";
    const role = Object.hasOwn(roleKeys, typed) ? roleKeys[typed] : undefined;
    if (role !== undefined) setOwn(args, name, role);
  }
  return args;
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

/** The answers as a policy that can be loaded as it stands, or be named by `extends`. */
export function reviewedPolicy({ labels }: Reviewed): string {
  return stringify({ version: 1, labels });
}
