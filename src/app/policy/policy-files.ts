/**
 * The policies of a running gateway: read once, read again when a file changes. A policy with errors never takes
 * effect; the old one stays, and the operator gets a notice (policy.md 1, gateway.md 9). Of several policies the most
 * specific `match` holds; where none matches, nothing may pass.
 */
import { watch, type FSWatcher } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { SealedMechanism } from "../../core/mechanism.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { type LoadedPolicy, type Policies, startProblem } from "../../gateway/ports/policy.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import { type Who, selectionProblems, selectPolicy } from "../../policy/select.ts";
import type { PolicySource } from "../../policy/canonical/policy-document.ts";
import type { Problem } from "../../policy/document/diagnostic.ts";
import { type Placed, compiledFrom, firstSentence, placedFrom } from "./named-policy.ts";
import { loadedPolicy } from "./loaded-policy.ts";
import { today } from "./policy-source.ts";
import { programProblems } from "./rule-programs.ts";

/** Editors write a file in several steps; a change is read when it has been quiet for this long. */
const quietMs = 100;

/** A tag of this form names the policy file of a connection, over any `match`. */
const fileTag = "policy file ";

export function tagOfFile(file: string): string {
  return `${fileTag}${file}`;
}

export function fileOfTag(tag: string | undefined): string | undefined {
  return tag?.startsWith(fileTag) === true ? tag.slice(fileTag.length) : undefined;
}

/** The files that a policy file is made of, and the folders that are watched for them. */
type Watched = {
  parts: ReadonlySet<string>;
  readonly folders: Set<string>;
  timer: NodeJS.Timeout | undefined;
  /** The last change, once it is taken or refused. */
  read: Promise<void>;
};

type Entry = {
  readonly policy: CompiledPolicy["policy"];
  readonly loaded: LoadedPolicy;
  /** Last day of the accepted reading that ends first. */
  readonly until: string | undefined;
};

/** Readings accepted on cards, which are added to every policy. */
export type Readings = {
  readonly source: PolicySource | undefined;
  readonly onChange: (listener: () => void) => void;
};

/** Holds for clients that no policy speaks of. */
const noPolicy = {
  version: 1,
  rules: [
    {
      id: "no-policy",
      tier: "block",
      when: { tool: "*" },
      why: "no policy matches this client",
    },
  ],
} as const;

/** Mechanisms that a gateway adds to those of every policy. */
export type MoreMechanisms = (policy: CompiledPolicy) => readonly SealedMechanism[];

export type PolicyOptions = {
  readonly more?: MoreMechanisms;
  /** Finds the programs of a changed policy that do not load; a gateway goes on serving meanwhile. */
  readonly programs?: ((policy: CompiledPolicy) => Promise<readonly Problem[]>) | undefined;
  readonly tag?: string | undefined;
  /** The current files for `match` to select from; without it the initial ones stay. */
  readonly wanted?: (() => readonly string[]) | undefined;
  readonly readings?: Readings | undefined;
};

export class PolicyFiles implements Policies {
  /** Files that `match` selects from; empty = the default policy for everybody. */
  #files: readonly string[];
  readonly #entries = new Map<string, Entry>();
  readonly #watchers: FSWatcher[] = [];
  readonly #watched = new Map<string, Watched>();
  #parts: readonly string[] | undefined;
  readonly #listeners: (() => void)[] = [];
  readonly #tell: (text: string) => void;
  readonly #more: MoreMechanisms;
  readonly #programs: NonNullable<PolicyOptions["programs"]>;
  /** Tag of connections that have none of their own: that of the gateway. */
  readonly #tag: string | undefined;
  readonly #wanted: () => readonly string[];
  readonly #readings: Readings | undefined;
  /** Reloads on behalf of cards, one after the other. */
  #refreshed: Promise<void> = Promise.resolve();
  #nothing: LoadedPolicy | undefined;

  constructor(
    files: readonly string[],
    tell: (text: string) => void,
    {
      more = () => [],
      programs = async (policy) => programProblems(policy),
      tag,
      wanted,
      readings,
    }: PolicyOptions = {},
  ) {
    this.#readings = readings;
    readings?.onChange(() => void this.refresh());
    this.#files = files;
    this.#wanted = wanted ?? (() => files);
    this.#tag = tag;
    this.#tell = tell;
    this.#more = more;
    this.#programs = programs;
  }

