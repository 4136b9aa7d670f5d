/** A card as lines for a terminal or a form: bounded, and text of the server is shown as text. */
import { escapeForDisplay } from "../../gateway/decision/display-text.ts";
import { readingThreshold } from "../../oracles/labels/reading.ts";
import { many, shortPath } from "../state/sentences.ts";
import { isRestriction } from "./card-answers.ts";
import { cardCommand } from "./card-command.ts";
import { type Card, type CardTool, effectsOf, openTools, toolsOf, worstOf } from "./card.ts";

/** Tools shown of one group, and lines of what changed in one of them. */
const toolsMax = 40;
const changeLinesMax = 24;

/** Characters of a line, and of a text of the server within one. */
const lineCharactersMax = 180;
const textCharactersMax = 60;
const hostCharactersMax = 120;

const stateWords: Readonly<Record<Card["state"], string>> = {
  new: "new: nothing of it is accepted, so its calls ask",
  probation: "on probation: what is not accepted asks",
  trusted: "accepted: all of its tools are known",
  flagged: "flagged: everything asks again",
  quarantined: "refused: it is not listed and nothing of it is called",
};

function stateOf({ state, enclosed }: Card): string {
  const isNew = state === "new" && enclosed === true;
  return isNew
    ? "new: nothing of it is accepted; it can do nothing outside, and few of its calls ask"
    : stateWords[state];
}

const transportWords = { http: "HTTP", stdio: "stdio" } as const;

const groupWords = {
  reads: "Reads",
  "writes inside": "Writes inside",
  "acts outside": "Acts outside",
  "runs code or unknown": "Runs code, or unknown",
} as const;

export function cardLines(card: Card): readonly string[] {
  return [
    ...headLines(card),
    "",
    ...card.groups.flatMap(({ group, tools }) => groupLines(groupWords[group], tools)),
    ...changeLines(card),
    ...doubtLines(card),
    ...worstLines(card),
    ...(openTools(card).length === 0 ? [] : [card.results.words, ""]),
    ...notKnownLines(card),
    ...answerLines(card),
    ...backLines(card),
  ].map((line) => clipped(line, card.results.words === line ? 400 : lineCharactersMax));
}

function headLines(card: Card): readonly string[] {
  const { server, facts, declared, answer } = card;
  const called = declared === undefined ? "" : `, calls itself ${quoted(`${declared.name} ${declared.version}`)}`;
  const fetched = facts?.package;
  const version =
    fetched?.version === undefined ? "in whatever version there is" : `version ${escaped(fetched.version)}`;
  const publisher =
    facts?.publisher === undefined ? "publisher not known" : `published under ${escaped(facts.publisher)}`;
  const flagged = answer?.flagged === undefined ? [] : [`  against it: ${escaped(answer.flagged, 140)}`];
  return [
    `Card of the server ${quoted(server)}${called}`,
    `  ${stateOf(card)}${card.until === undefined ? "" : `; until ${card.until}`}`,
    ...flagged,
    ...(facts === undefined ? [] : [`  started as: ${escaped(facts.starts, 150)}`]),
    ...card.earlier.map((starts) => `  also started under this name: ${escaped(starts, 140)}`),
    ...(fetched === undefined ? [] : [`  package ${escaped(fetched.name)}, ${version}; ${publisher}`]),
    ...(answer?.answer === "isolated"
      ? ["  accepted only where it runs isolated; elsewhere its calls are refused"]
      : []),
    ...(card.listed
      ? [`  ${facts === undefined ? "" : `over ${transportWords[facts.transport]}, `}${tierOf(card)}`]
      : []),
    `  card ${card.digest.slice(0, 12)}`,
    ...listLine("signs in with", facts?.account ?? []),
    ...listLine("hosts", facts?.hosts ?? []),
    ...listLine("files", facts?.files ?? []),
    ...hostLines("hosts it wanted, which are closed to it", card.network.wants),
    ...hostLines("hosts that its card opened", card.network.opened),
    ...card.scope.slice(0, 6).map((sentence) => `  ${escaped(sentence, 160)}`),
    ...(card.probe?.lines ?? []).map((line) => `  tried out: ${escaped(line, 160)}`),
    ...(card.packs.length === 0 || openTools(card).length === 0
      ? []
      : [
          `  a label pack fits its tools: ${card.packs.join(", ")} (\`servers: { NAME: { pack: ${card.packs[0] ?? ""} } }\` in your policy)`,
        ]),
  ];
}

