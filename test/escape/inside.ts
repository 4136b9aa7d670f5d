/**
 * A server of ours in a real projection, driven as the gateway drives it: window, call, answer, trace, verdict. Run by
 * whoever runs this process.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { EffectTrace } from "../../src/core/isolation/effect-trace.ts";
import type { Result } from "../../src/core/result.ts";
import type { IsolationOrder, Scope } from "../../src/core/isolation/scope.ts";
import type { Conclusion } from "../../src/gateway/ports/projection.ts";
import { defaultTransportLimits } from "../../src/adapters/net/net-limits.ts";
import { launch } from "../../src/adapters/projection/launch/launch.ts";
import type { Launched } from "../../src/adapters/projection/parts.ts";
import { type LaunchedProjection, openProjection } from "../../src/adapters/projection/session/projection-session.ts";
import { probeSupport, type Support } from "../../src/adapters/projection/launch/support.ts";
import type { World } from "./world.ts";

const answerMsMax = 40_000;

/** Folder of our own state: one for all projections of this process, as a gateway has. */
export const stateFolder = mkdtempSync(join(tmpdir(), "sluicegate-escape-state-"));

/** Tight, so that what is beyond it is small: programs that the attempts use, and nothing else of this machine. */
export function scopeFor(world: { readonly ground: Pick<World["ground"], "code"> }): Scope {
  return {
    files: {
      read: [world.ground.code],
      write: [],
      deny: [],
      workspace: { mode: "overlay", commit: "allow", per: "call", quotaMb: 64 },
    },
    net: { mode: "none", allow: [], callBytesMax: 1_048_576, serverBytesMax: 1_048_576 },
    exec: { mode: "list", programs: ["sh", "bash", "sleep", "setsid", "mkfifo", "unshare", "rm"] },
    environment: { pass: [], set: {} },
    sockets: [],
    limits: { memoryMb: 512, processes: 96, openFiles: 1_024, cpuSeconds: 120, fileMb: 128, callTimeoutMs: 60_000 },
    trace: "full",
    serial: true,
    onViolation: "reject",
    tools: new Map(),
  };
}

/** What the machine offers, less what a better tier than the wanted one needs. */
async function supportFor(tier: string): Promise<Support> {
  const support = await probeSupport();
  if (tier === "A-") return { ...support, koffi: false, userNotify: false };
  if (tier === "B") return { ...support, userNamespaces: false };
  return support;
}

export type Called = {
  /** Text of the result; undefined when the server ended instead of answering. */
  readonly text: string | undefined;
  readonly isError: boolean;
  readonly trace: EffectTrace;
  readonly concluded: Result<Conclusion, string>;
};

export type Inside = {
  readonly launched: Launched;
  readonly projection: LaunchedProjection;
  /** An error: the projection does not let the call begin. */
  readonly call: (tool: string, args: object) => Promise<Called | { readonly refused: string }>;
  readonly close: () => Promise<void>;
};

export type Order = {
  readonly places: { readonly home: string; readonly workspace: string };
  /** What the gateway has in its environment, and the server must not. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What Node runs, and its arguments. */
  readonly args: readonly string[];
  readonly scope: Scope;
  readonly tier?: string;
  /** What this machine shall not offer, or offer otherwise. */
  readonly without?: Partial<Support>;
  /** The verdict on what a call wrote; what nobody speaks against is committed. */
  readonly verdict?: (tool: string, trace: EffectTrace) => "commit" | "discard";
};

/** An error is the sentence of the launch. */
export async function openInside({
  places,
  environment,
  args,
  scope,
  tier,
  without,
  verdict,
}: Order): Promise<Inside | { readonly failed: string }> {
  const isolation: IsolationOrder = {
    server: "escape",
    mode: "auto",
    require: "none",
    scope,
    digest: "escape",
  };
  const { workspace, home } = places;
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, ...environment };
  Object.assign(process.env, environment);
  const started = await launch({
    target: { kind: "stdio", command: process.execPath, args, env, workingDirectory: workspace },
    order: isolation,
    stateFolder,
    workspace: [workspace],
    limits: defaultTransportLimits,
    home,
    support: { ...(await supportFor(tier ?? "A")), ...without },
    stderrLine: (line) => void process.stderr.write(`server: ${line}\n`),
  });
  if (!started.ok) return { failed: started.error };
  const launched = started.value;
  const clock = {
    monotonicMs: () => performance.now(),
    after: (milliseconds: number, act: () => void) => {
      const timer = setTimeout(act, milliseconds);
      return () => clearTimeout(timer);
    },
  };
  const projection = openProjection(launched, isolation, { clock });
  const { say, ask } = speaker(launched);
  await ask(0, "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "some-agent", version: "1" },
  });
  say({ method: "notifications/initialized" });
  await ask(1, "tools/list", {});
  projection.listed();
  let next = 2;
  const call: Inside["call"] = async (tool, parameters) => {
    const id = next++;
    const key = `call-${id}`;
    const text = JSON.stringify({ allow: [], serial: true, order: isolation.digest });
    const begun = await projection.begin(key, tool, text);
    if (!begun.ok) return { refused: begun.error };
    const result = await ask(id, "tools/call", { name: tool, arguments: parameters });
    projection.end(key);
    const trace = await projection.trace(key);
    return { ...result, trace, concluded: await projection.conclude(key, verdict?.(tool, trace) ?? "commit") };
  };
  const close = async (): Promise<void> => {
    await projection.close();
    launched.kill();
    await launched.process.ended;
  };
  return { launched, projection, call, close };
}

type Answer = { readonly text: string | undefined; readonly isError: boolean };

/** What our own programs answer. */
type Message = {
  readonly id?: number;
  readonly result?: { readonly content?: readonly { readonly text?: string }[]; readonly isError?: boolean };
};

/** Speaks to the server in lines; an answer that does not come is an error, and an end of the server is none. */
function speaker(launched: Launched) {
  const waiting = new Map<number, (answer: Answer) => void>();
  createInterface({ input: launched.process.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as Message; // as above
    const text = message.result?.content?.[0]?.text ?? "";
    if (message.id !== undefined) waiting.get(message.id)?.({ text, isError: message.result?.isError === true });
  });
  const say = (message: object): void =>
    void launched.process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = async (id: number, method: string, params: object): Promise<Answer> =>
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("no answer in time")), answerMsMax);
      const finish = (answer: Answer): void => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(answer);
      };
      waiting.set(id, finish);
      void launched.process.ended.then(() => finish({ text: undefined, isError: true }));
      say({ id, method, params });
    });
  return { say, ask };
}
