/**
 * A trace as a record: flat, dotted names of ECS and OpenTelemetry where they have one (OCSF and Falco map onto them),
 * `sluicegate.*` for the rest. Records are logged and read back for replay, so both directions are total. A record that
 * cannot be read whole is refused: half a trace would excuse the missing half.
 */
import {
  type EffectEvent,
  type EffectTrace,
  type ProjectionPlaces,
  type WorkspaceChange,
  effectActions,
  effectGrades,
  effectPhases,
  traceChangesMax,
  traceEventsMax,
  traceTextCharactersMax,
} from "./effect-trace.ts";
import { type Json, type JsonObject, isArray, isObject, isRawNumber, member } from "../json.ts";
import { isolationTiers } from "./scope.ts";

/** Folders of one kind in the places of a trace, and characters of one path there (PATH_MAX of Linux). */
const placesMax = 256;
const placeCharactersMax = 4_096;

const tiers = [...isolationTiers, "remote"] as const;
const changeKinds = ["added", "modified", "deleted", "mode", "link", "special"] as const;

/** Places of a trace without events and changes, which need none. */
const nowhere: ProjectionPlaces = { home: "", workspace: [], code: [], scratch: [] };

/**
 * The record of a trace; `traceFrom` gives the same trace back. Most traces have neither events nor changes: their record
 * is short, and comes back without its places.
 */
export function traceJson(trace: EffectTrace): JsonObject {
  const about = {
    "sluicegate.tier": trace.tier,
    "sluicegate.complete": trace.complete,
    "sluicegate.dropped": trace.dropped,
    ...(trace.failure === undefined ? {} : { "sluicegate.failure": trace.failure }),
  };
  if (trace.events.length === 0 && trace.changes.length === 0) return about;
  return {
    ...about,
    "sluicegate.places": placesJson(trace.places),
    "sluicegate.events": trace.events.map(eventJson),
    "sluicegate.changes": trace.changes.map(changeJson),
  };
}

const placesJsons = new WeakMap<ProjectionPlaces, JsonObject>();

/** The same places give the same object, so a writer of many records can refer to it (`trace-dictionary.ts`). */
function placesJson(places: ProjectionPlaces): JsonObject {
  const known = placesJsons.get(places);
  if (known !== undefined) return known;
  const { home, workspace, code, scratch } = places;
  const made = { home, workspace, code, scratch };
  placesJsons.set(places, made);
  return made;
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

/** Reads a record; undefined for any other JSON, and beyond the limits of a trace. */
export function traceFrom(json: Json): EffectTrace | undefined {
  const tier = oneOf(tiers, member(json, "sluicegate.tier"));
  const complete = member(json, "sluicegate.complete");
  const dropped = count(member(json, "sluicegate.dropped"));
  // Of the three all are there or none: events without the places would be judged by none of them.
  const parts = ["sluicegate.places", "sluicegate.events", "sluicegate.changes"].map((name) => member(json, name));
  const quiet = parts.every((part) => part === undefined);
  const places = quiet ? nowhere : placesFrom(parts[0]);
  const events = quiet ? [] : listFrom(parts[1], traceEventsMax, eventFrom);
  const changes = quiet ? [] : listFrom(parts[2], traceChangesMax, changeFrom);
  const failure = member(json, "sluicegate.failure");
  if (tier === undefined || typeof complete !== "boolean" || dropped === undefined) return undefined;
  if (places === undefined || events === undefined || changes === undefined) return undefined;
  if (failure !== undefined && !isText(failure)) return undefined;
  return { tier, complete, dropped, places, events, changes, ...(failure === undefined ? {} : { failure }) };
}

/** True for the record of a trace without events: it holds no data of the server or the user. */
export function isQuietRecord(json: Json): boolean {
  if (!isObject(json)) return false;
  for (const name in json) if (!quietNames.has(name)) return false;
  // Any other text under these names would be foreign data.
  const said =
    typeof member(json, "sluicegate.complete") === "boolean" && count(member(json, "sluicegate.dropped")) !== undefined;
  return said && oneOf(tiers, member(json, "sluicegate.tier")) !== undefined;
}

const quietNames: ReadonlySet<string> = new Set(["sluicegate.tier", "sluicegate.complete", "sluicegate.dropped"]);

/** Processes of one server in one record. */
const tracesMax = 1_024;

/** The record of several processes: each with its own places and bounds, since one list for all would excuse a flood. */
export function tracesJson(traces: readonly EffectTrace[]): Json {
  const [first, ...more] = traces;
  return first !== undefined && more.length === 0 ? traceJson(first) : traces.map(traceJson);
}

/** Reads the record of one process or of several; undefined if one of them cannot be read. */
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

/** The optional fields; undefined if one of them has the wrong type. */
function detailsFrom(json: Json, action: EffectEvent["action"]): EventDetails | undefined {
  const details: Record<string, string | number> = {};
  for (const [field, name] of action === "dns-query" ? textsOfQuestion : textsOfEvent) {
    const text = member(json, name);
    if (text === undefined) continue;
    if (!isText(text)) return undefined;
    details[field] = text;
  }
  for (const [field, name] of countsOfEvent) {
    const number = member(json, name);
    if (number === undefined) continue;
    const value = count(number);
    if (value === undefined) return undefined;
    details[field] = value;
  }
  const transport = member(json, "network.transport");
  const known = oneOf(transports, transport);
  if (transport !== undefined && known === undefined) return undefined;
  if (known !== undefined) details["transport"] = known;
  // Each field was checked on its way in, and has the name that the tables give it.
  return details as EventDetails;
}

type Field = readonly [field: keyof EventDetails, name: string];

const transports = ["tcp", "udp", "unix"] as const;

const plainTexts: readonly Field[] = [
  ["path", "file.path"],
  ["target", "file.target_path"],
  ["address", "destination.ip"],
  ["program", "process.executable"],
  ["commandLine", "process.command_line"],
  ["detail", "sluicegate.detail"],
];
const textsOfEvent: readonly Field[] = [...plainTexts, ["domain", "destination.domain"]];
const textsOfQuestion: readonly Field[] = [...plainTexts, ["domain", "dns.question.name"]];
const countsOfEvent: readonly Field[] = [
  ["port", "destination.port"],
  ["bytes", "network.bytes"],
  ["process", "process.pid"],
];

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
  const kept: Record<string, Json> = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
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
