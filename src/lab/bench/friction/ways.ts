/** Two ways to the same server: as a process of this one, and behind `sluicegate gateway` as users run it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask } from "../../../adapters/daemon/connect.ts";
import { ownVersion } from "../../../adapters/daemon/version.ts";
import { type Answer, McpClient, childClient } from "../../../app/client/mcp-client.ts";
import { daysUsual } from "../../../app/cards/card-acts.ts";
import { CardFiles } from "../../../app/cards/card-files.ts";
import { controlHeader } from "../../../app/gateway/control-token.ts";
import { gatewaySockets } from "../../../app/gateway/gateway-sockets.ts";
import { packageFolder } from "../../../app/policy/policy-source.ts";
import { type Json, type JsonObject, isArray, member, stringMember } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import { readJson } from "../../../gateway/log/json-text.ts";
import { HttpClient } from "./http-client.ts";

export const answerMsMax = 60_000;
const readyMsMax = 30_000;

/** How a server is started: the same words for both ways. */
export type Command = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workspace: string;
};

/** An open connection to a server. */
export type Way = {
  /** When the server was asked for: its process started, or the client turned to a gateway that was already there. */
  readonly from: number;
  readonly call: (tool: string, given: JsonObject) => Promise<Result<Answer, string>>;
  readonly ask: (method: string, params: JsonObject) => Promise<Result<Answer, string>>;
  /** Gives consent to a call that waits; false where that was refused. */
  readonly approve: (id: string) => Promise<boolean>;
  /** Why a call waits for consent, as its approval card says: a line for each reason. */
  readonly reasons: (id: string) => Promise<readonly string[]>;
  /** Answers the admission card of the server, and gives the readings that are accepted from then on. */
  readonly acceptCard: (answer: CardWord) => Promise<Result<readonly Json[], string>>;
  readonly close: () => Promise<void>;
};

/** `card`: what the card proposes, in one key. `reviewed`: also every tool in doubt, each of them unread. */
export type CardWord = "card" | "reviewed";

const clientInfo = { name: "bench", version: "1" };
const noControl = err("there is no gateway");

export async function directWay({ command, args, env, workspace }: Command): Promise<Result<Way, string>> {
  const from = performance.now();
  const child = spawn(command, args, { cwd: workspace, env, stdio: ["pipe", "pipe", "pipe"] });
  const tail = stderrOf(child);
  const client = childClient(child, { clientInfo, waitMsMax: answerMsMax });
  child.once("error", (fault) => client.ended(fault.message));
  child.once("exit", () => client.ended(`the server ended: ${tail()}`));
  child.stdin.on("error", () => undefined);
  const hello = await client.hello();
  const way: Way = {
    from,
    call: (tool, given) => client.call(tool, given),
    ask: (method, params) => client.ask(method, params),
    approve: () => Promise.resolve(false),
    reasons: () => Promise.resolve([]),
    acceptCard: () => Promise.resolve(noControl),
    close: () => ended(child),
  };
  if (hello.ok && !hello.value.failed) return ok(way);
  await ended(child);
  return err(hello.ok ? JSON.stringify(hello.value.value) : hello.error);
}

export type Guard = {
  /** A folder of its own for state, socket and configuration. */
  readonly folder: string;
  readonly server: string;
  readonly policy: JsonObject;
  /** Registered with the run; undefined = none is. */
  readonly instruction: string | undefined;
};

