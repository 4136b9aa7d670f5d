/**
 * One program of an installer (npm, pip, uv) in a projection of its own: it writes one folder, reaches the registry and
 * nothing else, and sees neither the workspace nor the environment of the server.
 */
import { lookup } from "node:dns/promises";
import { statfsSync } from "node:fs";
import { parseAddress } from "../../core/isolation/internet-address.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { maskSecrets } from "../../core/secret.ts";
import { type Result, ok } from "../../core/result.ts";
import { attempt } from "../attempt.ts";
import { guarded } from "../egress/address-guard.ts";
import { printable } from "../net/printable.ts";
import type { TransportLimits } from "../net/net-limits.ts";
import { launch } from "../projection/launch/launch.ts";
import type { Launched, Sighting } from "../projection/parts.ts";

export type InstallStep = {
  readonly command: string;
  readonly args: readonly string[];
  /** Environment of the step; it is read from a descriptor, so no value is seen in a list of processes. */
  readonly variables: Readonly<Record<string, string>>;
  /** PATH that the command and its interpreter are found by. */
  readonly path: string;
  /** Folders that it writes; the first is its working directory. */
  readonly write: readonly string[];
  readonly read: readonly string[];
  /** Addresses (URLs) that it may reach; none = no network. */
  readonly addresses: readonly string[];
};

export type StepOutcome = {
  readonly code: number | undefined;
  /** What it printed, printable and without secrets; the newest lines. */
  readonly lines: readonly string[];
  /** Hosts that it asked for and that are not those of the registry. */
  readonly refused: readonly string[];
  /** True if the registry could not be reached. */
  readonly unreached: boolean;
  /** Why it was ended early, as a part of a sentence. */
  readonly cut: string | undefined;
};

export type RunStep = (step: InstallStep) => Promise<Result<StepOutcome, string>>;

/** Large servers with many dependencies take a minute over a slow line. */
const stepMsMax = 300_000;
const linesMax = 200;
const lineMax = 400;
const mebibyte = 1_048_576;
/** Bytes over the network: compressed packages of the largest known servers are below a tenth of it. */
const networkBytesMax = 1_024 * mebibyte;
/** Space that a step leaves to other programs, and that it may take up. */
const freeBytesMin = 256 * mebibyte;
const takenBytesMax = 4_096 * mebibyte;
const lookEveryMs = 1_000;
const addressesMax = 16;

export function stepRunner(stateFolder: string, limits: TransportLimits): RunStep {
  return async (step) => {
    const [workingDirectory = "/"] = step.write;
    const target = {
      kind: "stdio",
      command: step.command,
      args: step.args,
      env: { ...step.variables, PATH: step.path },
      workingDirectory,
    } as const;
    const order = orderOf(step, await destinationsOf(step.addresses));
    const lines: string[] = [];
    const keep = (line: string): void => {
      lines.push(printable(masked(line), lineMax));
      if (lines.length > linesMax) lines.shift();
    };
    const launched = await launch({ target, order, stateFolder, workspace: [], limits, stderrLine: keep });
    return launched.ok ? ok(await finished(launched.value, step, { lines, keep })) : launched;
  };
}

function orderOf(step: InstallStep, allow: readonly string[]): IsolationOrder {
  return {
    server: "installer",
    mode: "auto",
    require: "A",
    digest: "installer",
    scope: {
      files: {
        read: step.read,
        write: step.write,
        deny: [],
        workspace: { mode: "none", commit: "never", per: "call", quotaMb: 1 },
      },
      net: {
        mode: allow.length === 0 ? "none" : "list",
        allow,
        callBytesMax: networkBytesMax,
        serverBytesMax: networkBytesMax,
      },
      exec: { mode: "any", programs: [] },
      environment: { pass: Object.keys(step.variables), set: {} },
      sockets: [],
      limits: {
        memoryMb: 2_048,
        processes: 256,
        openFiles: 8_192,
        cpuSeconds: 600,
        fileMb: 512,
        callTimeoutMs: stepMsMax,
      },
      trace: "none",
      serial: false,
      onViolation: "reject",
      tools: new Map(),
    },
  };
}

/** What an installer prints may repeat an address with its credentials. */
function masked(line: string): string {
  const { value } = maskSecrets(line, () => "");
  return typeof value === "string" ? value : "";
}

type Said = { readonly lines: readonly string[]; readonly keep: (line: string) => void };

async function finished(launched: Launched, step: InstallStep, { lines, keep }: Said): Promise<StepOutcome> {
  const { process: installer, broker } = launched;
  let rest = "";
  installer.stdout.setEncoding("utf8").on("data", (part: string) => {
    const pieces = (rest + part).split("\n");
    rest = (pieces.pop() ?? "").slice(-lineMax);
    for (const line of pieces) keep(line);
  });
  installer.stdin.end();
  let cut: string | undefined;
  const sightings: Sighting[] = [];
  const free = freeBytes(step.write[0]);
  const end = performance.now() + stepMsMax;
  const watch = setInterval(() => {
    sightings.push(...(broker?.drain() ?? []).slice(0, 1_000));
    const left = freeBytes(step.write[0]);
    if (performance.now() > end) cut = `took longer than ${stepMsMax / 1_000} seconds`;
    else if (left < freeBytesMin || free - left > takenBytesMax) cut = "would fill the disk";
    if (cut !== undefined) launched.kill();
  }, lookEveryMs);
  const { code } = await installer.ended;
  clearInterval(watch);
  keep(rest);
  sightings.push(...(broker?.drain() ?? []));
  broker?.close();
  launched.limits?.close();
  launched.tracer?.close();
  const denied = sightings.filter(({ outcome }) => outcome === "denied");
  return {
    code,
    lines,
    refused: [...new Set(denied.flatMap(({ domain, address }) => domain ?? address ?? []))].slice(0, 8),
    unreached: sightings.some(({ action, outcome }) => action === "net-connect" && outcome === "failed"),
    cut,
  };
}

function freeBytes(folder = "/"): number {
  return attempt(() => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  }, Number.POSITIVE_INFINITY);
}

/**
 * Destinations of addresses. A registry that the user's own settings name may have a private address, which a name
 * alone does not open; services of clouds and of the link are never meant.
 */
async function destinationsOf(addresses: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const address of addresses.slice(0, addressesMax)) {
    const { hostname, port, protocol } = new URL(address);
    const at = port === "" ? (protocol === "https:" ? "443" : "80") : port;
    found.push(`${hostname}:${at}`);
    const literal = parseAddress(hostname.replace(/^\[|\]$/g, "")) !== undefined || hostname === "localhost";
    const resolved = literal ? [] : await lookup(hostname, { all: true }).catch(() => []);
    for (const { address: one } of resolved) {
      const why = guarded(one, []);
      if (why === undefined || ["metadata", "link-local", "no-address"].includes(why)) continue;
      found.push(one.includes(":") ? `[${one}]:${at}` : `${one}:${at}`);
    }
  }
  return [...new Set(found)];
}
