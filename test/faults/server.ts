/**
 * The server of the fault tests: each tool brings about one trouble, bounded and harmless. Run as a program of its own,
 * `node server.ts MARKER`; it writes its lines itself, because some of them are no messages.
 */
import { spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

type Given = { readonly path?: string; readonly text?: string; readonly count?: number };
type Id = string | number;
type Act = (given: Given, id: Id) => string | Promise<string>;

const million = 1_000_000;
const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);

/** Repeats until it fails, and says how often it went well and why no more. */
function untilRefused(times: number, act: (index: number) => void): string {
  for (let index = 0; index < times; index += 1) {
    try {
      act(index);
    } catch (error) {
      return `${codeOf(error)} after ${index}`;
    }
  }
  return `never after ${times}`;
}

function say(text: string): void {
  process.stdout.write(text);
}

const held: unknown[] = [];

/** What a Python program prints, or the signal that ended it. */
async function python(text: string): Promise<string> {
  const child = spawn("python3", ["-c", `import ctypes,errno,mmap,time\n${text}`]);
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (more: string) => (said += more));
  const signal = await new Promise<string | null>((resolve) => child.once("close", (_code, by) => resolve(by)));
  return signal ?? said.trim();
}

async function flood(line: string, count: number): Promise<string> {
  for (let index = 0; index < count; index += 1)
    if (!process.stdout.write(line)) await new Promise((resolve) => process.stdout.once("drain", resolve));
  return "flooded";
}

function answerLine(id: Id, text: string): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } })}\n`;
}

const acts: Readonly<Record<string, Act>> = {
  echo: ({ text = "" }) => text,
  read: ({ path = "" }) => readFileSync(path, "utf8"),
  write: ({ path = "", text = "" }) => {
    writeFileSync(path, text);
    return "written";
  },
  write_many: ({ path = "", count = 0 }) => {
    mkdirSync(path, { recursive: true });
    for (let index = 0; index < count; index += 1) writeFileSync(`${path}/${index}.txt`, `${index}`.repeat(500));
    return "written";
  },
  wait: async ({ path, count = 0 }) => {
    if (path !== undefined) writeFileSync(path, "before the fault");
    await sleep(count);
    return "waited";
  },
  fill: ({ path = "", count = 0 }) => {
    const piece = Buffer.alloc(million, 120);
    return untilRefused(count, () => writeFileSync(path, piece, { flag: "a" }));
  },
  churn: ({ path = "", count = 0 }) => {
    mkdirSync(path, { recursive: true });
    // Two operations a turn, each on a name of its own, so that no two are told as one.
    return untilRefused(count / 2, (index) => {
      writeFileSync(`${path}/${index}`, "");
      rmSync(`${path}/${index}`);
    });
  },
  /** Many files that stay, each within the limit of one. */
  spread: async ({ path = "", count = 0 }) => {
    try {
      mkdirSync(path, { recursive: true });
      for (let index = 0; index < count; index += 1) {
        writeFileSync(`${path}/${index}`, Buffer.alloc(million, 120));
        await sleep(5);
      }
    } catch (error) {
      return codeOf(error);
    }
    return `never after ${count}`;
  },
  /** Memory that processes share, and memory that none of them maps. */
  shared: ({ count = 0 }) =>
    python(`m=mmap.mmap(-1,${count}<<20)
for i in range(0,len(m),4096): m[i]=1
time.sleep(3)
print('never')`),
  hidden: () =>
    python(`c=ctypes.CDLL(None,use_errno=True)
for call in (lambda: c.memfd_create(b'x',0), lambda: c.shmget(0,4096,0o1600), lambda: c.syscall(447,0)):
  print('made' if call()>=0 else errno.errorcode[ctypes.get_errno()],end=' ')`),
  open_files: ({ count = 0 }) => untilRefused(count, () => held.push(openSync("/dev/null", "r"))),
  memory: async ({ count = 0 }) => {
    for (let index = 0; index < count; index += 1) {
      held.push(Buffer.alloc(8 * million, index));
      // A little at a time, as memory leaks do.
      await sleep(10);
    }
    return "kept";
  },
  processes: async ({ count = 0 }) => {
    const started = Array.from({ length: count }, () => {
      const child = spawn("sleep", ["2"], { stdio: "ignore" });
      return new Promise<boolean>((resolve) => {
        child.once("spawn", () => resolve(true));
        child.once("error", () => resolve(false));
      });
    });
    return String((await Promise.all(started)).filter(Boolean).length);
  },
  spin: ({ count = 0 }) => {
    const started = process.cpuUsage();
    while (process.cpuUsage(started).user < count * 1_000);
    return "turned";
  },
  junk: ({ count = 0 }) => flood(`${"this is no message ".repeat(500)}\n`, (count * million) / 9_501),
  endless: async ({ count = 0 }) => {
    await flood("x".repeat(million), count);
    say("\n");
    return "ended";
  },
  /** Answers to requests that are not its own, and to its own twice. */
  forge: async (_given, id) => {
    const own = typeof id === "number" ? id : 0;
    for (let other = own - 20; other < own + 20; other += 1) if (other !== id) say(answerLine(other, "forged"));
    for (const other of ["1", "never-asked", -1, 2 ** 53, "sluicegate-1"]) say(answerLine(other, "forged"));
    say(`${JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "forged" } })}\n`);
    say(answerLine(id, "first"));
    await sleep(5);
    return "second";
  },
};

const inputSchema = {
  type: "object",
  properties: { path: { type: "string" }, text: { type: "string" }, count: { type: "integer" } },
};
const tools = Object.keys(acts).map((name) => ({ name, description: `Does \`${name}\`.`, inputSchema }));

type Request = {
  readonly id?: Id;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: Given; readonly protocolVersion?: string };
};

async function result({ method, params, id = 0 }: Request): Promise<object> {
  if (method === "initialize") {
    const serverInfo = { name: "faulty", version: "1" };
    return { protocolVersion: params?.protocolVersion ?? "2025-11-25", capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") return { tools };
  if (method !== "tools/call") return {};
  try {
    return { content: [{ type: "text", text: (await acts[params?.name ?? ""]?.(params?.arguments ?? {}, id)) ?? "" }] };
  } catch (error) {
    return { content: [{ type: "text", text: codeOf(error) }], isError: true };
  }
}

/** Calls run side by side, as in most servers. */
async function answer(request: Request): Promise<void> {
  if (request.id === undefined) return;
  const line = `${JSON.stringify({ jsonrpc: "2.0", id: request.id, result: await result(request) })}\n`;
  say(line);
}

for await (const line of createInterface({ input: process.stdin })) {
  void answer(JSON.parse(line) as Request); // only the gateway writes here, and it has parsed every message
}