/** How it is held now; of one that does not run now no tier is known, whatever the policy asks for. */
function tierOf({ facts, isolation, scope }: Card): string {
  if (facts?.transport === "http") return "runs elsewhere";
  const missing =
    isolation === undefined || isolation.missing.length === 0 ? "" : ` (${escaped(isolation.missing.join("; "), 80)})`;
  if (isolation !== undefined && isolation.tier !== "none") return `isolation tier ${isolation.tier}${missing}`;
  if (isolation !== undefined) return `runs without isolation${missing}`;
  return scope.length === 0 ? "no isolation: your policy asks for none" : "its isolation is known once it runs";
}

/** Each on a line of its own, since one answer opens all of them; of a long one the end, which says whose it is. */
function hostLines(what: string, hosts: readonly string[]): readonly string[] {
  return hosts.length === 0 ? [] : [`  ${what}:`, ...hosts.map((host) => `    ${shortPath(host, hostCharactersMax)}`)];
}

function listLine(what: string, values: readonly string[]): readonly string[] {
  if (values.length === 0) return [];
  const rest = values.length > 6 ? ` and ${values.length - 6} more` : "";
  return [
    `  ${what}: ${values
      .slice(0, 6)
      .map((one) => escaped(one))
      .join(", ")}${rest}`,
  ];
}

function groupLines(title: string, tools: readonly CardTool[]): readonly string[] {
  if (tools.length === 0) return [];
  const width = Math.min(32, Math.max(...tools.map(({ name }) => escaped(name, 32).length)));
  const rows = tools
    .slice(0, toolsMax)
    .map((tool) => `  ${markOf(tool)} ${escaped(tool.name, 32).padEnd(width)}  ${saysOf(tool)}`);
  const rest = tools.length - toolsMax;
  return [`${title} (${tools.length})`, ...rows, ...(rest > 0 ? [`  and ${many(rest, "tool")} more`] : []), ""];
}

/** One sign a tool: what an answer would do to it. */
function markOf({ standing }: CardTool): string {
  return standing === "ready" ? "+" : standing === "doubtful" ? "?" : "=";
}

function saysOf(tool: CardTool): string {
  const effects = effectsOf(tool);
  const does = effects.length === 0 || effects.length > 6 ? "anything" : effects.join(", ");
  if (tool.standing === "labelled") return tool.source === "pack" ? "your label pack decides" : "your policy decides";
  if (tool.standing === "accepted") return `${does}; accepted`;
  const changed = tool.change === undefined || tool.change.kind === "new" ? "" : `; changed: ${tool.change.kind}`;
  const worst = worstOf(tool).length;
  const held = worst === 0 ? "" : `; ${many(worst, "fact")} in doubt`;
  return `${does}; ${sourceOf(tool)}${held}${changed}`;
}

function sourceOf({ reading, source }: CardTool): string {
  const effects = reading.facts.find(({ about }) => about === "effects");
  const percent = effects === undefined ? "" : ` (${Math.floor(effects.probability * 100)} %)`;
  return source === "server" || effects?.source === "declared"
    ? "the server says so"
    : `names and schema suggest it${percent}`;
}

function changeLines(card: Card): readonly string[] {
  const changed = openTools(card).filter(({ change }) => change !== undefined && change.kind !== "new");
  if (changed.length === 0) return [];
  const lines = changed
    .slice(0, toolsMax)
    .flatMap(({ name, change }) => [
      `  ${quoted(name)}: ${change?.kind ?? ""}`,
      ...(change?.lines ?? []).slice(1, changeLinesMax),
    ]);
  return ["What changed since it was accepted (text of the server):", ...lines, ""];
}

/** Doubts shown: the answer to each is one key of a review. */
function doubtLines(card: Card): readonly string[] {
  const doubtful = openTools(card).filter(({ standing }) => standing === "doubtful");
  if (doubtful.length === 0) return [];
  const lines = doubtful.slice(0, toolsMax).map(({ name, doubts }) => {
    const [first] = doubts;
    const about = first === undefined ? "" : `${aboutWords(first.about)}: ${escaped(first.why, 100)}`;
    return `  ${escaped(name, 32)}: ${about}${doubts.length > 1 ? ` (and ${doubts.length - 1} more)` : ""}`;
  });
  const rest = doubtful.length - toolsMax;
  return ["In doubt", ...lines, ...(rest > 0 ? [`  and ${many(rest, "tool")} more`] : []), ""];
}

