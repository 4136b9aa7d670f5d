/**
 * Runs all attempts inside of one projection and prints what came of each, one line of JSON at a time. A program of its
 * own, so that an ordinary user can be the caller as well as root: `node inside-run.ts [TIER] [NUMBER,...]`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { EffectTrace } from "../../src/core/effect-trace.ts";
import type { IsolationOrder, IsolationTier, Scope } from "../../src/core/scope.ts";
import { defaultTransportLimits } from "../../src/adapters/limits.ts";
import { launch } from "../../src/adapters/projection/launch.ts";
import type { Launched } from "../../src/adapters/projection/parts.ts";
import { openProjection } from "../../src/adapters/projection/session.ts";
import { probeSupport, type Support } from "../../src/adapters/projection/support.ts";
import { attempts } from "./attempts.ts";
import { genuine, lineOf, program, type Line } from "./bare.ts";
import { environmentName } from "./ground.ts";
import { plantWorld, type World } from "./world.ts";

/** What the test reads: first how it was started, then one for each attempt. */
export type Report =
  | { readonly kind: "started"; readonly tier: IsolationTier; readonly notes: readonly string[] }
  | { readonly kind: "failed"; readonly reason: string }
  | {
      readonly kind: "attempt";
      readonly line: Line;
      readonly genuine: boolean;
      readonly changes: readonly string[];
      readonly trace: Pick<EffectTrace, "events" | "complete" | "failure" | "changes">;
      readonly committed: readonly string[];
      /** The whole server was ended by it; the next attempts are made in another projection. */
      readonly ended: boolean;
      readonly error?: string;
    };

const answerMsMax = 40_000;
const serviceUser = 65_534;

/** Tight, so that what is beyond it is small: programs that the attempts use, and nothing else of this machine. */
function scopeFor(world: World): Scope {
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

const print = (report: Report): void => void process.stdout.write(`${JSON.stringify(report)}\n`);

/** Speaks to the server in lines; an answer that does not come is an error. */
function speaker(launched: Launched) {
  const waiting = new Map<number, (text: string) => void>();
  createInterface({ input: launched.process.stdout }).on("line", (text) => {
    const message = JSON.parse(text) as { id?: number }; // our own program's
    if (message.id !== undefined) waiting.get(message.id)?.(text);
  });
  const say = (message: object): void =>
    void launched.process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = async (id: number, method: string, params: object): Promise<string> =>
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("no answer in time")), answerMsMax);
      const finish = (text: string): void => {
        clearTimeout(timer);
        resolve(text);
      };
      waiting.set(id, finish);
      void launched.process.ended.then((end) => finish(`{"ended":${JSON.stringify(end)}}`));
      say({ id, method, params });
    });
  return { say, ask };
}

function lineIn(answer: string, attempt: number): Line {
  const message = JSON.parse(answer) as { result?: { content?: readonly { text?: string }[] } }; // our own program's
  const text = message.result?.content?.[0]?.text;
  return (text === undefined ? undefined : lineOf(text)) ?? { attempt, reached: false, cannot: true, detail: answer };
}

/** Makes attempts until all are made or one ends the server; the rest are returned. */
async function run(world: World, tier: string, numbers: readonly number[]): Promise<readonly number[]> {
  const order: IsolationOrder = {
    server: "escape",
    mode: "auto",
    require: "none",
    scope: scopeFor(world),
    digest: "escape",
  };
  const env = { PATH: process.env["PATH"] ?? "", [environmentName]: world.secret };
  const args = [program, world.groundFile];
  const target = {
    kind: "stdio",
    command: process.execPath,
    args,
    env,
    workingDirectory: world.ground.workspace,
  } as const;
  process.env[environmentName] = world.secret;
  const started = await launch({
    target,
    order,
    stateFolder,
    workspace: [world.ground.workspace],
    limits: defaultTransportLimits,
    home: world.ground.home,
    support: await supportFor(tier),
    stderrLine: (line) => void process.stderr.write(`server: ${line}\n`),
  });
  if (!started.ok) {
    print({ kind: "failed", reason: started.error });
    return [];
  }
  const launched = started.value;
  print({ kind: "started", tier: launched.tier, notes: launched.notes });
  const clock = {
    monotonicMs: () => performance.now(),
    after: (milliseconds: number, act: () => void) => {
      const timer = setTimeout(act, milliseconds);
      return () => clearTimeout(timer);
    },
  };
  const diagnostic = (line: string): void => void process.stderr.write(`projection: ${line}\n`);
  const projection = openProjection(launched, order, { clock, diagnostic });
  const { say, ask } = speaker(launched);
  try {
    const clientInfo = { name: "escape", version: "1" };
    await ask(0, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    say({ method: "notifications/initialized" });
    await ask(1_000, "tools/list", {});
    projection.listed();
    for (const [index, number] of numbers.entries()) {
      const call = `call-${number}`;
      const begun = await projection.begin(
        call,
        "attempt",
        JSON.stringify({ allow: [], serial: true, order: "escape" }),
      );
      if (!begun.ok) {
        print({ kind: "failed", reason: `attempt ${number}: ${begun.error}` });
        return [];
      }
      const answer = await ask(number, "tools/call", { name: "attempt", arguments: { number } });
      projection.end(call);
      const { events, complete, failure, changes: writes } = await projection.trace(call);
      const concluded = await projection.conclude(call, "commit");
      const ended = answer.startsWith('{"ended"');
      const line = ended ? { attempt: number, reached: false, cannot: false, detail: answer } : lineIn(answer, number);
      print({
        kind: "attempt",
        line,
        genuine: genuine(line, world),
        changes: await world.changes("running"),
        trace: { events, complete, changes: writes, ...(failure === undefined ? {} : { failure }) },
        committed: concluded.ok ? concluded.value.committed : [],
        ended,
        ...(concluded.ok ? {} : { error: concluded.error }),
      });
      if (ended) return numbers.slice(index + 1);
    }
    return [];
  } finally {
    await projection.close();
    launched.kill();
    await launched.process.ended;
  }
}

const [, , tier = "A", only] = process.argv;
const numbers = only === undefined ? attempts.map((attempt) => attempt.number) : only.split(",").map(Number);
/** One for all projections of this program, as a gateway has. */
const stateFolder = mkdtempSync(join(tmpdir(), "sluicegate-escape-state-"));
const world = await plantWorld(process.getuid?.() === 0 ? { uid: serviceUser } : undefined, "projection");
// A fault of ours ends this program too, but not before it has cleaned up.
process.once("uncaughtException", (error) => {
  print({ kind: "failed", reason: error.stack ?? error.message });
  void world.remove().finally(() => {
    rmSync(stateFolder, { recursive: true, force: true });
    process.exit(1);
  });
});
try {
  for (let left = numbers; left.length > 0;) left = await run(world, tier, left);
  // What outlives the projection is seen now that it has ended.
  const late = await world.changes("ended");
  if (late.length > 0) print({ kind: "failed", reason: `after the end: ${late.join("; ")}` });
} finally {
  await world.remove();
  rmSync(stateFolder, { recursive: true, force: true });
}
process.exit(0);
