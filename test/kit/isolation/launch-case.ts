import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { IsolationOrder, IsolationTier, Scope } from "../../../src/core/isolation/scope.ts";
import { narrowScope } from "./isolation-order.ts";

/** What a test launches; what is left out is as narrow as a scope can be. */
export type LaunchCase = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly workspace: string;
  readonly home: string;
  readonly stateFolder: string;
  readonly require?: IsolationTier;
  /** Programs and parts of the machine that this launch shall not find. */
  readonly without?: readonly string[];
  readonly killAfterMs?: number;
  readonly scope?: {
    readonly read?: readonly string[];
    readonly write?: readonly string[];
    readonly deny?: readonly string[];
    readonly pass?: readonly string[];
    readonly mode?: Scope["files"]["workspace"]["mode"];
    readonly net?: Scope["net"]["mode"];
    readonly memoryMb?: number;
    readonly processes?: number;
    readonly trace?: Scope["trace"];
    readonly cpuSeconds?: number;
    readonly openFiles?: number;
    readonly quotaMb?: number;
    readonly exec?: Scope["exec"]["mode"];
  };
  readonly order?: IsolationOrder["mode"];
};

export type LaunchOutcome = {
  readonly error?: string;
  readonly tier: IsolationTier;
  readonly notes: readonly string[];
  readonly output: string;
  readonly end: { readonly code?: number; readonly signal?: string; readonly lastWords: string };
  readonly group: number;
  readonly tracer?: number;
  readonly lost?: number;
  /** What the tracer saw that is no read of what is there, as `action outcome path`. */
  readonly acts?: readonly string[];
  readonly broker?: readonly { readonly action: string; readonly outcome: string; readonly domain?: string }[];
  readonly limits?: readonly string[];
  readonly changes?: readonly string[] | string;
};

export function scopeOf({ scope = {} }: LaunchCase): Scope {
  const workspace = {
    mode: scope.mode ?? "overlay",
    commit: "allow",
    per: "call",
    quotaMb: scope.quotaMb ?? 32,
  } as const;
  return {
    ...narrowScope,
    files: { read: scope.read ?? [], write: scope.write ?? [], deny: scope.deny ?? [], workspace },
    net: { mode: scope.net ?? "none", allow: [], callBytesMax: 1e6, serverBytesMax: 1e7 },
    exec: { mode: scope.exec ?? "any", programs: [] },
    environment: { pass: scope.pass ?? [], set: {} },
    limits: {
      memoryMb: scope.memoryMb ?? 1_024,
      processes: scope.processes ?? 128,
      openFiles: scope.openFiles ?? 1_024,
      cpuSeconds: scope.cpuSeconds ?? 60,
      fileMb: 64,
      callTimeoutMs: 10_000,
    },
    trace: scope.trace ?? "none",
  };
}

/** Runs the driver as the caller or as `nobody`; the driver is a process of its own so that both can be compared. */
export function runLaunch(given: LaunchCase, as: "self" | "nobody"): LaunchOutcome {
  const drop = as === "self" ? [] : ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
  const words = [...drop, process.execPath, join(import.meta.dirname, "launch-driver.ts"), JSON.stringify(given)];
  const env = { PATH: process.env["PATH"] ?? "", HOME: given.home };
  const run = spawnSync(words[0] ?? "", words.slice(1), { encoding: "utf8", env, timeout: 60_000 });
  const line = run.stdout.trim().split("\n").at(-1) ?? "";
  if (!line.startsWith("{")) throw new Error(`the driver said nothing: ${run.stderr.slice(-2_000)}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own driver wrote it
  return JSON.parse(line) as LaunchOutcome;
}