/** What an answer takes for the worst that it could be, since nothing is certain of it. */
function worstLines(card: Card): readonly string[] {
  const held = openTools(card).filter((tool) => worstOf(tool).length > 0);
  if (held.length === 0) return [];
  const lines = held.slice(0, toolsMax).map((tool) => {
    const facts = worstOf(tool).map(({ about }) => aboutWords(about));
    const rest = facts.length > 3 ? ` and ${facts.length - 3} more` : "";
    return `  ${escaped(tool.name, 32)}: ${facts.slice(0, 3).join(", ")}${rest}`;
  });
  const rest = held.length - toolsMax;
  return [
    "In doubt, accepted as the worst that it could be until a review decides it",
    ...lines,
    ...(rest > 0 ? [`  and ${many(rest, "tool")} more`] : []),
    "",
  ];
}

/** The subject of a fact in words: text from the server may be in it. */
export function aboutWords(about: string): string {
  const argument = /^args\/(.*)\/role$/s.exec(about)?.[1];
  if (argument !== undefined) return `argument ${quoted(argument)}`;
  return about === "effects" ? "what it does" : about === "flags" ? "its flags" : escaped(about);
}

function notKnownLines({ coverage }: Card): readonly string[] {
  return coverage.length === 0
    ? []
    : ["Not looked at", ...coverage.map((line) => `  ${escaped(line, lineCharactersMax - 2)}`), ""];
}

function answerLines(card: Card): readonly string[] {
  const ready = openTools(card).filter(({ standing }) => standing === "ready").length;
  const doubtful = openTools(card).length - ready;
  if (!card.listed) return ["Nothing can be accepted now."];
  if (ready + doubtful === 0) return [`Nothing waits for an answer: ${many(toolsOf(card).length, "tool")}.`];
  if (ready === 0) return ["No tool is marked +: a review accepts those marked ? one by one, and until then they ask."];
  const rest = doubtful === 0 ? "" : `; the ${doubtful} marked ? go on asking until they are reviewed`;
  return [`Accepting covers the ${many(ready, "tool")} marked + and consents to no call${rest}.`];
}

/** How an answer that restricts the server is taken back: no other answer lifts it by the way. */
function backLines({ server, answer, listed }: Card): readonly string[] {
  const restricts = answer !== undefined && isRestriction(answer.answer);
  return restricts || !listed ? [`\`${cardCommand(server, "--forget")}\` takes back what was answered.`] : [];
}

function quoted(text: string): string {
  return `\`${escaped(text)}\``;
}

function escaped(text: string, charactersMax = textCharactersMax): string {
  const seen = escapeForDisplay(text.slice(0, charactersMax));
  return text.length <= charactersMax && seen.length <= charactersMax ? seen : `${seen.slice(0, charactersMax - 1)}…`;
}

function clipped(line: string, charactersMax: number): string {
  return line.length <= charactersMax ? line : `${line.slice(0, charactersMax - 1)}…`;
}

/** One tool as a review shows it: what it seems to do, each doubt, and what the answer would take for true. */
export function toolLines(tool: CardTool): readonly string[] {
  const facts = tool.reading.facts.filter(({ about }) => about !== "output/trust");
  const rows = facts.slice(0, toolsMax).map(({ about, value, probability, because }) => {
    const words = Array.isArray(value) ? value.join(", ") || "nothing" : JSON.stringify(value);
    const why = because.length === 0 ? "nothing says so" : escaped(because.slice(0, 3).join(", "), 80);
    const mark = probability < readingThreshold ? "? " : "";
    return `  ${mark}${aboutWords(about)}: ${escaped(words, 80)} (${Math.floor(probability * 100)} %: ${why})`;
  });
  const others = tool.doubts.filter(({ about }) => about === "text" || about === "name");
  const description = tool.entry["description"];
  const says = typeof description === "string" ? [`  its server says: ${escaped(description, 140)}`] : [];
  return [
    `${quoted(tool.name)}: ${groupWords[tool.reading.group].toLowerCase()}`,
    ...says,
    ...rows,
    ...others.map(({ why }) => `  against it: ${escaped(why, 120)}`),
  ].map((line) => clipped(line, lineCharactersMax));
}
