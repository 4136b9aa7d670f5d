/** Granted names that lead to guarded addresses, and the ways in which an operator may grant those. */
import { afterEach, describe, expect, test } from "vitest";
import { missing } from "./fixture/network.ts";
import { openScene, type Scene, told } from "./fixture/scene.ts";
import { systemSurroundings } from "../../../src/adapters/egress/reach.ts";

const why = missing();
if (why !== undefined) console.log(`skipped: ${why}`);

let scene: Scene;
afterEach(() => scene?.close());

const rebinding = {
  "loop.example.com": "127.0.0.1",
  "meta.example.com": "169.254.169.254",
  "meta6.example.com": "fd00:ec2::254",
  "mapped.example.com": "::ffff:127.0.0.1",
  "nat64.example.com": "64:ff9b::a9fe:a9fe",
  "home.example.com": "192.168.1.1",
  "own.example.com": "203.0.114.9",
  "none.example.com": undefined,
} as const;

describe.skipIf(why !== undefined)("guarded addresses", () => {
  test("an allowed name that resolves to one is refused, and nothing is connected to", async () => {
    const names = Object.keys(rebinding);
    scene = await openScene({ allow: names.map((name) => `${name}:5432`), ownAddresses: () => ["203.0.114.9"] });
    for (const [name, address] of Object.entries(rebinding)) {
      if (address !== undefined) scene.internet.names.set(name, [address]);
    }
    const outcomes = await scene.network.client(
      names.map((host) => ({ kind: "tcp", host, port: 5432, send: ["x"] }) as const),
    );
    expect(outcomes.map(({ how }) => how)).toEqual(names.map(() => "ECONNRESET"));
    expect(scene.internet.connected).toEqual([]);
    const seen = told(scene.broker.drain()).filter((line) => line.startsWith("net-connect"));
    expect(seen).toEqual([
      "net-connect denied loop.example.com 5432 egress-resolved-loopback",
      "net-connect denied meta.example.com 5432 egress-resolved-metadata",
      "net-connect denied meta6.example.com 5432 egress-resolved-metadata",
      "net-connect denied mapped.example.com 5432 egress-resolved-loopback",
      "net-connect denied nat64.example.com 5432 egress-resolved-metadata",
      "net-connect denied home.example.com 5432 egress-resolved-private",
      "net-connect denied own.example.com 5432 egress-resolved-own-address",
      "net-connect failed none.example.com 5432 egress-unresolved",
    ]);
  });

  test("of several addresses only those that pass are tried, and each name is resolved once", async () => {
    scene = await openScene({ allow: ["mixed.example.com:5432"] });
    scene.internet.names.set("mixed.example.com", ["127.0.0.1", "10.0.0.1", "93.184.215.77"]);
    const [outcome] = await scene.network.client([
      { kind: "tcp", host: "mixed.example.com", port: 5432, send: ["x", "end"] },
    ]);
    expect(outcome?.text).toBe("xgoodbye");
    expect(scene.internet.connected).toEqual(["93.184.215.77:5432"]);
    expect(scene.internet.resolved).toEqual(["mixed.example.com"]);
  });

  test("an address that is granted itself is reached, by itself and by a granted name", async () => {
    scene = await openScene({ allow: ["home.example.com:5432", "192.168.1.0/24:5432", "93.184.215.14:443"] });
    scene.internet.names.set("home.example.com", ["192.168.1.1"]);
    const outcomes = await scene.network.client([
      { kind: "tcp", host: "home.example.com", port: 5432, send: ["x", "end"] },
      { kind: "tcp", host: "192.168.1.7", port: 5432, send: ["y", "end"] },
      { kind: "tcp", host: "192.168.2.7", port: 5432, send: ["z", "end"] },
      { kind: "fetch", url: "https://93.184.215.14/" },
    ]);
    expect(outcomes.map(({ text, how }) => text || how)).toEqual([
      "xgoodbye",
      "ygoodbye",
      "ECONNRESET",
      expect.stringMatching(/SELF_SIGNED|CERT|VERIFY/),
    ]);
  });

  test("with the grant of a guarded address ends what a name opened through it", async () => {
    scene = await openScene({ allow: ["home.example.com:5432"] });
    scene.internet.names.set("home.example.com", ["192.168.1.1"]);
    scene.broker.grant("call", ["192.168.1.1:5432"]);
    const open = scene.network.client([{ kind: "tcp", host: "home.example.com", port: 5432, send: ["held"] }]);
    await expect.poll(() => scene.internet.received, { timeout: 5_000 }).toBe(4);
    scene.broker.revoke("call");
    expect((await open)[0]?.how).toMatch(/end|ECONNRESET/);
  });

  test("localhost with a port reaches that one service of this machine, under either spelling", async () => {
    const internet = new (await import("./fixture/internet.ts")).Internet();
    await internet.start();
    const port = internet.portOf(5432);
    scene = await openScene({ allow: [`localhost:${port}`], ...systemSurroundings });
    const outcomes = await scene.network.client([
      { kind: "tcp", host: "localhost", port, send: ["x", "end"] },
      { kind: "tcp", host: "127.0.0.1", port, send: ["y", "end"] },
      { kind: "tcp", host: "127.0.0.1", port: internet.portOf(2525), send: [] },
    ]);
    internet.stop();
    expect(outcomes.map(({ text, how }) => text || how)).toEqual(["xgoodbye", "ygoodbye", "ECONNREFUSED"]);
    expect(told(scene.broker.drain())).toContain(`net-connect success localhost ${port} -`);
  });
});
