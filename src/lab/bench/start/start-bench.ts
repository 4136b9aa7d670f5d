/**
 * `bench start`: from the command of a client's configuration to the answer of `initialize`, for a server that is
 * started by `npx`: direct, behind the gateway without isolation, and isolated with its package from the lock. All run in
 * turns on one machine, since only their differences mean something.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childClient } from "../../../app/client/mcp-client.ts";
import { packageFolder } from "../../../app/policy/policy-source.ts";
import { type Result, err, ok } from "../../../core/result.ts";

export const startVariants = ["direct", "through", "isolated"] as const;
export type StartVariant = (typeof startVariants)[number];

export type StartRow = {
  readonly variant: StartVariant;
  readonly n: number;
  readonly medianMs: number;
  readonly minMs: number;
};

export type StartBench = { readonly command: string; readonly firstMs: number; readonly rows: readonly StartRow[] };

const answerMsMax = 180_000;
export const starts = 7;
export const quickStarts = 2;

const command = ["npx", "-y", "@modelcontextprotocol/server-memory"] as const;

/** The error is a sentence. The first isolated start installs the package, and is told apart. */
export async function startBench(count: number): Promise<Result<StartBench, string>> {
  const folder = mkdtempSync(join(tmpdir(), "sg-start-"));
  mkdirSync(join(folder, "work"));
  try {
    const took = new Map<StartVariant, number[]>(startVariants.map((variant) => [variant, []]));
    const first = await started("isolated", folder);
    if (!first.ok) return first;
    for (let turn = -1; turn < count; turn += 1) {
      for (const variant of startVariants) {
        const one = await started(variant, folder);
        if (!one.ok) return one;
        // The first round warms the caches of npm, of the daemon and of the disk.
        if (turn >= 0) took.get(variant)?.push(one.value);
      }
    }
    const rows = [...took].map(([variant, all]) => ({
      variant,
      n: all.length,
      medianMs: all.toSorted((left, right) => left - right)[Math.floor(all.length / 2)] ?? 0,
      minMs: Math.min(...all),
    }));
    return ok({ command: command.join(" "), firstMs: first.value, rows });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function started(variant: StartVariant, folder: string): Promise<Result<number, string>> {
  const launcher = join(packageFolder, "bin", "sluicegate.js");
  const through = [process.execPath, launcher, "run", "--solo", "--server", "memory", "--"];
  const [program = "", ...args] = variant === "direct" ? command : [...through, ...command];
  const env = {
    ...process.env,
    SLUICEGATE_HOME: join(folder, "state"),
    SLUICEGATE_RUNTIME_DIR: join(folder, "run"),
    SLUICEGATE_POLICY: "",
    XDG_CONFIG_HOME: join(folder, "config"),
    SLUICEGATE_ISOLATION: variant === "isolated" ? "" : "off",
  };
  const from = performance.now();
  const child = spawn(program, args, { cwd: join(folder, "work"), env, stdio: ["pipe", "pipe", "ignore"] });
  const clientInfo = { name: "bench", version: "1" };
  const client = childClient(child, { clientInfo, waitMsMax: answerMsMax });
  const hello = await client.hello();
  const ms = performance.now() - from;
  await ended(child);
  if (hello.ok && !hello.value.failed) return ok(ms);
  return err(`The server did not start (${variant}). Check the network and \`sluicegate doctor\`, then repeat it.`);
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("close", () => resolve());
    child.stdin?.end();
  });
}
