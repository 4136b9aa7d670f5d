/**
 * The accepted readings of a running gateway: read again when another process answers a card. A file that cannot be read
 * gives nothing: what was read last stays, and where nothing was, no reading counts and everything asks. What restricts a
 * server is taken over all the same, as long as the file of answers can be read.
 */
import { watch, type FSWatcher } from "node:fs";
import { dirname } from "node:path";
import { privateFolder } from "../../adapters/keys/key-files.ts";
import type { PolicySource } from "../../policy/canonical/policy-document.ts";
import { stateHome } from "../../adapters/daemon/paths.ts";
import { given } from "../../core/given.ts";
import { type Result, ok } from "../../core/result.ts";
import { notice } from "../../gateway/decision/notice.ts";
import { whyUnread } from "../state/text-file.ts";
import { notEnded } from "./card-acts.ts";
import { cardCommand } from "./card-command.ts";
import type { ServerAnswer, ServerAnswers } from "./card-answers.ts";
import { CardFiles, type CardState } from "./card-files.ts";

/** Two files are replaced one after the other; they are read when both have been quiet for this long. */
const quietMs = 50;

/** Time between two looks at the files where the system tells no changes, and between two tries to write a flag. */
const lookMs = 5_000;

/** Characters of the evidence against a server. */
const flagCharactersMax = 200;

/** What this installation accepted, for commands that look at the policies in force. */
export function installedReadings(environment: NodeJS.ProcessEnv): AcceptedReadings {
  return new AcceptedReadings(new CardFiles(stateHome(environment)), () => undefined);
}

const noServers: ServerAnswers = new Map();

export class AcceptedReadings {
  readonly #files: CardFiles;
  readonly #tell: (text: string) => void;
  readonly #listeners: (() => void)[] = [];
  #watcher: FSWatcher | undefined;
  /** Evidence that is in force and not on record yet, by server. */
  readonly #flags = new Map<string, ServerAnswer & { readonly flagged: string }>();
  #timer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;
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

