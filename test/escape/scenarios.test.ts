// What no single attempt can show (48 to 51 and 53 of the list): names and addresses, work after the answer, a hostile
// layer of writes, a supervisor that is killed, and quotas of bytes. Number 52, floods and
// forged ids on the protocol stream, goes through the whole gateway: `test/faults/floods.test.ts`.
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EffectEvent } from "../../src/core/isolation/effect-trace.ts";
import type { Scope } from "../../src/core/isolation/scope.ts";
import { probeSupport } from "../../src/adapters/projection/launch/support.ts";
import { openInside, scopeFor, stateFolder, type Called, type Inside } from "./inside.ts";
import { plantWorld, type World } from "./world.ts";

const support = await probeSupport();
const best = support.bubblewrap && support.koffi && support.userNotify && support.overlay;
const program = fileURLToPath(new URL("scenario-server.ts", import.meta.url));

let world: World;
let inside: Inside | undefined;
const servers: Server[] = [];

beforeEach(async () => {
  if (best) world = await plantWorld(undefined, "projection");
});
afterEach(async () => {
  await inside?.close();
  inside = undefined;
  for (const server of servers.splice(0)) server.close();
  if (best) await world.remove();
});
afterAll(() => rmSync(stateFolder, { recursive: true, force: true }));

async function start(change: (scope: Scope) => Scope = (scope) => scope): Promise<Inside> {
  const opened = await openInside({
    places: world.ground,
    args: [program, world.groundFile],
    scope: change(scopeFor(world)),
  });
  if ("failed" in opened) throw new Error(opened.failed);
  inside = opened;
  return opened;
}

async function called(tool: string, args: object): Promise<Called> {
  const result = await inside?.call(tool, args);
  if (result === undefined || "refused" in result) throw new Error(`not begun: ${result?.refused ?? "no projection"}`);
  return result;
}

type Listener = {
  readonly port: number;
  readonly visits: () => number;
  /** Bytes that visitors have said. */
  readonly heard: () => number;
};