  /** Loads everything that `match` selects from, and gives the policy whose settings hold for the log: the first. */
  openAll(): Result<LoadedPolicy, string> {
    const opened = this.#files.length === 0 ? [this.open(undefined)] : this.#files.map((file) => this.open(file));
    const failed = opened.find((one) => !one.ok);
    const [first] = opened;
    if (failed !== undefined) return failed;
    const tie = selectionProblems(this.#candidates())[0];
    if (tie !== undefined) return err(sentenceOf(tie));
    return first ?? err("No policy was given.");
  }

  /** Loads a file, or the default, before anything is decided under it. */
  open(file: string | undefined): Result<LoadedPolicy, string> {
    const known = this.#entries.get(file ?? "");
    if (known !== undefined) return ok(known.loaded);
    const compiled = this.#compiled(file);
    if (!compiled.ok) return compiled;
    return this.#take(file, compiled.value, programProblems(compiled.value.policy));
  }

  /** Loads a file, or the default, while the gateway goes on deciding; beside that it is `open`. */
  async load(file: string | undefined): Promise<Result<LoadedPolicy, string>> {
    const known = this.#entries.get(file ?? "");
    if (known !== undefined) return ok(known.loaded);
    const compiled = this.#compiled(file);
    if (!compiled.ok) return compiled;
    const silent = await this.#programs(compiled.value.policy);
    // Another load that finished meanwhile has read it later.
    const newer = this.#entries.get(file ?? "");
    return newer === undefined ? this.#take(file, compiled.value, silent) : ok(newer.loaded);
  }

  /** `match` selects from the files that are wanted now, once all are loaded; the error says why those before stay. */
  async follow(): Promise<Result<void, string>> {
    const files = this.#wanted();
    if (sameFiles(files, this.#files)) return ok(undefined);
    const wanted = files.length === 0 ? [undefined] : files;
    const loaded = await Promise.all(wanted.map((file) => this.load(file)));
    const failed = loaded.find((one) => !one.ok);
    if (failed !== undefined) return failed;
    const tie = selectionProblems(this.#candidates(files))[0];
    if (tie !== undefined) return err(sentenceOf(tie));
    if (sameFiles(files, this.#files)) return ok(undefined); // another session was faster
    this.#files = files;
    const names = files.length === 0 ? "the default" : files.join(", ");
    this.#tell(`Your policies are ${names} now; they hold from the next decision on.`);
    for (const listener of this.#listeners) listener();
    return ok(undefined);
  }

  /** Reads every policy again: cards were answered, or a reading ended. */
  refresh(): Promise<void> {
    this.#refreshed = this.#refreshed.then(async () => {
      for (const file of this.#entries.keys()) await this.#reload(file === "" ? undefined : file);
    });
    return this.#refreshed;
  }

  /** Leaves out the readings whose last day is over; to be called every minute or so. */
  newDay(nowMs: number): void {
    const day = today(nowMs);
    if ([...this.#entries.values()].some(({ until }) => until !== undefined && until < day)) void this.refresh();
  }

  select(who: Who): LoadedPolicy {
    const named = fileOfTag(who.tag);
    if (named !== undefined) return this.#opened(named);
    if (this.#files.length === 0) return this.#opened(undefined);
    const tagged = { ...who, tag: who.tag ?? this.#tag };
    return selectPolicy(this.#candidates(), tagged)?.loaded ?? this.#denying();
  }

  /** Every policy that is in force for some client. */
  loaded(): readonly LoadedPolicy[] {
    return [...this.#entries.values()].map((entry) => entry.loaded);
  }

  /** Every file that policies are made of, their programs included; another list once there are others. */
  files(): readonly string[] {
    this.#parts ??= [...new Set([...this.#watched.values()].flatMap(({ parts }) => [...parts]))];
    return this.#parts;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
  }

  /** A connection is only accepted after its policy was opened; a file that is gone by now changes nothing. */
  #opened(file: string | undefined): LoadedPolicy {
    const opened = this.open(file);
    return opened.ok ? opened.value : this.#denying();
  }

  #denying(): LoadedPolicy {
    if (this.#nothing !== undefined) return this.#nothing;
    const compiled = compiledFrom({ file: "no policy", document: noPolicy });
    if (!compiled.ok) throw new Error(`the policy for nobody does not compile: ${compiled.error}`);
    this.#nothing = loadedPolicy(compiled.value, "no policy");
    return this.#nothing;
  }

  #candidates(files = this.#files): readonly Entry[] {
    return files.flatMap((file) => this.#entries.get(file) ?? []);
  }

  /** Reads a policy, and watches what it is made of. */
  #compiled(file: string | undefined): Result<Placed, string> {
    const parts = new Set(file === undefined ? [] : [resolve(file)]);
    const compiled = placedFrom(file, (part) => parts.add(part), this.#readings?.source);
    const watched = file === undefined ? undefined : this.#watched.get(file);
    if (file !== undefined && compiled.ok) this.#watch(file, parts);
    // With an error not all of them were read, and a change of any may remove the error.
    else if (file !== undefined && watched !== undefined) this.#watch(file, new Set([...watched.parts, ...parts]));
    return compiled;
  }

  #take(file: string | undefined, placed: Placed, silent: readonly Problem[]): Result<LoadedPolicy, string> {
    const failed = firstSentence(placed, silent);
    const entry = failed === undefined ? this.#entry(file, placed) : err(failed);
    if (!entry.ok) return entry;
    this.#entries.set(file ?? "", entry.value);
    return ok(entry.value.loaded);
  }

  #entry(file: string | undefined, { policy: compiled, until }: Placed): Result<Entry, string> {
    const loaded = loadedPolicy(compiled, file ?? "default", this.#more(compiled));
    const problem = startProblem(loaded);
    return problem === undefined ? ok({ policy: compiled.policy, loaded, until }) : err(problem);
  }

  /** Watches the folders of all files that a policy is made of, since editors replace files instead of writing them. */
  #watch(file: string, parts: ReadonlySet<string>): void {
    const known = this.#watched.get(file);
    const watched: Watched = known ?? { parts, folders: new Set(), timer: undefined, read: Promise.resolve() };
    watched.parts = parts;
    this.#watched.set(file, watched);
    this.#parts = undefined;
    for (const folder of new Set([...parts].map((part) => dirname(part)))) {
      if (watched.folders.has(folder)) continue;
      watched.folders.add(folder);
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name !== null && !watched.parts.has(join(folder, name))) return;
        clearTimeout(watched.timer);
        // One after the other: what was read later must not be overtaken by what loads slowly.
        watched.timer = setTimeout(() => (watched.read = watched.read.then(() => this.#reload(file))), quietMs);
        watched.timer.unref();
      });
      watcher.on("error", () => undefined); // a folder that vanished: the policy in force stays
      this.#watchers.push(watcher);
    }
  }

  async #reload(file: string | undefined): Promise<void> {
    const compiled = this.#compiled(file);
    const silent = compiled.ok
      ? firstSentence(compiled.value, await this.#programs(compiled.value.policy))
      : compiled.error;
    const before = this.#entries.get(file ?? "");
    if (!compiled.ok || silent !== undefined) {
      this.#tell(`The changed policy was not taken, the old one stays: ${silent}`);
      return;
    }
    if (compiled.value.policy.digest === before?.loaded.digest) return;
    const entry = this.#entry(file, compiled.value);
    if (!entry.ok) {
      this.#tell(`The changed policy was not taken, the old one stays: ${entry.error}`);
      return;
    }
    this.#entries.set(file ?? "", entry.value);
    const tie = selectionProblems(this.#candidates())[0];
    if (tie !== undefined && before !== undefined) {
      this.#entries.set(file ?? "", before);
      this.#tell(`The changed policy was not taken, the old one stays: ${sentenceOf(tie)}`);
      return;
    }
    this.#tell(`The policy ${file ?? "default"} was read again and holds from the next decision on.`);
    for (const listener of this.#listeners) listener();
  }
}

function sameFiles(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((file, index) => file === right[index]);
}

function sentenceOf({ message, remedy, code }: Problem): string {
  return `${message}: ${remedy} [${code}]`;
}