  /** Takes readings and hosts off the record whose last day is before this one; true where there were some. To be called now and then. */
  async endDays(day: string): Promise<boolean> {
    const ended = new Set([
      ...this.#state.readings.filter(({ until }) => until < day).map(({ server }) => server),
      ...[...this.#state.servers].filter(([, { hosts }]) => isOver(hosts, day)).map(([server]) => server),
    ]);
    if (ended.size === 0) return false;
    const done = await this.#files.change(({ readings, servers }) => {
      const left = [...servers].map(([server, { hosts, ...answer }]) => {
        return [server, hosts === undefined || isOver(hosts, day) ? answer : { ...answer, hosts }] as const;
      });
      return ok({ readings: notEnded(readings, day), servers: new Map(left) });
    });
    if (!done.ok) return false; // it is tried again
    for (const server of ended)
      this.#tell(
        notice(
          `The days are over of what you accepted of server \`${server}\`: calls of its tools ask, and hosts that its card opened are closed.`,
          ` Answer its card again: \`${cardCommand(server)}\`.`,
        ),
      );
    this.refresh();
    return true;
  }

  /** Evidence against a server: in force at once, before it is on record. False where there is some already. */
  flag(server: string, why: string): boolean {
    const { servers } = this.#state;
    if (servers.get(server)?.flagged !== undefined) return false;
    const nothing = { answer: "later", at: new Date().toISOString(), by: "sluicegate", tools: {} } as const;
    this.#flags.set(server, { ...nothing, flagged: why.slice(0, flagCharactersMax) });
    this.refresh();
    return true;
  }

  /** Puts the flags on record; where that fails they stay in force here, and it is tried again. */
  async recordFlags(): Promise<Result<void, string>> {
    clearTimeout(this.#retry);
    if (this.#flags.size === 0) return ok(undefined);
    const written = await this.#files.change((state) => ok(this.#flaggedIn(state)));
    if (!written.ok) {
      this.#retry = setTimeout(() => void this.recordFlags(), lookMs);
      this.#retry.unref();
      return written;
    }
    this.refresh();
    return ok(undefined);
  }

  #flaggedIn(state: CardState): CardState {
    if (this.#flags.size === 0) return state;
    const servers = new Map(state.servers);
    for (const [server, flag] of this.#flags) {
      const answer = servers.get(server) ?? flag;
      servers.set(server, { ...answer, flagged: answer.flagged ?? flag.flagged });
    }
    return { ...state, servers };
  }

  /** Follows what other processes answer. `follow`: how the system tells changes of a folder. */
  watch(follow: typeof watch = watch): void {
    const folder = dirname(this.#files.accepted);
    const usable = privateFolder(folder);
    if (!usable.ok) this.#tell(usable.error);
    try {
      this.#watcher = follow(folder, { persistent: false }, () => {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => void this.refresh(), quietMs);
        this.#timer.unref();
      });
      this.#watcher.on("error", (cause) => this.#look(cause));
    } catch (cause) {
      this.#look(cause);
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#retry);
    clearInterval(this.#looking);
    this.#watcher?.close();
  }

  /** Without a watcher, as where a system has no more of them to give, a refusal of another process must count all the same. */
  #look(cause: unknown): void {
    if (this.#looking !== undefined) return;
    this.#tell(
      `Answers to cards that other processes give count here within ${lookMs / 1_000} seconds, not at once: their folder cannot be watched (${whyUnread(cause)}).`,
    );
    this.#looking = setInterval(() => void this.refresh(), lookMs);
    this.#looking.unref();
  }

  #read(): boolean {
    const read = this.#files.read();
    if (!read.ok && this.#fault !== read.error)
      this.#tell(`The accepted cards cannot be read, what was read before stays: ${read.error}`);
    this.#fault = read.ok ? undefined : read.error;
    for (const [server, { flagged }] of read.ok ? read.value.servers : noServers)
      if (flagged !== undefined) this.#flags.delete(server); // it is on record
    const state = this.#flaggedIn(read.ok ? read.value : this.#restricted());
    const text = JSON.stringify([state.readings, [...state.servers]]);
    if (text === this.#text) return false;
    this.#text = text;
    this.#state = state;
    this.#source = this.#files.counting(state);
    return true;
  }

  /** What was read last, with what the file of answers takes away since. */
  #restricted(): CardState {
    const servers = this.#files.servers();
    if (!servers.ok) return this.#state;
    const stricter = new Map(this.#state.servers);
    for (const [server, answer] of servers.value) {
      const both = stricterOf(stricter.get(server), answer);
      if (both !== undefined) stricter.set(server, both);
    }
    return { ...this.#state, servers: stricter };
  }
}

/** The earlier answer with what the later one takes away; undefined where neither takes anything. */
function stricterOf(earlier: ServerAnswer | undefined, later: ServerAnswer): ServerAnswer | undefined {
  const answers = [earlier?.answer, later.answer];
  const answer = (["refused", "isolated"] as const).find((one) => answers.includes(one));
  const flagged = earlier?.flagged ?? later.flagged;
  const isStricter = answer !== undefined || flagged !== undefined;
  if (!isStricter && earlier === undefined) return undefined;
  const { hosts: _hosts, ...rest } = isStricter ? later : (earlier ?? later);
  const hosts = hostsOfBoth(earlier?.hosts, later.hosts);
  return { ...rest, ...given<Partial<ServerAnswer>>({ answer, flagged, hosts }) };
}

function hostsOfBoth(one: ServerAnswer["hosts"], other: ServerAnswer["hosts"]): ServerAnswer["hosts"] {
  if (one === undefined || other === undefined) return undefined;
  return {
    allow: one.allow.filter((host) => other.allow.includes(host)),
    until: one.until < other.until ? one.until : other.until,
    workspace: one.workspace && other.workspace,
  };
}

function isOver(hosts: ServerAnswer["hosts"], day: string): boolean {
  return hosts !== undefined && hosts.until < day;
}