/** A gateway process for this one server, and a client of a new run behind it. */
export async function guardedWay(command: Command, guard: Guard): Promise<Result<Way, string>> {
  const { folder, server } = guard;
  const [state, runtime] = [join(folder, "state"), join(folder, "run")];
  for (const one of [state, runtime]) mkdirSync(one, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "policy.json"), JSON.stringify(guard.policy));
  const { workspace, command: program, args, env } = command;
  const config = { version: 1, workspace, servers: { [server]: { command: program, args, env } } };
  writeFileSync(join(folder, "gateway.json"), JSON.stringify(config));
  const own = { SLUICEGATE_HOME: state, SLUICEGATE_RUNTIME_DIR: runtime, XDG_CONFIG_HOME: join(folder, "config") };
  const words = ["gateway", "--config", join(folder, "gateway.json"), "--policy", join(folder, "policy.json")];
  const launcher = join(packageFolder, "bin", "sluicegate.js");
  const child = spawn(process.execPath, [launcher, ...words, "--http", "127.0.0.1:0"], {
    cwd: workspace,
    env: { ...process.env, ...own },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const opened = await connect(child, guard, state);
  if (!opened.ok) {
    await ended(child);
    return opened;
  }
  const control = (request: Json): Promise<Result<Json, string>> => controlOf(runtime, request);
  return ok({
    from: opened.value.from,
    call: (tool, given) => opened.value.client.call(tool, given),
    ask: (method, params) => opened.value.client.ask(method, params),
    approve: async (id) => (await control({ kind: "approve", id, choice: "once" })).ok,
    reasons: async (id) => cardLines(await control({ kind: "approvals" }), id),
    acceptCard: (answer) => acceptedBy({ control, server, state }, answer),
    close: async () => {
      await opened.value.end();
      await ended(child);
    },
  });
}

/** The lines of a card that give a reason; the others say where values came from. */
function cardLines(answer: Result<Json, string>, id: string): readonly string[] {
  const cards = answer.ok ? member(answer.value, "approvals") : undefined;
  const lines = member(isArray(cards) ? cards.find((one) => stringMember(one, "id") === id) : undefined, "lines");
  const texts = (isArray(lines) ? lines : []).filter((one) => typeof one === "string");
  const coded = texts.filter((line) => line.startsWith("SG-"));
  if (coded.length > 0) return coded;
  // A list in quarantine: the rules that found something, not the text that they found.
  const rules = new Set(texts.flatMap((line) => /^ {2}([a-z]+\.[a-z-]+) at /.exec(line)?.[1] ?? []));
  return rules.size === 0 ? texts.slice(0, 1) : [`text of the list gives orders: ${[...rules].toSorted().join(", ")}`];
}

type Desk = {
  readonly control: (request: Json) => Promise<Result<Json, string>>;
  readonly server: string;
  readonly state: string;
};

/** As `sluicegate cards SERVER --accept` does it. */
async function acceptedBy(
  { control, server, state }: Desk,
  answer: CardWord,
): Promise<Result<readonly Json[], string>> {
  const card = await control({ kind: "card", server });
  if (!card.ok) return card;
  const doubts = member(card.value, "doubts");
  const doubtful = (isArray(doubts) ? doubts : []).flatMap((one) => stringMember(one, "tool") ?? []);
  const reviewed = answer === "reviewed" ? doubtful : [];
  const digest = stringMember(card.value, "digest") ?? "";
  const said = await control({ kind: "card-answer", server, digest, choice: "accept", reviewed, days: daysUsual });
  if (!said.ok) return said;
  const kept = new CardFiles(state).read();
  // As they stand in the file: texts, lists and mappings.
  const readings = kept.ok ? readJson(JSON.stringify(kept.value.readings)) : undefined;
  return kept.ok ? ok(isArray(readings) ? readings : []) : kept;
}

type Connected = { readonly from: number; readonly client: McpClient; readonly end: () => Promise<void> };

async function connect(child: ChildProcess, guard: Guard, state: string): Promise<Result<Connected, string>> {
  const base = await announced(child);
  if (!base.ok) return base;
  const token = tokenOf(state);
  if (token === undefined) return err("the gateway made no control token");
  const body = guard.instruction === undefined ? {} : { instruction: guard.instruction };
  const made = await fetch(`${base.value}/runs`, {
    method: "POST",
    headers: { [controlHeader]: token, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await made.text();
  const url = stringMember(readJson(answer), "url");
  if (url === undefined) return err(`no run was made: ${answer.slice(0, 120)}`);
  const from = performance.now();
  const http = new HttpClient(`${url}/s/${guard.server}/mcp`, answerMsMax);
  const client = new McpClient({ clientInfo, waitMsMax: answerMsMax }, (message) => http.send(message));
  http.receive = (answer) => client.received(answer);
  http.failed = (why) => client.ended(why);
  const hello = await client.hello();
  http.listen();
  if (hello.ok && !hello.value.failed) return ok({ from, client, end: () => http.end() });
  return err(hello.ok ? JSON.stringify(hello.value.value) : hello.error);
}

function tokenOf(state: string): string | undefined {
  for (const file of [join(state, "gateway", "control.token"), join(state, "control.token")])
    if (existsSync(file)) return readFileSync(file, "utf8").trim();
  return undefined;
}

/** The address that the gateway prints when it listens. */
async function announced(child: ChildProcess): Promise<Result<string, string>> {
  const tail = stderrOf(child);
  let text = "";
  return new Promise((resolve) => {
    const late = setTimeout(() => resolve(err("the gateway did not start in time")), readyMsMax);
    child.once("exit", () => resolve(err(`the gateway ended: ${tail()}`)));
    child.stdout?.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
      if (found === null) return;
      clearTimeout(late);
      resolve(ok(found[0]));
    });
  });
}

async function controlOf(runtime: string, request: Json): Promise<Result<Json, string>> {
  for (const socket of gatewaySockets(runtime)) {
    const answer = await ask(socket, request, { version: ownVersion(), waitMsMax: answerMsMax });
    if (answer.ok) return answer;
    if (answer.error.kind !== "unreachable") return err(JSON.stringify(answer.error).slice(0, 200));
  }
  return noControl;
}

/** The last words of a process on its standard error. */
function stderrOf(child: ChildProcess): () => string {
  let text = "";
  child.stderr?.setEncoding("utf8").on("data", (part: string) => (text = `${text}${part}`.slice(-400)));
  return () => text.trim().split("\n").slice(-2).join(" ").slice(0, 200);
}

const endMsMax = 3_000;

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), endMsMax);
  await gone;
  clearTimeout(late);
}
