/**
 * `sluicegate hook CLIENT`: one event of the client's own tools and conversation, sent to the daemon in one round trip.
 * Runs before and after every built-in tool call, so it loads nothing but a socket.
 */
import { ask, askOver, connectOrStart, type AskFailure } from "../adapters/daemon/connect.ts";
import { daemonPaths, type DaemonPaths } from "../adapters/daemon/paths.ts";
import { clientChain } from "../adapters/daemon/process-identity.ts";
import { parseJson } from "../adapters/daemon/protocol.ts";
import { ownVersion } from "../adapters/daemon/version.ts";
import { type Json, type JsonObject, isObject, member, stringMember } from "../core/json.ts";
import { type Result, err, ok } from "../core/result.ts";
import type { Host } from "./shim/host.ts";
import {
  type ClientRow,
  type EventRow,
  type HookEvent,
  type HookOutput,
  type HookVerdict,
  clients,
  silence,
} from "../app/gateway/hook-clients.ts";
import { type Request, readReply } from "../app/gateway/control-contract.ts";

/** Bytes of the client's JSON; file contents and command output travel in it. */
export const hookInputBytesMax = 16 * 1024 * 1024;

/** Wait for the gateway's decision, which may itself wait for an oracle; clients give up after 30 s or more. */
export const hookWaitMsMax = 10_000;

/** Wait for a daemon that the hook had to start. */
export const hookStartWaitMsMax = 5_000;

export async function runHook(words: readonly string[], host: Host): Promise<number> {
  const row = clients.find((known) => known.client === words[0]);
  if (row === undefined || words.length !== 1) {
    const names = clients.map((known) => known.client).join(", ");
    return emit(refuse(`\`hook\` needs the name of one client that has hooks: ${names}.`));
  }
  const input = await readInput();
  if (!input.ok) return emit(refuse(input.error));
  return emit(await decide(row, input.value, host));
}

/** Reads stdin as one JSON object. Exit code 2 of a failure blocks the tool, which is the safe way to be wrong. */
async function readInput(): Promise<Result<JsonObject, string>> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    // no encoding is set, so parts are buffers
    bytes += part.length;
    if (bytes > hookInputBytesMax)
      return err("The hook's input is over 16 MB: make the tool's input or output smaller.");
    parts.push(part);
  }
  const value = parseJson(Buffer.concat(parts).toString("utf8"));
  return isObject(value)
    ? ok(value)
    : err("The hook's input is not a JSON object: `hook` is started by the client, not by hand.");
}

async function decide(row: ClientRow, input: JsonObject, host: Host): Promise<HookOutput> {
  const eventRow = row.events[stringMember(input, row.fields.event) ?? ""];
  const tool = stringMember(input, row.fields.tool);
  // Events that the row does not name are none of ours; calls of MCP tools are decided where they pass the gateway.
  if (eventRow === undefined || (tool !== undefined && row.isMediated(tool))) return silence;
  const event = eventOf(eventRow, input);
  const request = hookRequest(row, { eventRow, event }, input);
  const answer = await askDaemon(request, host);
  if (answer.ok) return row.render(event, input, verdictOf(answer.value));
  if (event !== "pre-tool" || row.harmless.includes(tool ?? "")) return silence;
  // Neither a deny, which would lock the user out of their own tools, nor silence, which would let the call slip by.
  return row.render(event, input, { verdict: "confirm", sentence: answer.error });
}

function eventOf(row: EventRow, input: JsonObject): HookEvent {
  if (row.variant === undefined) return row.event;
  return row.variant.events[stringMember(input, row.variant.field) ?? ""] ?? row.event;
}

/** The control request `hook`; fields that the client did not send are left out. */
function hookRequest(
  row: ClientRow,
  { eventRow, event }: { readonly eventRow: EventRow; readonly event: HookEvent },
  input: JsonObject,
): Request<"hook"> {
  const { client: own, above } = clientChain();
  const facts = {
    conversation: stringMember(input, row.fields.conversation),
    cwd: stringMember(input, row.fields.cwd),
    agent: stringMember(input, row.fields.agent),
    source: eventRow.variant === undefined ? undefined : stringMember(input, eventRow.variant.field),
    prompt: event === "prompt" ? stringMember(input, row.fields.prompt) : undefined,
    tool: stringMember(input, row.fields.tool),
    call: stringMember(input, row.fields.call),
    arguments: member(input, row.fields.arguments),
    result: eventRow.result === undefined ? undefined : member(input, eventRow.result),
    failed: eventRow.failed,
    above: above.map(({ pid, startedAt }) => ({ pid, startedAt })),
  };
  const client = { pid: own.pid, startedAt: own.startedAt };
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return {
    kind: "hook",
    client: row.client,
    event,
    process: client,
    ...(Object.fromEntries(known) as Known<typeof facts>),
  }; // as filtered
}

type Known<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** Asks the running daemon; where none runs it is started, or every later hook of the session would find none either. */
async function askDaemon(request: Json, host: Host): Promise<Result<Json, string>> {
  const paths = daemonPaths(process.env);
  if (!paths.ok) return paths;
  const options = { version: ownVersion(), waitMsMax: hookWaitMsMax };
  const first = await ask(paths.value.socket, request, options);
  if (first.ok) return first;
  const absent = first.error.kind === "unreachable" && ["ENOENT", "ECONNREFUSED"].includes(first.error.code);
  if (!absent) return err(explain(first.error, paths.value));
  const started = await connectOrStart(paths.value, host, hookStartWaitMsMax);
  if (!started.ok) return started;
  const second = await askOver(started.value, request, options);
  return second.ok ? second : err(explain(second.error, paths.value));
}

function explain(failure: AskFailure, paths: DaemonPaths): string {
  switch (failure.kind) {
    case "refused":
      return failure.refused;
    case "unreachable":
      return `Sluicegate's daemon did not answer (${failure.code}), so this call was not checked: run \`sluicegate doctor\` or see ${paths.log.slice(-60)}.`;
  }
}

/** An answer that is none is a confirm: a bug must not pass for an allow. */
function verdictOf(answer: Json): HookVerdict {
  const reply = readReply("hook", answer);
  if (!reply.ok) return { verdict: "confirm", sentence: "Sluicegate asks you to look at this call." };
  const { verdict, sentence } = reply.value;
  return { verdict: verdict === "allow" || verdict === "deny" ? verdict : "confirm", sentence };
}

function refuse(sentence: string): HookOutput {
  return { stdout: undefined, stderr: `sluicegate: ${sentence}\n`, exitCode: 2 };
}

function emit(output: HookOutput): Promise<number> {
  if (output.stderr !== "") process.stderr.write(output.stderr);
  if (output.stdout === undefined) return Promise.resolve(output.exitCode);
  // Waits for the pipe: an exit right after the write may cut the JSON short.
  return new Promise((resolve) => {
    process.stdout.write(`${JSON.stringify(output.stdout)}\n`, () => resolve(output.exitCode));
  });
}
