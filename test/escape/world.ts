/**
 * The world that attempts try to reach, planted in a folder of its own, and the look at it afterwards. Everything in it
 * is made for the test: secrets are chance, listeners are ours, and whatever an attempt leaves anywhere bears a token.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { chownSync, closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { environmentName, secretPrefix, type Ground } from "./ground.ts";
import { plantListeners } from "./listeners.ts";
import { plantTree } from "./tree.ts";

export type World = {
  readonly ground: Ground;
  /** Where the ground is written down for the attempts, within the server's code. */
  readonly groundFile: string;
  readonly secret: string;
  /** What the environment of an attempt's parent holds. */
  readonly environment: Readonly<Record<string, string>>;
  /** A descriptor of the secret, to be left open by mistake. */
  readonly descriptor: number;
  /**
   * What changed since the last look, in words; it is put back as it was. While the projection still runs, processes in
   * it may run too: only `ended` looks for those that should not.
   */
  readonly changes: (when: "running" | "ended") => Promise<readonly string[]>;
  readonly remove: () => Promise<void>;
};

/** Who plants and who tries: undefined = whoever runs the test. */
export type User = { readonly uid: number } | undefined;

/** Runs a command as that user, which root can. */
export function asUser(user: User, command: readonly string[]): readonly string[] {
  if (user === undefined) return command;
  return ["setpriv", `--reuid=${user.uid}`, `--regid=${user.uid}`, "--clear-groups", "--", ...command];
}

const limits = { processes: 200, memoryMb: 1_024, diskMb: 256 } as const;

const systemFolders = ["/usr/bin", "/etc", "/usr/lib", "/opt", "/tmp", "/dev/shm"] as const;

export async function plantWorld(user: User, where: "bare" | "projection"): Promise<World> {
  const root = mkdtempSync(join(tmpdir(), "sluicegate-escape-"));
  const token = root.slice(root.lastIndexOf("/") + 1);
  const secret = `${secretPrefix}${crypto.randomUUID()}`;
  const tree = plantTree(root, secret, user?.uid);
  const shared = ["/tmp", "/dev/shm"].map((folder) => `${folder}/${token}-secret`);
  for (const path of shared) own(path, secret, user);
  const listeners = await plantListeners(join(root, "outside"), token, secret);
  const environment = { [environmentName]: secret };
  let host = hostProcess(token, environment, user);
  const planted = await plantMemory(tree.secretFile, secret, user);
  const foreign = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outer = foreign.find((one) => one.family === "IPv4" && !one.internal)?.address;
  const projection = where === "projection";
  const ground = (): Ground => ({
    token,
    ...tree.places,
    shared,
    hostProcess: host.pid ?? 0,
    gateway: process.pid,
    listeners: listeners.targets(["127.0.0.1", "::1", ...(outer === undefined ? [] : [outer])]),
    internet: [
      ...listeners.targets(outer === undefined ? ["127.0.0.1"] : [outer]),
      // Real addresses only where nothing of this machine's network can be reached by them.
      ...(projection ? ["169.254.169.254", "203.0.113.7"].map((address) => ({ address, port: 80 })) : []),
    ],
    resolver: listeners.resolver,
    names: projection ? ["tunnel.attacker.example"] : [],
    unixSocket: listeners.unixSocket,
    abstractSocket: listeners.abstractSocket,
    sharedMemoryKey: planted.key,
    fileHandle: planted.handle,
    limits,
  });
  const groundFile = join(tree.places.code, "ground.json");
  const writeGround = (): void => writeFileSync(groundFile, JSON.stringify(ground()), { mode: 0o644 });
  writeGround();
  tree.settle();
  const descriptor = openSync(tree.secretFile, "r");
  const changes: World["changes"] = async (when) => {
    // A killed process needs a moment to be gone, and a datagram one to arrive.
    await new Promise((resolve) => setTimeout(resolve, 30));
    const seen = [...listeners.heard(), ...(when === "ended" ? survivors(token) : []), ...left(token, shared)];
    if (host.exitCode !== null || host.signalCode !== null) {
      seen.push("the process of the host was ended");
      host = hostProcess(token, environment, user);
      writeGround();
      seen.push(...tree.changes().filter((change) => !change.includes("ground.json")));
      return seen;
    }
    return [...seen, ...tree.changes()];
  };
  const remove = async (): Promise<void> => {
    closeSync(descriptor);
    host.kill("SIGKILL");
    await planted.close();
    await listeners.close();
    survivors(token);
    left(token, []);
    for (const path of shared) rmSync(path, { force: true });
    rmSync(root, { recursive: true, force: true });
  };
  return { ground: ground(), groundFile, secret, environment, descriptor, changes, remove };
}

function own(path: string, content: string, user: User): void {
  writeFileSync(path, content, { mode: 0o644 });
  if (user !== undefined) chownSync(path, user.uid, user.uid);
}

function hostProcess(token: string, env: Readonly<Record<string, string>>, user: User): ChildProcess {
  const script = `exec -a ${token}-host sleep 600`;
  const [file = "", ...args] = asUser(user, ["bash", "-c", script]);
  return spawn(file, args, { stdio: "ignore", env: { PATH: process.env["PATH"] ?? "", ...env } });
}

type Memory = { readonly handle: string; readonly key: number; readonly close: () => Promise<void> };

async function plantMemory(secretFile: string, secret: string, user: User): Promise<Memory> {
  const key = 0x51000000 + (process.pid % 0xffff);
  const program = fileURLToPath(new URL("planter.ts", import.meta.url));
  const [file = "", ...args] = asUser(user, [process.execPath, program, secretFile, secret, String(key)]);
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
  const line = await new Promise<string>((resolve) => {
    child.stdout.once("data", (data: Buffer) => resolve(data.toString()));
    child.once("close", () => resolve("{}"));
  });
  const planted = JSON.parse(line) as { handle?: string; key?: number }; // the planter's own words
  const close = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    const closed = new Promise((resolve) => child.once("close", resolve));
    child.stdin.end();
    await closed;
  };
  return { handle: planted.handle ?? "", key: planted.key ?? 0, close };
}

/** Processes that bear the token of a survivor; they are ended. */
function survivors(token: string): readonly string[] {
  const found = spawnSync("pgrep", ["-f", `^${token}-survivor`], { encoding: "utf8" }).stdout.split("\n");
  const ids = found.filter(Boolean).map(Number);
  for (const id of ids) process.kill(id, "SIGKILL");
  return ids.map((id) => `process ${id} outlived its parent`);
}

/** Files with the token in folders of the system; they are removed. */
function left(token: string, expected: readonly string[]): string[] {
  const names = systemFolders.flatMap((folder) =>
    ["", "-leak", "-fill", "-program"].map((end) => `${folder}/${token}${end}`),
  );
  const found = names.filter((path) => !expected.includes(path) && isFile(path));
  for (const path of found) rmSync(path, { force: true });
  return found.map((path) => `${path} was left`);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
