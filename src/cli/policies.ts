/**
 * The policies of a running gateway: read once, read again when a file changes. A policy with errors never takes
 * effect; the old one stays, and the operator is told (policy.md 1, gateway.md 9). Of several policies the most
 * specific `match` holds; where none matches, nothing may pass.
 */
import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { SealedMechanism } from "../core/mechanism.ts";
import type { Result } from "../core/result.ts";
import { err, ok } from "../core/result.ts";
import type { LoadedPolicy, Policies } from "../gateway/policy-port.ts";
import { startProblem } from "../gateway/policy-port.ts";
import type { CompiledPolicy } from "../policy/compile.ts";
import type { Who } from "../policy/select.ts";
import { selectionProblems, selectPolicy } from "../policy/select.ts";
import type { Q } from "../policy/state.ts";
import { compiledFrom, loadedPolicy } from "./loaded-policy.ts";

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
};

type Entry = { readonly policy: CompiledPolicy["policy"]; readonly loaded: LoadedPolicy<Q> };

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
export type MoreMechanisms = (policy: CompiledPolicy) => readonly SealedMechanism<Q>[];

export class PolicyFiles implements Policies<Q> {
  /** Files that `match` selects from; empty = the default policy for everybody. */
  readonly #files: readonly string[];
  readonly #entries = new Map<string, Entry>();
  readonly #watchers: FSWatcher[] = [];
  readonly #watched = new Map<string, Watched>();
  readonly #listeners: (() => void)[] = [];
  readonly #tell: (text: string) => void;
  readonly #more: MoreMechanisms;
  /** Tag of whoever has none of their own: that of the gateway. */
  readonly #tag: string | undefined;
  #nothing: LoadedPolicy<Q> | undefined;

  constructor(
    files: readonly string[],
    tell: (text: string) => void,
    { more = () => [], tag }: { readonly more?: MoreMechanisms; readonly tag?: string | undefined } = {},
  ) {
    this.#files = files;
    this.#tag = tag;
    this.#tell = tell;
    this.#more = more;
  }

  /** Loads everything that `match` selects from, and gives the policy whose settings hold for the log: the first. */
  openAll(): Result<LoadedPolicy<Q>, string> {
    const opened = this.#files.length === 0 ? [this.open(undefined)] : this.#files.map((file) => this.open(file));
    const failed = opened.find((one) => !one.ok);
    const [first] = opened;
    if (failed !== undefined) return failed;
    const tie = selectionProblems(this.#candidates())[0];
    if (tie !== undefined) return err(`${tie.message}: ${tie.remedy} [${tie.code}]`);
    return first ?? err("No policy was given.");
  }

  /** Loads a file, or the default, before anything is decided under it. */
  open(file: string | undefined): Result<LoadedPolicy<Q>, string> {
    const known = this.#entries.get(file ?? "");
    if (known !== undefined) return ok(known.loaded);
    const read = this.#read(file);
    if (!read.ok) return read;
    this.#entries.set(file ?? "", read.value);
    return ok(read.value.loaded);
  }

  select(who: Who): LoadedPolicy<Q> {
    const named = fileOfTag(who.tag);
    if (named !== undefined) return this.#opened(named);
    if (this.#files.length === 0) return this.#opened(undefined);
    const tagged = { ...who, tag: who.tag ?? this.#tag };
    return selectPolicy(this.#candidates(), tagged)?.loaded ?? this.#denying();
  }

  /** Every policy that is in force for somebody. */
  loaded(): readonly LoadedPolicy<Q>[] {
    return [...this.#entries.values()].map((entry) => entry.loaded);
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
  }

  /** A connection is only accepted after its policy was opened; a file that is gone by now changes nothing. */
  #opened(file: string | undefined): LoadedPolicy<Q> {
    const opened = this.open(file);
    return opened.ok ? opened.value : this.#denying();
  }

  #denying(): LoadedPolicy<Q> {
    if (this.#nothing !== undefined) return this.#nothing;
    const compiled = compiledFrom({ file: "no policy", document: noPolicy });
    if (!compiled.ok) throw new Error(`the policy for nobody does not compile: ${compiled.error}`);
    this.#nothing = loadedPolicy(compiled.value, "no policy");
    return this.#nothing;
  }

  #candidates(): readonly Entry[] {
    return this.#files.flatMap((file) => this.#entries.get(file) ?? []);
  }

  #read(file: string | undefined): Result<Entry, string> {
    const parts = new Set(file === undefined ? [] : [resolve(file)]);
    const compiled = compiledFrom(file, (part) => parts.add(part));
    const watched = file === undefined ? undefined : this.#watched.get(file);
    if (file !== undefined && compiled.ok) this.#watch(file, parts);
    // With an error not all of them were read, and mending any of them may mend it.
    else if (file !== undefined && watched !== undefined) this.#watch(file, new Set([...watched.parts, ...parts]));
    if (!compiled.ok) return compiled;
    const loaded = loadedPolicy(compiled.value, file ?? "default", this.#more(compiled.value));
    const problem = startProblem(loaded);
    return problem === undefined ? ok({ policy: compiled.value.policy, loaded }) : err(problem);
  }

  /** Watches the folders of all files that a policy is made of, since editors replace files instead of writing them. */
  #watch(file: string, parts: ReadonlySet<string>): void {
    const known = this.#watched.get(file);
    const watched: Watched = known ?? { parts, folders: new Set(), timer: undefined };
    watched.parts = parts;
    this.#watched.set(file, watched);
    for (const folder of new Set([...parts].map((part) => dirname(part)))) {
      if (watched.folders.has(folder)) continue;
      watched.folders.add(folder);
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name !== null && !watched.parts.has(join(folder, name))) return;
        clearTimeout(watched.timer);
        watched.timer = setTimeout(() => this.#reload(file), quietMs);
        watched.timer.unref();
      });
      watcher.on("error", () => undefined); // a folder that vanished: the policy in force stays
      this.#watchers.push(watcher);
    }
  }

  #reload(file: string): void {
    const before = this.#entries.get(file);
    const read = this.#read(file);
    if (!read.ok) {
      this.#tell(`The changed policy was not taken, the old one stays: ${read.error}`);
      return;
    }
    if (read.value.loaded.digest === before?.loaded.digest) return;
    this.#entries.set(file, read.value);
    const tie = selectionProblems(this.#candidates())[0];
    if (tie !== undefined && before !== undefined) {
      this.#entries.set(file, before);
      this.#tell(`The changed policy was not taken, the old one stays: ${tie.message}: ${tie.remedy} [${tie.code}]`);
      return;
    }
    this.#tell(`The policy ${file} was read again and holds from the next decision on.`);
    for (const listener of this.#listeners) listener();
  }
}
