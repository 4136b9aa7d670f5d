/**
 * `sluicegate cards [SERVER]`: what servers are and what of them is accepted, one question for each server instead of one
 * for each call. Without an answer on the command line a terminal asks for one key.
 */
import type { Command } from "commander";
import { cardCommand } from "../../app/cards/card-command.ts";
import { daysMax, daysUsual } from "../../app/cards/card-acts.ts";
import type { Reply, Request } from "../../app/gateway/control-contract.ts";
import { type Outcome, failure } from "../../app/state/outcome.ts";
import { many, shown, table } from "../../app/state/sentences.ts";
import type { Json } from "../../core/json.ts";
import { typed } from "../agreed.ts";
import { askDaemon, outcomeOf } from "../control-client.ts";
import { type OptionsOf, acts } from "../output.ts";
import { type Proving, askProven, codeOption, ticketsFor } from "../proven.ts";

const cardOptions = {
  "--accept": "accept what is marked +, for exactly these tools; it consents to no call",
  "--review": "also go through the tools in doubt, one key each, before accepting",
  "--hosts <hosts...>": "accept what is marked +, and open these hosts to it: `host` or `host:port`",
  "--workspace": "with --hosts: it goes on seeing the workspace, which it then could send away",
  "--isolated": "accept it, and let it run isolated only",
  "--refuse": "refuse the server: it is not listed, and nothing of it is called",
  "--later": "no answer now: all stays as it is, and is not mentioned again until it changes",
  "--forget": "take every answer about it back",
  "--probe": "call it with made-up data in a projection that nothing leaves, and show its card with what was found",
  "--yes-reads": "for scripts: accept the tools marked + that only read, of this server or of all",
  "--days <days>": ["how long the answer holds", String(daysUsual)],
  ...codeOption,
} as const;
type Options = OptionsOf<typeof cardOptions> & { readonly json?: true };

export function register(program: Command): void {
  const command = program
    .command("cards [server]")
    .description("what servers are and what is accepted of them; answers a card once instead of each call");
  acts(command, cardOptions, (options, server?: string) => cards(server, options));
}

const choices = ["accept", "review", "hosts", "isolated", "refuse", "later", "forget", "yesReads", "probe"] as const;

/** Longer than the trial of a server takes; the daemon has an end for it. */
const probeWaitMsMax = 150_000;

/** The part of an answer that all servers of one command share. */
type Way = {
  readonly hosts?: readonly string[];
  readonly workspace?: boolean;
  readonly days: number;
  readonly proving: Proving;
  readonly json: boolean;
};

async function cards(server: string | undefined, options: Options): Promise<Outcome> {
  const [choice, second] = choices.filter((name) => options[name] !== undefined);
  if (second !== undefined) return failure("SG-USAGE", "Give one answer: the options of `cards` exclude each other.");
  if (options.workspace === true && choice !== "hosts")
    return failure("SG-USAGE", "`--workspace` is about hosts that are opened: give it with `--hosts`.");
  const days = /^\d{1,5}$/.test(options.days) ? Number(options.days) : 0;
  if (days < 1 || days > daysMax) return failure("SG-USAGE", `\`--days\` takes a whole number from 1 to ${daysMax}.`);
  const way = { days, proving: { code: options.code }, json: options.json === true };
  if (choice === "yesReads") return reads(server, way);
  if (server === undefined)
    return choice === undefined ? list() : failure("SG-USAGE", "Name the server: `sluicegate cards` lists them.");
  if (choice === "probe") {
    const tried = await askDaemon({ kind: "card-probe", server }, { waitMsMax: probeWaitMsMax });
    return outcomeOf(tried, cardText);
  }
  const answer = await askDaemon({ kind: "card", server });
  if (!answer.ok) return outcomeOf(answer, () => "");
  const card = answer.value.reply;
  if (choice === "review") return review(card, way);
  if (choice === "hosts")
    return send(card, choice, [], { ...way, hosts: options.hosts ?? [], workspace: options.workspace === true });
  if (choice !== undefined) return send(card, choice, [], way);
  if (
    !process.stdin.isTTY ||
    options.json === true ||
    (card.ready === 0 && card.doubtful === 0 && card.wants.length === 0)
  )
    return { exitCode: 0, json: answer.value.json, text: cardText(card) };
  return askKey(card, way);
}

async function list(): Promise<Outcome> {
  return outcomeOf(await askDaemon({ kind: "cards" }), listText, { cards: [] });
}

