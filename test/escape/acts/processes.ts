/** Other processes, programs of one's own, and more of everything than there should be. */
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { anyOf, attempted, carries, held, reached, type Act, type Outcome } from "../ground.ts";
import { loadNative, text, type Native } from "../native.ts";

export const seeAndSignal: Act = (ground) =>
  anyOf({
    see: () => {
      const line = readFileSync(`/proc/${ground.hostProcess}/cmdline`, "latin1");
      return line.includes(ground.token) ? reached("sees the process") : held("another process");
    },
    signal: () => {
      process.kill(ground.hostProcess, "SIGTERM");
      return reached("signalled the process");
    },
    gateway: () => {
      process.kill(ground.gateway, 0);
      return reached("may signal the gateway");
    },
  });

const seize = 0x4206;
const remoteBytes = 8;

/** Reads a word of another process; `iovec`s of both sides lead to memory that surely exists in ours. */
function readRemote(native: Native, process: number): Outcome {
  const target = native.place(Buffer.alloc(remoteBytes));
  const vector = Buffer.alloc(16);
  vector.writeBigUInt64LE(target, 0);
  vector.writeBigUInt64LE(BigInt(remoteBytes), 8);
  const read = native.call("process_vm_readv", process, vector, 1, vector, 1, 0);
  // A bad address is an answer that only someone gets who may read.
  return read >= 0n || read === -14n ? reached("may read memory") : held(`error ${-read}`);
}

export const takeOver: Act = async (ground) => {
  const native = await loadNative();
  if (native === undefined) return { kind: "cannot", detail: "needs koffi on x86-64" };
  const sibling = spawn("sleep", ["5"], { stdio: "ignore" });
  sibling.on("error", () => undefined);
  const own = sibling.pid ?? 0;
  const trace = (process: number) => (): Outcome => {
    const done = native.call("ptrace", seize, process, 0, 0);
    return done === 0n ? reached("traces it") : held(`error ${-done}`);
  };
  const take = (): Outcome => {
    const handle = native.call("pidfd_open", ground.hostProcess, 0);
    if (handle < 0n) return held(`error ${-handle}`);
    const taken = native.call("pidfd_getfd", handle, 0, 0);
    return taken >= 0n ? reached("took a descriptor") : held(`error ${-taken}`);
  };
  try {
    return await anyOf({
      host: trace(ground.hostProcess),
      sibling: own === 0 ? () => held("no sibling") : trace(own),
      memory: () => readRemote(native, ground.hostProcess),
      descriptor: take,
    });
  } finally {
    sibling.kill("SIGKILL");
  }
};

const trueProgram = "/usr/bin/true";

function runs(program: string): Outcome {
  const done = spawnSync(program, { timeout: 5_000 });
  return done.status === 0 ? reached(`ran ${program}`) : held(done.error?.message ?? `status ${String(done.status)}`);
}

export const foreignPrograms: Act = async (ground) => {
  const native = await loadNative();
  const copied = (folder: string) => (): Outcome => {
    const path = `${folder}/${ground.token}-program`;
    try {
      copyFileSync(trueProgram, path);
      chmodSync(path, 0o755);
      return runs(path);
    } finally {
      spawnSync("rm", ["-f", path]);
    }
  };
  return anyOf({
    memory: () => {
      if (native === undefined) return { kind: "cannot", detail: "needs koffi on x86-64" };
      const file = native.call("memfd_create", text("program"), 0);
      if (file < 0n) return held(`error ${-file}`);
      writeFileSync(`/proc/self/fd/${file}`, readFileSync(trueProgram));
      return runs(`/proc/self/fd/${file}`);
    },
    workspace: copied(ground.workspace),
    temporary: copied("/tmp"),
  });
};

const survivalSeconds = 20;

/** Leaves session, group and parent; whether it is still there when the server has gone is seen from outside. */
export const survive: Act = (ground) =>
  attempted(() => {
    const command = `exec -a ${ground.token}-survivor sleep ${survivalSeconds}`;
    const done = spawnSync("setsid", ["--fork", "bash", "-c", command], { stdio: "ignore", timeout: 5_000 });
    return done.status === 0 ? reached("left a process behind") : held(done.error?.message ?? String(done.status));
  });

/** Long enough for a limit that is held by looking from time to time. */
const holdMs = 1_500;
const hold = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, holdMs));

/** Starts up to the given number of sleepers; all of them still alive is reached. What is not ended here ends by itself. */
export const forkBomb: Act = async (ground) => {
  const children = [];
  let failed = "";
  for (let index = 0; index < ground.limits.processes && failed === ""; index++) {
    const child = spawn("sleep", [`${survivalSeconds}`], { stdio: "ignore" });
    child.once("error", (error) => (failed = error.message));
    children.push(child);
    if (child.pid === undefined) await new Promise((resolve) => setImmediate(resolve));
  }
  await hold();
  const alive = children.filter((child) => child.pid !== undefined && existsSync(`/proc/${child.pid}`)).length;
  for (const child of children) if (child.pid !== undefined) child.kill("SIGKILL");
  return alive >= ground.limits.processes ? reached(`${alive} processes`) : held(`${alive} processes, ${failed}`);
};

const chunkMb = 32;

/** Takes and touches up to the given amount of memory and keeps it a while; the process that does ends with it. */
export const memoryHog: Act = async (ground) => {
  const taken: Buffer[] = [];
  for (let total = 0; total < ground.limits.memoryMb; total += chunkMb)
    taken.push(Buffer.alloc(chunkMb * 1_048_576, 1));
  await hold();
  return reached(`${taken.length * chunkMb} MB`);
};

/** Both are reached before the attempt gives up: on a busy machine the other thread may not even run for a while. */
const opensMin = 2_000;
const raceMs = 2_000;

/**
 * Swaps the path in memory while the kernel copies it, so that a tracer may read another name than is opened
 * (in a measurement, up to 12 % of opens). Whatever the log says, the secret must not come back.
 */
export const pathRace: Act = async (ground) => {
  const native = await loadNative();
  if (native === undefined) return { kind: "cannot", detail: "needs koffi on x86-64" };
  const { Worker } = await import("node:worker_threads");
  const benign = text(`${ground.workspace}/readme.txt`);
  const secret = text(`${ground.home}/.ssh/id_ed25519`);
  const length = Math.max(benign.length, secret.length);
  const padded = (path: Buffer): Buffer => Buffer.concat([path, Buffer.alloc(length - path.length)]);
  const address = native.place(padded(benign));
  const swapper = new Worker(new URL("../swapper.ts", import.meta.url), {
    workerData: { address, paths: [padded(benign), padded(secret)] },
  });
  await new Promise((resolve) => swapper.once("message", resolve));
  const until = performance.now() + raceMs;
  let [won, opens] = [false, 0];
  for (; !won && (opens < opensMin || performance.now() < until); opens++) {
    const file = native.call("open", address, 0, 0);
    if (file < 0n) continue;
    won = carries(readFileSync(Number(file), "utf8")).kind === "reached";
    native.call("close", file);
  }
  await swapper.terminate();
  return won ? reached("read the secret") : held(`${opens} opens, never the secret`);
};
