/**
 * A trace as a record: flat, dotted names of ECS and OpenTelemetry where they have one (OCSF and Falco map onto them),
 * `sluicegate.*` for the rest. Records are written to the log and read back for replay, so both directions are total,
 * and what cannot be read whole is not read at all: half a trace would excuse what is missing in it.
 */
import type { EffectEvent, EffectTrace, ProjectionPlaces, WorkspaceChange } from "./effect-trace.ts";
import {
  effectActions,
  effectGrades,
  effectPhases,
  traceChangesMax,
  traceEventsMax,
  traceTextCharactersMax,
} from "./effect-trace.ts";
import type { Json, JsonObject } from "./json.ts";
import { isArray, isRawNumber, member } from "./json.ts";
import { isolationTiers } from "./scope.ts";

/** Folders of one kind in the places of a trace, and characters of one path there (PATH_MAX of Linux). */
const placesMax = 256;
const placeCharactersMax = 4_096;

const tiers = [...isolationTiers, "remote"] as const;
const changeKinds = ["added", "modified", "deleted", "mode", "link", "special"] as const;

/** The record of a trace; `traceFrom` gives the same trace back. */
export function traceJson(trace: EffectTrace): JsonObject {
  const { home, workspace, code, scratch } = trace.places;
  return {
    "sluicegate.tier": trace.tier,
    "sluicegate.complete": trace.complete,
    "sluicegate.dropped": trace.dropped,
    ...(trace.failure === undefined ? {} : { "sluicegate.failure": trace.failure }),
    "sluicegate.places": { home, workspace, code, scratch },
    "sluicegate.events": trace.events.map(eventJson),
    "sluicegate.changes": trace.changes.map(changeJson),
  };
}

/** One event as a record. ECS knows no `denied`: it is a failure that a verdict of ours brought about. */
export function eventJson(event: EffectEvent): JsonObject {
  const name = event.action === "dns-query" ? "dns.question.name" : "destination.domain";
  const fields: Record<string, Json | undefined> = {
    "event.sequence": event.sequence,
    "sluicegate.at_ms": event.at,
    "event.category": categoryOf(event.action),
    "event.action": event.action,
    "event.outcome": event.outcome === "denied" || event.outcome === "failed" ? "failure" : event.outcome,
    "sluicegate.verdict": event.outcome === "denied" ? "deny" : undefined,
    "sluicegate.trust": event.grade,
    "sluicegate.attribution": event.phase,
    "sluicegate.count": event.count,
    "file.path": event.path,
    "file.target_path": event.target,
    [name]: event.domain,
    "destination.ip": event.address,
    "destination.port": event.port,
    "network.transport": event.transport,
    "process.executable": event.program,
    "process.command_line": event.commandLine,
    "network.bytes": event.bytes,
    "process.pid": event.process,
    "sluicegate.detail": event.detail,
  };
  return present(fields);
}

/** ECS category of an action. */
function categoryOf(action: EffectEvent["action"]): string {
  if (action.startsWith("file-")) return "file";
  if (action.startsWith("net-") || action === "dns-query") return "network";
  return action === "limit-hit" ? "host" : "process";
}

function changeJson(change: WorkspaceChange): JsonObject {
  return {
    "file.path": change.path,
    "event.action": change.kind,
    "file.size": change.bytes,
    "sluicegate.guarded": change.guarded,
  };
}

/** Reads a record back; undefined for what is no trace, or goes beyond the limits of one. */
export function traceFrom(json: Json): EffectTrace | undefined {
  const tier = oneOf(tiers, member(json, "sluicegate.tier"));
  const complete = member(json, "sluicegate.complete");
  const dropped = count(member(json, "sluicegate.dropped"));
  const places = placesFrom(member(json, "sluicegate.places"));
  const events = listFrom(member(json, "sluicegate.events"), traceEventsMax, eventFrom);
  const changes = listFrom(member(json, "sluicegate.changes"), traceChangesMax, changeFrom);
  const failure = member(json, "sluicegate.failure");
  if (tier === undefined || typeof complete !== "boolean" || dropped === undefined) return undefined;
  if (places === undefined || events === undefined || changes === undefined) return undefined;
  if (failure !== undefined && !isText(failure)) return undefined;
  return { tier, complete, dropped, places, events, changes, ...(failure === undefined ? {} : { failure }) };
}

/** Processes of one server that are told of together. */
const tracesMax = 1_024;

/** The record of several processes: each with its own places and bounds, since one list for all would excuse a flood. */
export function tracesJson(traces: readonly EffectTrace[]): Json {
  const [first, ...more] = traces;
  return first !== undefined && more.length === 0 ? traceJson(first) : traces.map(traceJson);
}

/** Reads the record of one process or of several; undefined if any of them cannot be read. */
export function tracesFrom(json: Json): readonly EffectTrace[] | undefined {
  if (isArray(json)) return listFrom(json, tracesMax, traceFrom);
  const only = traceFrom(json);
  return only === undefined ? undefined : [only];
}

