import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { paths, supervisor, traced, tracerAbsent } from "../../../test/process/traced.ts";

const python = spawnSync("python3", ["-c", "import ctypes; print(__import__('sys').executable)"], { encoding: "utf8" });
const absent = python.status === 0 ? await tracerAbsent() : "there is no python3 to race with";

const attemptsMax = 20;
const turns = 400;

/** One thread opens a path again and again while another swaps a letter of it between `a` and `b`. */
const racer = `
import ctypes, os, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
folder = sys.argv[1]
running = True
buffer = ctypes.create_string_buffer(4096)
cell = len(folder) + 1
buffer[0:cell + 2] = (folder + "/a/").encode()
def swap():
    while running:
        buffer[cell] = b"b"
        buffer[cell] = b"a"
threading.Thread(target=swap, daemon=True).start()
opened = []
for turn in range(${turns}):
    name = str(turn).encode() + b"\\0"
    buffer[cell + 2:cell + 2 + len(name)] = name
    descriptor = libc.open(buffer, os.O_RDONLY)
    if descriptor >= 0:
        if os.read(descriptor, 1) == b"s": opened.append(turn)
        os.close(descriptor)
running = False
print(opened, flush=True)
sys.stdin.readline()
`;

/**
 * The price of reading another process's memory. It is why every such sighting is a `hint`: what the server may open is
 * decided by mounts, and what it wrote is read from the upper layer, neither of which this race can reach.
 */
test.skipIf(absent !== undefined)(
  `a racing thread can make a hint name another file than the kernel opens${absent === undefined ? "" : `: ${absent}`}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "sluicegate-race-"));
    for (const [kind, text] of Object.entries({ a: "harmless", b: "secret" })) {
      mkdirSync(join(folder, kind));
      for (let turn = 0; turn < turns; turn++) writeFileSync(join(folder, kind, String(turn)), text);
    }
    const by = await supervisor();
    let forged = false;
    for (let attempt = 0; attempt < attemptsMax && !forged; attempt++) {
      const program = await traced(by, [python.stdout.trim(), "-c", racer, folder]);
      const secrets: readonly unknown[] = JSON.parse(await program.line());
      const sightings = program.tracer.drain();
      expect(sightings.every((one) => one.grade === "hint")).toBe(true);
      const told = new Set(paths(sightings, "file-read"));
      forged = secrets.some((turn) => !told.has(join(folder, "b", String(turn))));
      program.child.kill("SIGKILL");
      program.tracer.close();
    }
    by.close();
    rmSync(folder, { recursive: true, force: true });
    expect(forged).toBe(true);
  },
);
