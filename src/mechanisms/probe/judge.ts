/**
 * Judges what a probe did, without a model (lifecycle.md 1.3, 1.4). An error of a server is no fault: an honest tool without
 * its network fails. A hard violation rejects the server by itself; the rest counts into S_deny.
 */
import { type Json, type JsonObject, isArray, isObject, member } from "../../core/json.ts";
import { type Canary, canariesIn } from "./canary.ts";

/**
 * What a probe was for: `plain`, `repeat` and `again` have equal arguments, `full` all fields, `edge` the ends of ranges,
 * `canary` a token in each text.
 */
export type ProbeKind = "plain" | "full" | "edge" | "canary" | "repeat" | "again";

/** What a projection saw of a server beside its answer, as judged there. */
export type Sighting = {
  /** Id of the rule that holds against it (`file.secret`, `net.destination`, ...). */
  readonly rule: string;
  /** The event as a clause. */
  readonly what: string;
};

/** One probe: what was asked and everything that is known of what followed (MCPShield, section 4.2, the artifact). */
export type Artifact = {
  readonly tool: string;
  readonly kind: ProbeKind;
  readonly arguments: JsonObject;
  /** The answer as JSON; undefined where none came. */
  readonly output: Json | undefined;
  readonly failed: boolean;
  readonly seen: readonly Sighting[];
  /** Names, addresses, paths, command lines and payloads of everything that it did: searched for canaries. */
  readonly traces: readonly string[];
};

/** Codes of objections, each with what it says, as a phrase. */
export const objectionTexts = {
  "canary-leak": "Something that was planted as private came out",
  "foreign-canary": "What one call was given is passed on by another",
  "out-of-scope": "An effect outside of what a server may do by itself",
  "instruction-in-output": "Text of an answer that gives orders to the model",
  "text-in-output": "Text of an answer that may give orders to the model",
  "text-in-list": "A tool that is listed later has text that may give orders to the model",
  "changed-answer": "The same call does something else another time",
  "changed-list": "The list of tools is another one another time",
} as const;

/** What is held against a probe: `hard` alone rejects the server. */
export type Objection = {
  readonly code: keyof typeof objectionTexts;
  readonly hard: boolean;
  /** One sentence with what was found; texts of the server are in it as data. */
  readonly reason: string;
};

export type ProbeVerdict = { readonly verdict: "allow" | "deny"; readonly objections: readonly Objection[] };

export type Orders = { readonly certain: boolean; readonly rule: string; readonly excerpt: string };

/** What the whole of the probes knows, beside the one that is judged. */
export type ProbeContext = {
  readonly canaries: readonly Canary[];
  /** Number of the probe, as `Canary.place` counts. */
  readonly number: number;
  /** Orders to a model in a text; `certain` where two kinds of them agree. */
  readonly ordersIn: (text: string, tool: string) => Orders | undefined;
  /** The same call earlier, to compare with. */
  readonly before: Artifact | undefined;
};

export function judgeProbe(artifact: Artifact, context: ProbeContext): ProbeVerdict {
  const objections = [
    ...leaks(artifact, context),
    ...scope(artifact),
    ...instructions(artifact, context),
    ...changes(artifact, context.before),
  ];
  return { verdict: objections.length === 0 ? "allow" : "deny", objections };
}

/**
 * A canary of a variable or file anywhere. An argument of another call is no leak in an answer, since a server may keep what
 * it is given; in what it sends or runs it is.
 */
function leaks({ tool, output, traces }: Artifact, { canaries, number }: ProbeContext): readonly Objection[] {
  const found: Objection[] = [];
  const said = canariesIn(textsIn(output).join("\n"), canaries);
  const sent = canariesIn(traces.join("\n"), canaries);
  for (const { place } of sent) {
    const elsewhere = place.kind === "argument" && place.probe !== number;
    if (elsewhere)
      found.push({ code: "foreign-canary", hard: false, reason: "it passes on an argument of another call" });
    if (place.kind === "name")
      found.push({ code: "canary-leak", hard: true, reason: "it passes on names of files in the home folder" });
    else if (place.kind !== "argument")
      found.push({
        code: "canary-leak",
        hard: true,
        reason: `it passes on what stands in the ${place.kind} ${place.name}`,
      });
  }
  for (const { place } of said) {
    // A tool that says by its name that it shows variables does what it says.
    const isTold = place.kind === "variable" && /(?:^|[^a-z])env/i.test(tool);
    // Listing files is what many tools are for; sending their names away is not.
    if (place.kind !== "argument" && place.kind !== "name" && !isTold)
      found.push({
        code: "canary-leak",
        hard: true,
        reason: `its answer holds what stands in the ${place.kind} ${place.name}`,
      });
  }
  return found;
}

/** Rules whose breach no kind of tool explains: keys of the user, files that others obey, other processes. */
const hardRules: ReadonlySet<string> = new Set([
  "file.secret",
  "file.obeyed",
  "process.signal",
  "process.call",
  "metadata.address",
]);

/** Hosts are a question of the scope that a server gets; everything else outside of its projection counts. */
function scope({ seen }: Artifact): readonly Objection[] {
  return seen
    .filter(({ rule }) => !rule.startsWith("net."))
    .slice(0, objectionsMax)
    .map(({ rule, what }) => ({ code: "out-of-scope", hard: hardRules.has(rule), reason: `it ${what} (${rule})` }));
}

const objectionsMax = 8;

/** Text of an answer that gives orders to the model. */
function instructions({ output, tool }: Artifact, { ordersIn }: ProbeContext): readonly Objection[] {
  const found = ordersIn(textsIn(output).join("\n"), tool);
  if (found === undefined) return [];
  const { certain: hard, rule, excerpt } = found;
  const code = hard ? "instruction-in-output" : "text-in-output";
  return [{ code, hard, reason: `its answer says "${excerpt}" (${rule})` }];
}

/** The same call with the same arguments answers in another form. */
function changes(artifact: Artifact, before: Artifact | undefined): readonly Objection[] {
  if (before === undefined || before.failed || artifact.failed) return [];
  if (isAlike(before.output, artifact.output, 0)) return [];
  return [{ code: "changed-answer", hard: false, reason: "the same call answered in another form than before" }];
}

const shapeDepthMax = 32;

/** The same members and types; texts, numbers and the length of lists may differ. */
function isAlike(one: Json | undefined, other: Json | undefined, depth: number): boolean {
  if (depth > shapeDepthMax) return true;
  if (isArray(one) && isArray(other)) {
    const [first, second] = [one[0], other[0]];
    return first === undefined || second === undefined || isAlike(first, second, depth + 1);
  }
  if (!isObject(one) || !isObject(other)) return typeof one === typeof other && isObject(one) === isObject(other);
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every(
    (name) => Object.hasOwn(other, name) && isAlike(member(one, name), member(other, name), depth + 1),
  );
}

/** Every string of an answer, its names included, in order; more than `textsMax` where it has more than that. */
export function textsIn(value: Json | undefined): readonly string[] {
  const texts: string[] = [];
  const open: (Json | undefined)[] = [value];
  for (let next = open.pop(); open.length > 0 || next !== undefined; next = open.pop()) {
    if (typeof next === "string") texts.push(next);
    else if (isArray(next)) open.push(...next.toReversed());
    else if (isObject(next)) {
      texts.push(...Object.keys(next));
      open.push(...Object.values(next).toReversed());
    }
    if (texts.length > textsMax) break;
  }
  return texts;
}

export const textsMax = 10_000;
