/**
 * The policies of a running gateway: read once, read again when the file changes. A policy with errors never takes
 * effect; the old one stays, and the operator is told (policy.md 1, gateway.md 9).
 */
import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { basename, dirname } from "node:path";
import type { Result } from "../core/result.ts";
import { ok } from "../core/result.ts";
import type { LoadedPolicy, Policies } from "../gateway/policy-port.ts";
import type { Q } from "../policy/state.ts";
import { loadPolicyFor } from "./loaded-policy.ts";

/** Editors write a file in several steps; a change is read when it has been quiet for this long. */
const quietMs = 100;

/** The tag of a connection is the path of its policy file; no tag means the default policy. */
export class PolicyFiles implements Policies<Q> {
  readonly #loaded = new Map<string, LoadedPolicy<Q>>();
  readonly #watchers: FSWatcher[] = [];
  readonly #listeners: (() => void)[] = [];
  readonly #tell: (text: string) => void;

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  /** Loads a file, or the default, before anything is decided under it. */
  open(file: string | undefined): Result<LoadedPolicy<Q>, string> {
    const known = this.#loaded.get(file ?? "");
    if (known !== undefined) return ok(known);
    const loaded = loadPolicyFor(file);
    if (loaded.ok) {
      this.#loaded.set(file ?? "", loaded.value);
      if (file !== undefined) this.#watch(file);
    }
    return loaded;
  }

  select(who: { readonly tag: string | undefined }): LoadedPolicy<Q> {
    const opened = this.open(who.tag);
    if (opened.ok) return opened.value;
    // A connection is only accepted after `open`; without a policy there is nothing to decide under.
    throw new Error("a policy was selected before it was opened");
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
  }

  /** Watches the folder, since editors replace files instead of writing them. */
  #watch(file: string): void {
    let timer: NodeJS.Timeout | undefined;
    const watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
      if (name !== null && name !== basename(file)) return;
      clearTimeout(timer);
      timer = setTimeout(() => this.#reload(file), quietMs);
      timer.unref();
    });
    watcher.on("error", () => undefined); // a folder that vanished: the policy in force stays
    this.#watchers.push(watcher);
  }

  #reload(file: string): void {
    const loaded = loadPolicyFor(file);
    if (!loaded.ok) {
      this.#tell(`The changed policy was not taken, the old one stays: ${loaded.error}`);
      return;
    }
    if (loaded.value.digest === this.#loaded.get(file)?.digest) return;
    this.#loaded.set(file, loaded.value);
    this.#tell(`The policy ${file} was read again and holds from the next decision on.`);
    for (const listener of this.#listeners) listener();
  }
}
