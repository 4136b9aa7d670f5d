/** What a server that ignores every proxy setting reaches, and what it does not, as root and as an ordinary user. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callers, missing } from "./fixture/network.ts";
import { openScene, type Scene, told } from "./fixture/scene.ts";

const why = missing();
if (why !== undefined) console.log(`skipped: ${why}`);

describe.skipIf(why !== undefined).each(callers)("a server's network, started by %s", (as) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({
      as,
      allow: ["api.example.com:443", "api.example.com:80", "api.example.com:2525", "api.example.com:5432"],
      tools: ["late.example.com:5432"],
    });
  });
  afterAll(() => scene.close());

  test("an allowed name is reached by TLS and in plain, without any proxy setting", async () => {
    const { network, broker, env } = scene;
    const outcomes = await network.client(
      [
        { kind: "fetch", url: "https://api.example.com/" },
        { kind: "fetch", url: "http://api.example.com/" },
        { kind: "lookup", name: "api.example.com" },
        { kind: "tcp", host: "api.example.com", port: 2525, send: [] },
        { kind: "tcp", host: "api.example.com", port: 5432, send: ["\0\0\0\bquery"] },
      ],
      env,
    );
    expect(outcomes.slice(0, 2)).toMatchObject([
      { how: "200", text: "hello api.example.com" },
      { how: "200", text: "hello api.example.com" },
    ]);
    expect(outcomes[2]?.text, "an address that is no address of this machine").toBe("198.18.1.0");
    expect(outcomes[3]).toMatchObject({ text: "220 welcome\r\n", how: "end" });
    const seen = broker.drain();
    expect(told(seen)).toEqual(
      expect.arrayContaining([
        "dns-query success api.example.com - -",
        "net-connect success api.example.com 443 -",
        "net-connect success api.example.com 80 -",
        "net-connect success api.example.com 2525 -",
        "net-send success api.example.com 443 -",
      ]),
    );
    expect(seen.every(({ grade }) => grade === "broker")).toBe(true);
    expect(seen.find(({ action }) => action === "net-connect")?.address).toBe("93.184.215.14");
  });
});
