/**
 * The parts of a projection and their types. Each part is made by a folder of its own (`tracer`, `egress`, `workspace`)
 * and knows nothing of the others; `session` joins them and attributes their events to calls.
 */
import type { EffectEvent, ProjectionPlaces, WorkspaceChange } from "../../core/isolation/effect-trace.ts";
import type { Result } from "../../core/result.ts";
import type { IsolationOrder, IsolationTier } from "../../core/isolation/scope.ts";
import type { Conclusion } from "../../gateway/ports/projection.ts";
import type { TransportLimits } from "../net/net-limits.ts";
import type { ServerProcess } from "../process/server-process.ts";

/** An event as one part saw it, not yet attributed to a call. */
export type Sighting = Omit<EffectEvent, "sequence" | "phase" | "count">;

/** Observes the processes of one server through system calls (or, in tier C, by hooks inside of them). */
export interface Tracer {
  /**
   * Everything seen since the last time, oldest first. Synchronous: a process waits until its act is on record, so all
   * acts that led to an answer are here before the answer can be read. Afterwards `failure` tells even of a tracer that
   * ended in this very turn, unless `vouch` is false, which costs less.
   */
  drain(vouch?: boolean): readonly Sighting[];
  /** Number of sightings lost so far. */
  readonly lost: number;
  /** Reason why no more sightings will come; undefined while the tracer works. */
  readonly failure: string | undefined;
  close(): void;
}

/** The only way out of the server's network namespace. */
export interface Broker {
  /** Destinations (`host:port`) that are allowed until `revoke`, beyond those of the server's scope. */
  grant(call: string, destinations: readonly string[]): void;
  revoke(call: string): void;
  /** The name behind an address of the broker's own, at a port where no connection reaches it: the kernel refuses there. */
  nameUnheard?(address: string, port: number): string | undefined;
  drain(): readonly Sighting[];
  readonly failure: string | undefined;
  close(): void;
}

/** A workspace as the server sees it, and the server's changes to it. */
export interface WorkspaceProjection {
  /** Differences from the workspace that have no verdict yet. */
  changes(): Promise<Result<readonly WorkspaceChange[], string>>;
  /** The verdict on all of them. An error leaves the workspace whole and loses nothing. */
  conclude(how: "commit" | "keep" | "discard", origin: ChangeOrigin): Promise<Result<Conclusion, string>>;
  /**
   * Saves reported changes of these paths until the verdict of the run: a `discard` or a crash leaves the saved versions
   * for review. Absent where nothing can be saved. An error is a sentence.
   */
  save?(paths: ReadonlySet<string>, origin: ChangeOrigin): Promise<Result<void, string>>;
  /** True only if the server has not written anything so far; known at once, and absent where it cannot be known. */
  isUntouched?(): boolean;
  /** True while nothing more can be written, because the changes without a verdict have reached the quota. */
  isFull?(): boolean;
  close(): Promise<void>;
}

export type ChangeOrigin = { readonly server: string; readonly call: string; readonly run?: string };

/** Counts of the kernel: processes ended for want of memory, forks refused, time used up. */
export interface LimitWatch {
  /** The limit that ended the server, by its key in a scope; undefined while it runs, or where it ended otherwise. */
  readonly fatal?: FatalLimit | undefined;
  drain(): readonly Sighting[];
  close(): void;
}

export type FatalLimit = "memoryMb" | "cpuSeconds" | "fileMb";

/** A server that runs in its projection. */
export type Launched = {
  readonly process: ServerProcess;
  readonly tier: IsolationTier;
  /** Missing parts of the best tier and how to get them, one sentence each. */
  readonly notes: readonly string[];
  readonly places: ProjectionPlaces;
  readonly tracer: Tracer | undefined;
  readonly broker: Broker | undefined;
  readonly workspace: WorkspaceProjection | undefined;
  readonly limits: LimitWatch | undefined;
  /** Names of hosts that were closed to it when it wanted them, by default isolation; undefined where none are noted. */
  readonly wanted?: ReadonlySet<string>;
  /** Ends every process of the projection at once and releases its mounts. */
  readonly kill: () => void;
};

/** A mount that the launcher makes in the outer namespaces, before the server's own. */
export type MountStep =
  | { readonly kind: "folder"; readonly target: string }
  | { readonly kind: "tmpfs"; readonly target: string; readonly sizeMb: number }
  | {
      readonly kind: "overlay";
      readonly target: string;
      readonly lower: string;
      readonly upper: string;
      readonly work: string;
    };

/**
 * A server that is tried out with mock data (lifecycle.md 1.3): no byte of it leaves the machine, and what it keeps in its
 * home folder is there again at its next start; `temporary` is its `/tmp`. Both belong to this process's user.
 */
export type Trial = { readonly home: string; readonly temporary: string };

/** An attempt at a file that did not succeed, and where it was made. */
export type MissedIn = {
  readonly order: IsolationOrder;
  readonly seen: Sighting;
  readonly places: ProjectionPlaces;
};

/** A path that a server misses, as a policy writes it, with the entry of its scope that gives it; `own-code`: none can. */
export type MissedFile =
  | { readonly path: string; readonly kind: "read" | "write"; readonly entry: string }
  | { readonly path: string; readonly kind: "own-code" };

export type IsolationSetup = {
  /** State folder of the gateway: hidden from servers; it also stores the writes that are held for review. */
  readonly home: string | undefined;
  /** State folder with the lock and the packages of servers, where it is not `home`: a try of a server has its own. */
  readonly packages?: string | undefined;
  readonly limits?: TransportLimits;
  readonly trial?: Trial | undefined;
  readonly diagnostic: (line: string) => void;
  /** One line in the gateway's own name, such as one about a tier that is weaker than the best. */
  readonly notice?: (text: string) => void;
  /** Says what an attempt at a file asks for; without it attempts at files are not told. */
  readonly missedFile?: (missed: MissedIn) => MissedFile | undefined;
};
