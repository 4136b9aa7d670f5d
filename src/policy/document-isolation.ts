/** The section `isolation` as it is written (lifecycle.md 2): what servers may touch, and what holds them to it. */
import type {
  EnvironmentScope,
  ExecScope,
  FileScope,
  IsolationOrder,
  IsolationTier,
  LimitScope,
  NetScope,
  Scope,
  ToolScope,
} from "../core/scope.ts";

/** What is in scope. Whatever is left out is said by the next wider layer: the pack, the defaults, the built-in ones. */
export type ScopeText = {
  readonly files?: Partial<Omit<FileScope, "workspace">> & { readonly workspace?: Partial<FileScope["workspace"]> };
  readonly net?: Partial<NetScope>;
  readonly exec?: Partial<ExecScope>;
  readonly env?: Partial<EnvironmentScope>;
  readonly sockets?: readonly string[];
  readonly limits?: Partial<LimitScope>;
  readonly trace?: Scope["trace"];
  readonly serial?: boolean;
  readonly onViolation?: Scope["onViolation"];
  /** Entries of this layer that give away keys or this machine; each has to be named here as well. */
  readonly sensitive?: readonly string[];
};

/** What a label pack says of the kind of server that it describes. */
export type PackScopeText = ScopeText & { readonly tools?: { readonly [tool: string]: Partial<ToolScope> } };

/** `strict` is the best tier there is. */
export type RequireText = IsolationTier | "strict";

export type ServerIsolationText = PackScopeText & {
  readonly backend?: IsolationOrder["mode"];
  readonly require?: RequireText;
};

/** A judge that looks at what rules leave open. It tightens, and chooses destinations among names that arguments hold. */
export type EffectsJudgeText = {
  /** Its name under `judges`. */
  readonly use: string;
  readonly effects?: boolean;
  readonly domains?: boolean;
  readonly onDistrust?: "deny" | "confirm";
};

export type IsolationSection = {
  readonly backend?: "auto" | "off";
  readonly require?: RequireText;
  /** The former way to say `require: B`, the weakest tier that keeps a server from anything. */
  readonly required?: boolean;
  readonly trace?: Scope["trace"];
  readonly onViolation?: Scope["onViolation"];
  readonly judge?: EffectsJudgeText;
  /** Holds for every server. */
  readonly defaults?: ScopeText;
  readonly servers?: { readonly [server: string]: ServerIsolationText };
  /** The paper's keys. `py` names its tracer for one language; every tracer here sees at least as much. */
  readonly trace_mode?: "auto" | "py" | "full" | "effects" | "none";
  readonly persist_workspace?: boolean;
  readonly link_inputs?: boolean;
  readonly allowed_paths?: readonly string[];
  readonly allowed_domains?: readonly string[];
  /** Programs whose start needs no judge. It is traced all the same. */
  readonly exec_trace_whitelisted?: boolean | readonly string[];
  readonly callTimeoutMs?: number;
};
