/** Recorded behaviour of servers: from the event log, or by driving one now. */
import { existsSync } from "node:fs";
import { BoundedMap } from "../../core/bounded-map.ts";
import { tracesFrom } from "../../core/isolation/effect-record.ts";
import { type EffectTrace, traceQuestionKind } from "../../core/isolation/effect-trace.ts";
import { PlacesRead } from "../../core/isolation/trace-dictionary.ts";
import { isWithin } from "../../core/isolation/scope-patterns.ts";
import { isObject, member, type JsonObject } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { viewsOf, recordPages } from "../../gateway/log/record.ts";
import { type Grounds, groundsOf } from "../../mechanisms/projection/grounds.ts";
import { noiseOf } from "../../mechanisms/projection/noise.ts";
import { type Proposal, type Watched, proposeScope } from "../../policy/isolation/propose.ts";
import { readLogs, storeFault, type LogFault, type LogName, type NamedLog } from "../state/log-files.ts";
import { DrivenServer, type ServerCommand } from "./driven-server.ts";
import { textOf } from "./mcp-client.ts";

/** Traces of one log that a proposal is made from, the newest of them; older behaviour is another server's by now. */
const tracesMax = 20_000;

export type ScriptedCall = { readonly tool: string; readonly arguments: JsonObject };

/** Everything that was recorded of a server, log by log and oldest first. */
export async function watchedInLogs(
  server: string,
  chosen: LogName | undefined,
): Promise<Result<readonly Watched[], LogFault>> {
  const opened = readLogs(process.env, chosen);
  if (!opened.ok) return opened;
  const watched: Watched[] = [];
  try {
    for (const log of opened.value) {
      const read = await watchedIn(log, server);
      if (!read.ok) return read;
      watched.push(...read.value);
    }
    return ok(watched);
  } finally {
    await Promise.all(opened.value.map(({ store }) => store.close(false)));
  }
}

async function watchedIn({ store, keys }: NamedLog, server: string): Promise<Result<readonly Watched[], LogFault>> {
  const watched: Watched[] = [];
  const tools = new Map<string, string>();
  const places = new BoundedMap<string, PlacesRead>(runsMax);
  for await (const page of recordPages(store, {})) {
    if (!page.ok) return err(storeFault(page.error));
    for (const view of page.value.flatMap((record) => viewsOf(keys, record))) {
      if (view.call !== undefined && view.tool !== undefined) tools.set(view.call, view.tool);
      const soFar = { tools, places: placesOf(places, view.run) };
      for (const part of [view.clear, view.payload]) watched.push(...tracesIn(part, server, soFar));
    }
    watched.splice(0, watched.length - tracesMax);
  }
  return ok(watched);
}

/** Runs whose places are kept in mind while a log is read; records of one run lie close to each other. */
const runsMax = 256;

function placesOf(places: Map<string, PlacesRead>, run: string): PlacesRead {
  const known = places.get(run) ?? new PlacesRead();
  places.set(run, known);
  return known;
}

type SoFar = { readonly tools: ReadonlyMap<string, string>; readonly places: PlacesRead };

function tracesIn(part: JsonObject | undefined, server: string, { tools, places }: SoFar): readonly Watched[] {
  const answers = member(part, "answers");
  if (!isObject(answers)) return [];
  const head = `${traceQuestionKind} ${server} `;
  return Object.entries(answers).flatMap(([key, answer]) => {
    const value = key.startsWith(head) ? member(answer, "value") : undefined;
    const traces = value === undefined ? undefined : tracesFrom(places.whole(value));
    const call = key.slice(head.length);
    return (traces ?? []).map((trace) => ({ tool: call === "" ? undefined : tools.get(call), trace }));
  });
}

export type Driven = {
  readonly tier: string;
  readonly notes: readonly string[];
  readonly watched: readonly Watched[];
  /** Calls that brought no result, one sentence each. */
  readonly failed: readonly string[];
};

/** Starts a server in `learn` mode, makes the calls of a script, and says what it saw. */
export async function watchedNow(
  target: ServerCommand,
  order: IsolationOrder,
  calls: readonly ScriptedCall[],
  told?: (line: string) => void,
): Promise<Result<Driven, string>> {
  const started = await DrivenServer.start(target, order, told === undefined ? {} : { told });
  if (!started.ok) return started;
  const driver = started.value;
  try {
    const listed = await driver.list();
    if (!listed.ok) return listed;
    const watched: Watched[] = [];
    const failed: string[] = [];
    for (const { tool, arguments: given } of calls) {
      const called = await driver.call(tool, given);
      if (!called.ok) return called;
      if (called.value.failed)
        failed.push(`${tool}: ${(textOf(called.value) || JSON.stringify(called.value.value)).slice(0, 160)}`);
      if (called.value.trace !== undefined) watched.push({ tool, trace: called.value.trace });
    }
    const rest = await driver.background();
    if (rest !== undefined) watched.push({ tool: undefined, trace: rest });
    return ok({ tier: driver.tier, notes: driver.notes, watched, failed });
  } finally {
    await driver.close();
  }
}

/** The proposal, without what runtimes do by themselves. */
export function proposalOf(order: IsolationOrder, watched: readonly Watched[]): Proposal {
  const grounds = new Map(watched.map(({ trace }) => [trace.places, groundsFor(order, trace)]));
  return proposeScope(order.server, watched, {
    noise: (event, places) => {
      const known = grounds.get(places);
      // A connection that ends at the broker is an attempt to leave, even to an address of the server's own.
      if (known === undefined || (event.grade === "broker" && event.action === "net-connect")) return false;
      const atHome = event.path !== undefined && isWithin(event.path, places.home);
      return noiseOf(event, atHome ? known.atHome : known.anywhere) !== undefined;
    },
    exists: existsSync,
  });
}

/** A home folder that is not private stays so inside a private folder (`/tmp`). */
function groundsFor(
  order: IsolationOrder,
  trace: EffectTrace,
): { readonly anywhere: Grounds; readonly atHome: Grounds } {
  const { places } = trace;
  const scratch = places.scratch.filter((folder) => folder === places.home || !isWithin(places.home, folder));
  return {
    anywhere: groundsOf(order, trace, undefined),
    atHome: groundsOf(order, { ...trace, places: { ...places, scratch } }, undefined),
  };
}
