/**
 * Makes attempts, where it is told to: `node program.ts GROUND NUMBER` makes one and prints one line of JSON; without a
 * number it is an MCP server with the tool `attempt`, so that a projection runs it like any other server.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { attempts } from "./attempts.ts";
import { attempted, type Ground, type Outcome } from "./ground.ts";

const [, , groundFile = "", only] = process.argv;
const ground = JSON.parse(readFileSync(groundFile, "utf8")) as Ground; // the test that planted it wrote it
const aloneMsMax = 20_000;

/** What is printed: reached or not, and where it could not be tried, why. */
function line(attempt: number, outcome: Outcome): string {
  const { kind, detail } = outcome;
  return JSON.stringify({ attempt, reached: kind === "reached", cannot: kind === "cannot", detail });
}

async function make(attempt: number): Promise<string> {
  const found = attempts.find((one) => one.number === attempt);
  if (found === undefined) return line(attempt, { kind: "cannot", detail: "there is no such attempt" });
  return line(attempt, await attempted(() => found.act(ground)));
}

/** In a process of its own, whose end by the kernel or a filter is an answer. */
function makeAlone(attempt: number): string {
  const args = [fileURLToPath(import.meta.url), groundFile, String(attempt)];
  const stdio = ["ignore", "pipe", "ignore"] as const;
  const done = spawnSync(process.execPath, args, { encoding: "utf8", stdio: [...stdio], timeout: aloneMsMax });
  const last = done.stdout?.trim().split("\n").at(-1) ?? "";
  if (last.startsWith("{")) return last;
  const why = done.error?.message ?? `ended by ${done.signal ?? String(done.status)}`;
  return line(attempt, { kind: done.error === undefined || done.signal !== null ? "held" : "cannot", detail: why });
}

if (only === undefined) {
  const { number, serve } = await import("../kit/server/pairs/base.ts");
  await serve("escape", [
    {
      name: "attempt",
      description: "Makes one attempt to reach what lies outside.",
      parameters: { number },
      call: async (args) => {
        const wanted = Number(args["number"]);
        const alone = attempts.find((one) => one.number === wanted)?.alone === true;
        return alone ? makeAlone(wanted) : await make(wanted);
      },
    },
  ]);
} else {
  process.stdout.write(`${await make(Number(only))}\n`);
  process.exit(0);
}
