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
import { type Placed, compiledFrom, firstSentence, placedOf } from "./named-policy.ts";
import { loadedPolicy } from "./loaded-policy.ts";
import { type PolicyInputs, policyInputs, today } from "./policy-source.ts";
import { programProblems } from "./rule-programs.ts";

/** Editors write a file in several steps; a change is read when it has been quiet for this long. */
const quietMs = 100;

/** A policy with an error is told again after this time, not each time that it is read. */
const noticeMs = 60_000;

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

/** A policy that compiles, and what it was read from. */
type Read = Placed & { readonly inputs: PolicyInputs; readonly readings: PolicySource | undefined };

type Entry = {
  /** Of the policy in force: with these, other readings count without its files. */
  readonly inputs: PolicyInputs;
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
  #nothing: LoadedPolicy | undefined;
  /** The last notice of each policy that was not taken. */
  readonly #notices = new Map<string, { readonly text: string; readonly atMs: number }>();

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
    readings?.onChange(() => this.refresh());
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
    if (newer !== undefined) return ok(newer.loaded);
    const current = this.#current(compiled.value);
    return current.ok ? this.#take(file, current.value, silent) : current;
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

  /**
   * Counts the readings of cards anew: cards were answered, evidence came up, or a reading ended. At once, and with the
   * documents that are in force: whether their files can be read by now changes nothing about what was taken back.
   */
  refresh(): void {
    for (const [key, before] of this.#entries) {
      const entry = this.#entryOf(before.inputs, key);
      if (!entry.ok) this.#notice(key, `The readings of cards could not be taken over: ${entry.error}`);
      else if (this.#replace(key, entry.value)) this.#changed(key, "holds with the cards as they are answered now,");
    }
  }

  /** Leaves out the readings whose last day is over; to be called every minute or so. */
  newDay(nowMs: number): void {
    const day = today(nowMs);
    if ([...this.#entries.values()].some(({ until }) => until !== undefined && until < day)) this.refresh();
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
  #compiled(file: string | undefined): Result<Read, string> {
    const parts = new Set(file === undefined ? [] : [resolve(file)]);
    const inputs = policyInputs(file, (part) => parts.add(part));
    const compiled = inputs.ok ? this.#compiledOf(inputs.value) : inputs;
    const watched = file === undefined ? undefined : this.#watched.get(file);
    if (file !== undefined && compiled.ok) this.#watch(file, parts);
    // With an error not all of them were read, and a change of any may remove the error.
    else if (file !== undefined && watched !== undefined) this.#watch(file, new Set([...watched.parts, ...parts]));
    return compiled;
  }

  #compiledOf(inputs: PolicyInputs): Result<Read, string> {
    const readings = this.#readings?.source;
    const placed = placedOf(inputs, readings);
    return placed.ok ? ok({ ...placed.value, inputs, readings }) : placed;
  }

  /** A policy that was read before something else was waited for, with the readings that count now. */
  #current(read: Read): Result<Read, string> {
    return read.readings === this.#readings?.source ? ok(read) : this.#compiledOf(read.inputs);
  }

  #entryOf(inputs: PolicyInputs, key: string): Result<Entry, string> {
    const compiled = this.#compiledOf(inputs);
    return compiled.ok ? this.#entry(key === "" ? undefined : key, compiled.value) : compiled;
  }

  #take(file: string | undefined, placed: Read, silent: readonly Problem[]): Result<LoadedPolicy, string> {
    const failed = firstSentence(placed, silent);
    const entry = failed === undefined ? this.#entry(file, placed) : err(failed);
    if (!entry.ok) return entry;
    this.#entries.set(file ?? "", entry.value);
    return ok(entry.value.loaded);
  }

  #entry(file: string | undefined, { policy: compiled, until, inputs }: Read): Result<Entry, string> {
    const loaded = loadedPolicy(compiled, file ?? "default", this.#more(compiled));
    const problem = startProblem(loaded);
    return problem === undefined ? ok({ policy: compiled.policy, loaded, until, inputs }) : err(problem);
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

  async #reload(file: string): Promise<void> {
    const compiled = this.#compiled(file);
    const silent = compiled.ok
      ? firstSentence(compiled.value, await this.#programs(compiled.value.policy))
      : compiled.error;
    const current = compiled.ok ? this.#current(compiled.value) : compiled;
    if (!current.ok || silent !== undefined) return this.#keepOld(file, silent ?? (current.ok ? "" : current.error));
    const before = this.#entries.get(file);
    const entry = this.#entry(file, current.value);
    if (!entry.ok) return this.#keepOld(file, entry.error);
    if (!this.#replace(file, entry.value)) return;
    const tie = selectionProblems(this.#candidates())[0];
    if (tie !== undefined && before !== undefined) {
      this.#entries.set(file, before);
      return this.#keepOld(file, sentenceOf(tie));
    }
    this.#changed(file, "was read again and holds");
  }

  /** True if the policy says something else; one that says the same stays, since what was found under it holds. */
  #replace(key: string, entry: Entry): boolean {
    const before = this.#entries.get(key);
    const isSame = before?.loaded.digest === entry.loaded.digest;
    this.#entries.set(key, isSame ? { ...entry, loaded: before.loaded, policy: before.policy } : entry);
    return !isSame;
  }

  #keepOld(key: string, why: string): void {
    this.#notice(key, `The changed policy was not taken, the old one stays: ${why}`);
  }

  #changed(key: string, how: string): void {
    this.#notices.delete(key);
    this.#tell(`The policy ${key === "" ? "default" : key} ${how} from the next decision on.`);
    for (const listener of this.#listeners) listener();
  }

  /** An editor that writes again and again would tell the same fault each time. */
  #notice(key: string, text: string): void {
    const last = this.#notices.get(key);
    const atMs = Date.now();
    if (last?.text === text && atMs >= last.atMs && atMs - last.atMs < noticeMs) return;
    this.#notices.set(key, { text, atMs });
    this.#tell(text);
  }
}

function sameFiles(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((file, index) => file === right[index]);
}

function sentenceOf({ message, remedy, code }: Problem): string {
  return `${message}: ${remedy} [${code}]`;
}
