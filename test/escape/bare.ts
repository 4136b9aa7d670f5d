/** Makes an attempt with nothing around it, as some user, and tells what came of it. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { asUser, type User, type World } from "./world.ts";

export type Line = {
  readonly attempt: number;
  readonly reached: boolean;
  readonly cannot: boolean;
  readonly detail: string;
};

const attemptMsMax = 25_000;
export const program = fileURLToPath(new URL("program.ts", import.meta.url));

export async function attemptBare(world: World, user: User, number: number): Promise<Line> {
  const [file = "", ...args] = asUser(user, [process.execPath, program, world.groundFile, String(number)]);
  const child = spawn(file, args, {
    cwd: world.ground.workspace,
    env: { PATH: process.env["PATH"] ?? "", HOME: world.ground.home, ...world.environment },
    // The last one is the descriptor that somebody forgot to close.
    stdio: ["ignore", "pipe", "ignore", world.descriptor],
    timeout: attemptMsMax,
  });
  let output = "";
  child.stdout?.on("data", (data: Buffer) => (output += data.toString()));
  const ended = await new Promise<string>((resolve) =>
    child.once("close", (code, signal) => resolve(signal ?? String(code))),
  );
  return lineOf(output) ?? { attempt: number, reached: false, cannot: false, detail: `ended by ${ended}` };
}

/** The line that an attempt printed, if it is one. */
export function lineOf(output: string): Line | undefined {
  const last = output.trim().split("\n").at(-1) ?? "";
  return last.startsWith("{") ? (JSON.parse(last) as Line) : undefined; // program.ts wrote it
}

/** Whether what an attempt brought back as proof is what was planted, where it is a secret at all. */
export function genuine(line: Line, world: World): boolean {
  return !line.detail.includes("planted-secret-") || line.detail.includes(world.secret);
}