export function listText({ cards: all }: Reply<"cards">): string {
  if (all.length === 0) return "No server has listed its tools yet: a card is made when its client starts it.";
  const rows = all.map((one) => [
    shown(one.server, 64),
    one.state,
    many(one.tools, "tool"),
    isWaiting(one) ? `${one.ready} to accept, ${one.doubtful} in doubt` : "nothing waits",
    [
      ...(one.until === undefined ? [] : [`until ${one.until}`]),
      ...(one.answer === "isolated" ? ["isolated only"] : []),
    ].join(", "),
  ]);
  const waits = all.find(isWaiting);
  const way = waits === undefined ? [] : [`Look at one and answer it: \`${cardCommand(waits.server)}\`.`];
  return [table([["server", "state", "lists", "waits", ""], ...rows]), ...way].join("\n");
}

function isWaiting({ state, ready, doubtful }: Reply<"cards">["cards"][number]): boolean {
  return state !== "quarantined" && ready + doubtful > 0;
}

function cardText({ lines }: Reply<"card">): string {
  return lines.map((line) => shown(line, 400)).join("\n");
}

const keys: Readonly<Record<string, "accept" | "review" | "hosts" | "isolated" | "refuse" | "later">> = {
  a: "accept",
  r: "review",
  h: "hosts",
  i: "isolated",
  x: "refuse",
  l: "later",
};

/** What each key would do to this card; one that could do nothing is not offered. */
export function offeredKeys(
  { state, ready, doubts, answer, wants }: Reply<"card">,
  days: number,
): Readonly<Record<string, string>> {
  const lifts = state === "quarantined" ? ", and take the refusal back" : "";
  const still = answer === "isolated" ? ", isolated only as before" : "";
  return {
    ...(ready === 0 ? {} : { a: `a accept for ${days} days${lifts}${still}` }),
    ...(doubts.length === 0
      ? {}
      : { r: `r review the ${many(doubts.length, "tool")} in doubt${ready === 0 ? "" : " first"}${lifts}` }),
    ...(wants.length === 0 ? {} : { h: `h accept, and open ${hostsText(wants)} to it instead of the workspace` }),
    ...(answer === "isolated" ? {} : { i: `i isolated only${lifts}` }),
    ...(state === "quarantined" ? {} : { x: "x refuse the server" }),
    l: "l later",
  };
}

/** The names where they are short, else their number: the card above has each of them. */
function hostsText(hosts: readonly string[]): string {
  const text = hosts.join(", ");
  return text.length <= 100 ? shown(text) : `the ${many(hosts.length, "host")} above`;
}

/** One key, and Enter: anything else is no answer. */
async function askKey(card: Reply<"card">, way: Way): Promise<Outcome> {
  process.stderr.write(`${cardText(card)}\n`);
  const offered = offeredKeys(card, way.days);
  const key = (await typed(`${Object.values(offered).join(" · ")} > `)).toLowerCase();
  const choice = Object.hasOwn(keys, key) && Object.hasOwn(offered, key) ? keys[key] : undefined;
  if (choice === undefined) return { exitCode: 1, json: undefined, text: "Nothing was answered." };
  if (choice === "hosts") return send(card, choice, [], { ...way, hosts: card.wants, workspace: false });
  return choice === "review" ? review1(card, way) : send(card, choice, [], way);
}

async function review(card: Reply<"card">, way: Way): Promise<Outcome> {
  if (!process.stdin.isTTY)
    return failure("SG-USAGE", "`--review` asks on a terminal, and this is not one: run it in one, or use `--accept`.");
  process.stderr.write(`${cardText(card)}\n`);
  return review1(card, way);
}

/** Doubtful tools first, one key each; then one key for everything. */
async function review1(card: Reply<"card">, way: Way): Promise<Outcome> {
  const reviewed: string[] = [];
  let sum = card.ready;
  for (const [place, { tool, standing, lines }] of card.doubts.entries()) {
    process.stderr.write(`\n${lines.map((line) => shown(line, 400)).join("\n")}\n`);
    const no = standing === "doubtful" ? "it stays unknown" : "what is in doubt counts as its worst";
    const key = await typed(`(${place + 1} of ${card.doubts.length}) y that is right · n ${no} · q stop > `);
    if (/^q/i.test(key)) return { exitCode: 1, json: undefined, text: "Nothing was answered." };
    if (!/^y(es)?$/i.test(key)) continue;
    reviewed.push(tool);
    if (standing === "doubtful") sum += 1;
  }
  const key = await typed(`Accept ${many(sum, "tool")} for ${way.days} days? [y/N] `);
  if (!/^y(es)?$/i.test(key)) return { exitCode: 1, json: undefined, text: "Nothing was answered." };
  return send(card, "accept", reviewed, way);
}