/** Reads one event back. */
export function eventFrom(json: Json): EffectEvent | undefined {
  const action = oneOf(effectActions, member(json, "event.action"));
  const outcome = outcomeFrom(member(json, "event.outcome"), member(json, "sluicegate.verdict"));
  const grade = oneOf(effectGrades, member(json, "sluicegate.trust"));
  const phase = oneOf(effectPhases, member(json, "sluicegate.attribution"));
  const sequence = count(member(json, "event.sequence"));
  const at = finite(member(json, "sluicegate.at_ms"));
  const times = count(member(json, "sluicegate.count"));
  if (action === undefined || outcome === undefined || grade === undefined || phase === undefined) return undefined;
  if (sequence === undefined || at === undefined || times === undefined || times === 0) return undefined;
  const details = detailsFrom(json, action);
  return details === undefined ? undefined : { sequence, at, action, outcome, grade, phase, count: times, ...details };
}

type EventDetails = Pick<
  EffectEvent,
  | "path"
  | "target"
  | "domain"
  | "address"
  | "port"
  | "transport"
  | "program"
  | "commandLine"
  | "bytes"
  | "process"
  | "detail"
>;

/** The optional fields; undefined if one is there that is not what it should be. */
function detailsFrom(json: Json, action: EffectEvent["action"]): EventDetails | undefined {
  const texts = {
    path: member(json, "file.path"),
    target: member(json, "file.target_path"),
    domain: member(json, action === "dns-query" ? "dns.question.name" : "destination.domain"),
    address: member(json, "destination.ip"),
    program: member(json, "process.executable"),
    commandLine: member(json, "process.command_line"),
    detail: member(json, "sluicegate.detail"),
  };
  const counts = {
    port: member(json, "destination.port"),
    bytes: member(json, "network.bytes"),
    process: member(json, "process.pid"),
  };
  const transport = member(json, "network.transport");
  if (Object.values(texts).some((text) => text !== undefined && !isText(text))) return undefined;
  if (Object.values(counts).some((number) => number !== undefined && count(number) === undefined)) return undefined;
  if (transport !== undefined && oneOf(["tcp", "udp", "unix"], transport) === undefined) return undefined;
  // Every field was checked above; what is absent is left out, because a field that is undefined is not absent.
  return present({ ...texts, ...counts, transport }) as EventDetails;
}

function changeFrom(json: Json): WorkspaceChange | undefined {
  // A file of the workspace is named by its whole path, which no text of an event bounds.
  const path = place(member(json, "file.path") ?? null);
  const kind = oneOf(changeKinds, member(json, "event.action"));
  const bytes = count(member(json, "file.size"));
  const guarded = member(json, "sluicegate.guarded");
  if (path === undefined || kind === undefined || bytes === undefined || typeof guarded !== "boolean") return undefined;
  return { path, kind, bytes, guarded };
}

function placesFrom(json: Json | undefined): ProjectionPlaces | undefined {
  const home = place(member(json, "home") ?? null);
  const workspace = listFrom(member(json, "workspace"), placesMax, place);
  const code = listFrom(member(json, "code"), placesMax, place);
  const scratch = listFrom(member(json, "scratch"), placesMax, place);
  if (home === undefined || workspace === undefined || code === undefined || scratch === undefined) return undefined;
  return { home, workspace, code, scratch };
}

function place(json: Json): string | undefined {
  return typeof json === "string" && json.length <= placeCharactersMax ? json : undefined;
}

function outcomeFrom(outcome: Json | undefined, verdict: Json | undefined): EffectEvent["outcome"] | undefined {
  if (verdict !== undefined && (verdict !== "deny" || outcome !== "failure")) return undefined;
  if (outcome === "failure") return verdict === "deny" ? "denied" : "failed";
  return oneOf(["success", "unknown"], outcome);
}

/** Every entry of a list of bounded length, or undefined if one of them cannot be read. */
function listFrom<T>(
  json: Json | undefined,
  max: number,
  read: (entry: Json) => T | undefined,
): readonly T[] | undefined {
  if (!isArray(json) || json.length > max) return undefined;
  const found: T[] = [];
  for (const entry of json) {
    const value = read(entry);
    if (value === undefined) return undefined;
    found.push(value);
  }
  return found;
}

function present(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function oneOf<T extends string>(list: readonly T[], json: Json | undefined): T | undefined {
  return list.find((entry) => entry === json);
}

function isText(json: Json | undefined): json is string {
  return typeof json === "string" && json.length <= traceTextCharactersMax;
}

/** A clock with many digits comes back from storage as a number that kept its lexeme. */
function finite(json: Json | undefined): number | undefined {
  const value = isRawNumber(json) ? Number(json.rawJSON) : json;
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function count(json: Json | undefined): number | undefined {
  const value = finite(json);
  return value !== undefined && Number.isSafeInteger(value) ? value : undefined;
}
