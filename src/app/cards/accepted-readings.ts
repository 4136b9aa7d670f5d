/**
 * The accepted readings of a running gateway: read again when another process answers a card. A file that cannot be read
 * changes nothing: what was read last stays, and where nothing was, no reading counts and everything asks.
 */
import { watch, type FSWatcher } from "node:fs";
import { dirname } from "node:path";
import { privateFolder } from "../../adapters/keys/key-files.ts";
import type { PolicySource } from "../../policy/canonical/policy-document.ts";
import { stateHome } from "../../adapters/daemon/paths.ts";
import { CardFiles, type CardState } from "./card-files.ts";

/** Two files are replaced one after the other; they are read when both have been quiet for this long. */
const quietMs = 50;

/** What this installation accepted, for commands that look at the policies in force. */
export function installedReadings(environment: NodeJS.ProcessEnv): AcceptedReadings {
  return new AcceptedReadings(new CardFiles(stateHome(environment)), () => undefined);
}

export class AcceptedReadings {
  readonly #files: CardFiles;
  readonly #tell: (text: string) => void;
  readonly #listeners: (() => void)[] = [];
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #source: PolicySource | undefined;
  #state: CardState = { readings: [], servers: new Map() };
  #text = "";
  #fault: string | undefined;

  constructor(files: CardFiles, tell: (text: string) => void) {
    this.#files = files;
    this.#tell = tell;
    this.#read();
  }

  /** The document that is added to every policy. */
  get source(): PolicySource | undefined {
    return this.#source;
  }

  get state(): CardState {
    return this.#state;
  }

  /** Why the files cannot be read now; nothing can be answered then. */
  get fault(): string | undefined {
    return this.#fault;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Reads the files now; true where they say something else. */
  refresh(): boolean {
    const changed = this.#read();
    if (changed) for (const listener of this.#listeners) listener();
    return changed;
  }

  /** Follows what other processes answer. */
  watch(): void {
    const folder = dirname(this.#files.accepted);
    const usable = privateFolder(folder);
    if (!usable.ok) return this.#tell(usable.error);
    this.#watcher = watch(folder, { persistent: false }, () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.refresh(), quietMs);
      this.#timer.unref();
    });
    this.#watcher.on("error", () => undefined); // a folder that vanished: what was read stays
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watcher?.close();
  }

  #read(): boolean {
    const state = this.#files.read();
    const source = state.ok ? this.#files.source() : state;
    if (!state.ok || !source.ok) {
      const sentence = state.ok ? (source.ok ? "" : source.error) : state.error;
      if (this.#fault !== sentence)
        this.#tell(`The accepted cards cannot be read, what was read before stays: ${sentence}`);
      this.#fault = sentence;
      return false;
    }
    this.#fault = undefined;
    const text = JSON.stringify([state.value.readings, [...state.value.servers]]);
    if (text === this.#text) return false;
    this.#text = text;
    this.#state = state.value;
    this.#source = source.value;
    return true;
  }
}