type Choice = "accept" | "hosts" | "reads" | "isolated" | "refuse" | "later" | "forget";

type Shown = Pick<Reply<"card">, "server" | "digest">;
type Answer = Request<"card-answer">;

async function send(card: Shown, choice: Choice, reviewed: readonly string[], way: Way): Promise<Outcome> {
  const act = actOf(card, choice, reviewed, way);
  return outcomeOf(await askProven(act, way.proving), (reply) => doneText(choice, reply));
}

function actOf(
  { server, digest }: Shown,
  choice: Choice,
  reviewed: readonly string[],
  { days, hosts, workspace = false }: Way,
): Answer {
  const more = hosts === undefined ? {} : { hosts: [...hosts], workspace };
  return { kind: "card-answer", server, digest, choice, reviewed, days, ...more };
}

export function doneText(
  choice: Choice,
  { server, state, tools, ready, doubtful, until, answer, refused }: Reply<"card-answer">,
): string {
  const name = shown(server, 64);
  if (choice === "refuse")
    return `Refused: \`${name}\` is not listed any more. \`${cardCommand(server, "--forget")}\` takes that back.`;
  if (choice === "later") {
    const still = { quarantined: " still refused", flagged: " still flagged" }[state];
    return `Nothing was changed: \`${name}\` is${still ?? " on probation, and what is not accepted of it asks"}.`;
  }
  if (choice === "hosts")
    return `Opened, from the next start of \`${name}\` on: end the sessions of its clients, or wait until they end. It sees the workspace no more, unless you gave \`--workspace\`.`;
  if (choice === "forget") return `Forgotten: nothing is accepted of \`${name}\`.`;
  const open = ready + doubtful;
  const rest = open === 0 || refused !== undefined ? "" : ` ${many(open, "tool")} of ${tools} still ask.`;
  const only = answer === "isolated" ? ", only where it runs isolated" : "";
  const done =
    until === undefined ? `\`${name}\` may be called${only}` : `Accepted until ${until}${only}, from the next call on`;
  return `${done}.${rest}${refused === undefined ? "" : ` Now: ${shown(refused, 400)}`}`;
}

function isHeld({ state }: Reply<"cards">["cards"][number]): boolean {
  return state === "quarantined" || state === "flagged";
}

function heldText({ server, state }: Reply<"cards">["cards"][number]): string {
  return `\`${shown(server, 64)}\` is ${state === "flagged" ? "flagged" : "refused"}`;
}

/** Accepts what only reads, of one server or of all that wait; those that were refused or flagged are left out. */
async function reads(server: string | undefined, way: Way): Promise<Outcome> {
  const all = await askDaemon({ kind: "cards" });
  if (!all.ok) return outcomeOf(all, () => "");
  const named = all.value.reply.cards.filter((one) => server === undefined || one.server === server);
  // A refusal and evidence are taken back where the card is read, not by a script for all servers.
  const [held, meant] = [named.filter(isHeld), named.filter((one) => !isHeld(one) && one.ready > 0)];
  if (meant.length === 0)
    return failure(
      "SG-CARDS",
      held.length === 0
        ? "No card has tools to accept: `sluicegate cards` lists them, `sluicegate cards NAME` shows why."
        : `Nothing was accepted: ${held.map(heldText).join("; ")}. Look at a card, and answer it there.`,
    );
  const cards = await Promise.all(meant.map((one) => askDaemon({ kind: "card", server: one.server })));
  const asked = cards.flatMap((card) => (card.ok ? [actOf(card.value.reply, "reads", [], way)] : []));
  // One proof for all of them.
  const proof = await ticketsFor(asked, way.proving);
  if (!proof.ok) return outcomeOf(proof, () => "");
  const results: { server: string; done: boolean; says: string }[] = [];
  for (const act of asked) {
    const done = outcomeOf(await askDaemon({ ...act, ...proof.value }), (reply) => doneText("reads", reply));
    results.push({ server: act.server, done: done.exitCode === 0, says: done.text });
  }
  const failed = results.some(({ done }) => !done);
  for (const one of held) results.push({ server: one.server, done: false, says: `Left out: ${heldText(one)}.` });
  const json: Json = { results: results.map(({ server: name, done, says }) => ({ server: name, done, says })) };
  return {
    exitCode: failed ? 1 : 0,
    json,
    text: results.map(({ server: name, says }) => `${shown(name, 64)}: ${says}`).join("\n"),
  };
}
