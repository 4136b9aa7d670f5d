/**
 * The scope of a local server: files, network, programs and limits while it runs in its projection (lifecycle.md 2). A
 * policy states the scope, adapters enforce it, and the mechanism `projection` compares the trace of a call with it.
 * Whatever is not named is out of scope.
 *
 * Paths are patterns: absolute, `~` or `~/...` (home of the user), `.` or `./...` (the workspace of the session). They
 * name a file or a whole folder. Destinations are `host:port` with a name, `*.` and a name, or an address.
 */

/** Tiers of isolation, strongest first; each includes those after it. `none` runs a server bare. */
export const isolationTiers = ["A", "A-", "B", "C", "none"] as const;
export type IsolationTier = (typeof isolationTiers)[number];

export type WorkspaceMode =
  /** Writes land in a projection of the workspace and reach it by a verdict. */
  | "overlay"
  /** The server writes into the workspace itself; nothing can be taken back. */
  | "direct"
  | "read"
  | "none";

/** Writes that reach the workspace: those of a passing result, those that a user approved, none. */
export type CommitMode = "allow" | "review" | "never";

export type FileScope = {
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Neither read nor written, although a wider pattern names it. */
  readonly deny: readonly string[];
  readonly workspace: {
    readonly mode: WorkspaceMode;
    readonly commit: CommitMode;
    /** When the verdict on writes falls: after each call, or when the run ends. */
    readonly per: "call" | "run";
    /** Mebibytes that may wait for a verdict. */
    readonly quotaMb: number;
  };
};

export type NetScope = {
  /** `open` takes the server out of its network namespace, and with it out of the tiers that have one. */
  readonly mode: "none" | "list" | "open";
  readonly allow: readonly string[];
  /** Bytes to all destinations together, both ways, in one call and over the life of the server. */
  readonly callBytesMax: number;
  readonly serverBytesMax: number;
};

export type ExecScope = {
  readonly mode: "any" | "list" | "none";
  /** Names or paths of programs, for `list`. The server's own program is always one of them. */
  readonly programs: readonly string[];
};

export type EnvironmentScope = {
  /** Names of variables that pass with their value; nothing else of the environment does. */
  readonly pass: readonly string[];
  readonly set: Readonly<Record<string, string>>;
};

export type LimitScope = {
  readonly memoryMb: number;
  readonly processes: number;
  readonly openFiles: number;
  /** Seconds of processor time of one process. */
  readonly cpuSeconds: number;
  readonly fileMb: number;
  /** Milliseconds until an unanswered call ends as unknown. */
  readonly callTimeoutMs: number;
};

/** Additions of one tool to the scope of its server, while its call is in flight. */
export type ToolScope = {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly allow: readonly string[];
  readonly programs: readonly string[];
};

/** Levels of `Scope.trace`. */
export const tracings = ["full", "effects", "none"] as const;

/** Act after a call went out of scope: reject its result; also revoke the admission; also end the server. */
export const violationActs = ["reject", "revoke", "end"] as const;

/** The whole scope of a server. */
export type Scope = {
  readonly files: FileScope;
  readonly net: NetScope;
  readonly exec: ExecScope;
  readonly environment: EnvironmentScope;
  /** Paths of sockets of this machine that the server may connect to. */
  readonly sockets: readonly string[];
  readonly limits: LimitScope;
  /** `full`: reads too; `effects`: what changes or leaves something; `none`: ground truth only. */
  readonly trace: (typeof tracings)[number];
  /** One call of the server at a time, so that every event belongs to one call. */
  readonly serial: boolean;
  readonly onViolation: (typeof violationActs)[number];
  /** By tool name. */
  readonly tools: ReadonlyMap<string, ToolScope>;
};

/** The isolation that a policy orders for one server. */
export type IsolationOrder = {
  readonly server: string;
  /**
   * `off`: run bare, and report it. `learn`: enforce only the minimum, observe everything, reject nothing.
   * `where-possible`: as `auto` in tier A (A- for a server without network), else bare, under the labels of the policy
   * alone; the variables that the client's own entry names for the server pass.
   */
  readonly mode: "auto" | "where-possible" | "learn" | "off";
  /** Weakest tier that is accepted; the server does not start below it. */
  readonly require: IsolationTier;
  readonly scope: Scope;
  /** Equal digests, equal orders: servers are shared between clients by it. */
  readonly digest: string;
};

/** Additions of one call to the scope of its server. The text of an `isolate` obligation is this as canonical JSON. */
export type CallScope = {
  /** Digest of the order that the call was judged under; a server that runs under another one must not take it. */
  readonly order: string;
  readonly allow: readonly string[];
  readonly serial: boolean;
};
