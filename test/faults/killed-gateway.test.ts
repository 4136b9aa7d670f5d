// The gateway is killed at any moment of a start, a call or a commit: no process and no mount of its servers stays, what
// it acknowledged is in the workspace whole, nothing else is there in part, and the next start clears away what was left.
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { best } from "../kit/gateway/stage.ts";
import { generator, seed } from "../process/fixture/chance.ts";
import { type Fact, family, goneOf, left, surviving } from "./kit.ts";

const program = fileURLToPath(new URL("gateway-main.ts", import.meta.url));
const rounds = process.env["SLUICEGATE_FULL"] === "1" ? 100 : 20;
const marker = `killed-${process.pid}`;
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "sluicegate-killed-"));
  chmodSync(root, 0o755);
  mkdirSync(join(root, "temporary"), { mode: 0o755 });
  mkdirSync(join(root, "workspace"));
  writeFileSync(join(root, "workspace", "own.txt"), "the work of a person\n");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

type Gateway = { readonly pid: number; readonly said: () => readonly string[]; readonly ended: Promise<string> };

function start(...flags: readonly string[]): Gateway {
  const child = spawn(process.execPath, [program, root, marker, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  let [text, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (more: string) => (text += more));
  child.stderr.setEncoding("utf8").on("data", (more: string) => (errors += more));
  const ended = new Promise<string>((resolve) => child.once("close", () => resolve(errors)));
  // What was cut off was not said.
  return { pid: child.pid ?? 0, said: () => text.slice(0, text.lastIndexOf("\n") + 1).split("\n"), ended };
}

const acknowledged = (gateway: Gateway): readonly string[] =>
  gateway.said().flatMap((line) => /^acknowledged (\S+)$/.exec(line)?.[1] ?? []);

const whole = (name: string): string => (name.startsWith("once-") ? "whole ".repeat(1_000) : "whole ".repeat(20_000));

/** What is in the workspace and should not be, or should be and is not. */
function faultsIn(promised: readonly string[]): readonly string[] {
  const workspace = join(root, "workspace");
  const names = readdirSync(workspace);
  const missing = promised.filter((name) => !names.includes(name));
  const torn = names.filter((name) => {
    if (name === "own.txt") return readFileSync(join(workspace, name), "utf8") !== "the work of a person\n";
    if (!name.endsWith("-many"))
      return !name.endsWith(".txt") || readFileSync(join(workspace, name), "utf8") !== whole(name);
    const files = readdirSync(join(workspace, name));
    const cut = files.some(
      (file) => readFileSync(join(workspace, name, file), "utf8") !== `${Number.parseInt(file, 10)}`.repeat(500),
    );
    return cut || (promised.includes(name) && files.length !== 60);
  });
  return [...missing.map((name) => `missing ${name}`), ...torn.map((name) => `torn ${name}`)];
}

/** What a projection leaves while it lives, and nothing else. */
function remains(): readonly string[] {
  const folders = ["temporary", "state/projections", "state/changes"];
  return folders.flatMap((folder) =>
    existsSync(join(root, folder)) ? readdirSync(join(root, folder)).map((name) => `${folder}/${name}`) : [],
  );
}

describe.skipIf(!best)(`the gateway is killed ${rounds} times (needs tier A, SLUICEGATE_SEED=${seed})`, () => {
  test("nothing runs on, nothing acknowledged is lost, nothing is torn", { timeout: rounds * 20_000 }, async () => {
    const random = generator(seed);
    const promised: string[] = [];
    let late = 0;
    for (let round = 0; round < rounds; round += 1) {
      const gateway = start();
      // A third of the kills fall into the start, a third into what follows it, a third into calls and commits: what a
      // busy machine has got done after so many milliseconds is no measure of that.
      const moment = random();
      const sign = moment < 0.3 ? undefined : moment < 0.6 ? /^connected$/ : /^acknowledged /;
      const until = Date.now() + 15_000;
      while (sign !== undefined && !gateway.said().some((line) => sign.test(line)) && Date.now() < until) {
        await sleep(10);
      }
      await sleep(random() * (sign === undefined ? 900 : 400));
      const running: readonly Fact[] = family(gateway.pid);
      process.kill(gateway.pid, "SIGKILL");
      await gateway.ended;
      const what = `round ${round}, ${gateway.said().at(-2) ?? "before it was open"}`;
      expect(await goneOf(() => surviving(running)), what).toEqual([]);
      expect(await goneOf(() => left(root)), what).toEqual([]);
      promised.push(...acknowledged(gateway));
      if (acknowledged(gateway).length > 0) late += 1;
    }
    const last = start("--once");
    const errors = await last.ended;
    expect(acknowledged(last), `${errors}${last.said().join("\n")}`).toHaveLength(1);
    promised.push(...acknowledged(last));
    expect(faultsIn(promised)).toEqual([]);
    expect(late).toBeGreaterThan(rounds / 5);
    expect(await goneOf(() => left(root))).toEqual([]);
    expect(remains()).toEqual([]);
    console.log(
      `${promised.length} acknowledged writes survived ${rounds} kills; ${last.said().filter((line) => line.startsWith("told")).length} finished by the last start`,
    );
  });
});