/** A listener of the host that sends the given bytes to whoever comes, and counts who came and what they said. */
async function listener(sendBytes: number): Promise<Listener> {
  let [visits, heard] = [0, 0];
  const server = createServer((socket) => {
    visits += 1;
    socket.on("error", () => undefined);
    socket.on("data", (data) => (heard += data.length));
    socket.end(Buffer.alloc(sendBytes, 65));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  // A server on a TCP port always has an AddressInfo.
  return { port: (server.address() as AddressInfo).port, visits: () => visits, heard: () => heard };
}

const allowing =
  (destination: string, bytesMax: number) =>
  (scope: Scope): Scope => ({
    ...scope,
    net: { mode: "list", allow: [destination], callBytesMax: bytesMax, serverBytesMax: bytesMax * 4 },
  });

const plentyBytes = 1_048_576;

describe.skipIf(!best)("scenarios (need bubblewrap, koffi, a supervisor and overlays)", () => {
  test("48 a listed destination is reached; other names, addresses and names on the wire are not", async () => {
    const { port, visits, heard } = await listener(1_000);
    await start(allowing(`localhost:${port}`, plentyBytes));
    expect((await called("download", { host: "localhost", port })).text).toBe("1000");
    expect(visits()).toBe(1);
    const unknown = await called("look_up", { name: "other.attacker.example" });
    expect(unknown.isError).toBe(true);
    expect(unknown.trace.events).toContainEqual(
      expect.objectContaining({
        action: "dns-query",
        outcome: "denied",
        grade: "broker",
        domain: "other.attacker.example",
      }),
    );
    for (const host of ["203.0.113.7", "169.254.169.254", "192.0.2.77"]) {
      const literal = await called("download", { host, port });
      expect(literal.text, host).toMatch(/^0/);
      expect(literal.trace.events).toContainEqual(
        expect.objectContaining({ action: "net-connect", outcome: "denied", grade: "broker", address: host }),
      );
    }
    // On a port of no known protocol the listener may speak first, so it is visited, but not told the other name.
    const hello = await called("hello", { host: "localhost", port, servername: "other.attacker.example" });
    expect(heard()).toBe(0);
    expect(hello.trace.events).toContainEqual(expect.objectContaining({ action: "net-connect", outcome: "denied" }));
  });

  test("48 a listed name that leads to this machine is not let through", async () => {
    const { port, visits } = await listener(1_000);
    await start(allowing(`${hostname()}.attacker.example:${port}`, plentyBytes));
    const result = await called("download", { host: `${hostname()}.attacker.example`, port });
    expect(result.text).toMatch(/^0|ENOTFOUND/);
    expect(visits()).toBe(0);
  });

  test("49 what is done after the answer belongs to no call", async () => {
    const { projection } = await start();
    const during = await called("later", {});
    expect(during.trace.events.map((event) => event.path ?? "").join()).not.toContain("late.txt");
    const late: EffectEvent[] = [];
    const changed: string[] = [];
    for (let waitedMs = 0; waitedMs < 2_000 && (late.length === 0 || !changed.includes("late.txt")); waitedMs += 50) {
      await sleep(50);
      const { events, changes } = await projection.trace(undefined);
      late.push(...events.filter((event) => event.path?.endsWith("/late.txt") === true));
      changed.push(...changes.map((change) => change.path));
    }
    expect(late.length).toBeGreaterThan(0);
    expect(new Set(late.map((event) => event.phase))).toEqual(new Set(["background"]));
    expect(changed).toContain("late.txt");
  });

  test("50 a hostile layer of writes leaves the workspace whole", { timeout: 60_000 }, async () => {
    await start();
    const files = process.env["SLUICEGATE_FULL"] === "1" ? 100_000 : 500;
    const { concluded } = await called("layer", { files });
    const { workspace } = world.ground;
    const names = readdirSync(workspace, { recursive: true, encoding: "utf8" });
    for (const name of names) {
      const facts = lstatSync(join(workspace, name));
      expect(facts.isFile() || facts.isDirectory() || facts.isSymbolicLink(), name).toBe(true);
      if (facts.isSymbolicLink()) expect(readlinkSync(join(workspace, name))).not.toMatch(/^(\/|\.\.)/);
      expect(facts.mode & 0o6000, name).toBe(0);
    }
    expect(readFileSync(join(workspace, "readme.txt"), "utf8")).toBe("a project\n");
    // Either all that is ordinary has arrived, or a sentence says why it did not.
    const arrived = names.filter((name) => name.startsWith("many/deep/")).length;
    if (concluded.ok) expect(arrived + concluded.value.held.length).toBeGreaterThanOrEqual(Math.min(files, 500));
    else expect(concluded.error).toMatch(/\.$/);
  });

  test("51 without its supervisor a server does nothing any more", async () => {
    const { call } = await start();
    expect((await called("open", { path: "readme.txt" })).text).toBe("a project\n");
    const supervisor = childNamed("supervisor-main");
    expect(supervisor).toBeGreaterThan(0);
    process.kill(supervisor, "SIGKILL");
    const next = await call("open", { path: "readme.txt" });
    // Its open fails, whether or not its end has been noticed yet.
    if ("text" in next) expect(next.isError).toBe(true);
    await sleep(300);
    const later = await call("open", { path: "readme.txt" });
    const told = "refused" in later ? later.refused : (later.trace.failure ?? "");
    expect(told).toMatch(/\.$/);
  });

  test("53 beyond its quota of bytes even a listed destination is cut", async () => {
    const { port } = await listener(4 * plentyBytes);
    await start(allowing(`localhost:${port}`, plentyBytes));
    const { text, trace } = await called("download", { host: "localhost", port });
    expect(Number.parseInt(text ?? "0", 10)).toBeLessThanOrEqual(plentyBytes);
    expect(trace.events).toContainEqual(expect.objectContaining({ action: "limit-hit", grade: "broker" }));
  });
});

/** Process id of a child of this process by a word of its command line; 0 if there is none. */
function childNamed(word: string): number {
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const parent = /^\d+ \(.*\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, "latin1"))?.[1];
      const line = readFileSync(`/proc/${name}/cmdline`, "latin1");
      if (Number(parent) === process.pid && line.includes(word)) return Number(name);
    } catch {
      // It ended while we looked.
    }
  }
  return 0;
}
