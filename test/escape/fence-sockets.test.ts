// Where no mounts hide sockets, naming one must not open all others of the user: the session's D-Bus starts programs.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { probeSupport } from "../../src/adapters/projection/launch/support.ts";
import { openInside, scopeFor, stateFolder } from "./inside.ts";
import { plantWorld } from "./world.ts";

const support = await probeSupport();
const program = fileURLToPath(new URL("program.ts", import.meta.url));
const able = support.landlock > 0 && support.koffi;
const unixSocket = 31;

const folder = mkdtempSync(join(tmpdir(), "sluicegate-named-"));
chmodSync(folder, 0o755);
afterAll(() => {
  for (const one of [stateFolder, folder]) rmSync(one, { recursive: true, force: true });
});

test.skipIf(!able)(
  `behind the fence a named socket opens no other${able ? "" : " (needs Landlock and koffi)"}`,
  async () => {
    const world = await plantWorld(undefined, "projection");
    const named = join(folder, "named.sock");
    const listening = createServer((socket) => socket.destroy()).listen(named);
    const scope = { ...scopeFor(world), sockets: [named] };
    const inside = await openInside({ places: world.ground, args: [program, world.groundFile], scope, tier: "B" });
    try {
      if ("failed" in inside) throw new Error(inside.failed);
      const called = await inside.call("attempt", { number: unixSocket });
      if ("refused" in called) throw new Error(called.refused);
      expect(JSON.parse(called.text ?? "{}")).toMatchObject({ attempt: unixSocket, reached: false, cannot: false });
      expect(await world.changes("running")).toEqual([]);
      expect(inside.launched.notes.join(" ")).toContain("no socket");
    } finally {
      if (!("failed" in inside)) await inside.close();
      listening.close();
      await world.remove();
    }
  },
);
