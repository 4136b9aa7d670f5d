// Pages of user presence over HTTP: who may load one, who may answer it, and how long they are there.
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Authenticator } from "../../../test/kit/client/authenticator.ts";
import { FactorFiles } from "./factor-files.ts";
import { PresenceFactor } from "./presence.ts";
import { PresenceServer, type WaitingPage } from "./presence-server.ts";

type Reply = { readonly status: number; readonly text: string; readonly headers: Record<string, unknown> };
type Sent = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string };

/** A request as any program can make it: with headers that no browser would send. */
function send(url: string, { method = "GET", headers = {}, body = "" }: Sent = {}, host = "127.0.0.1"): Promise<Reply> {
  const { port, pathname, host: named } = new URL(url);
  return new Promise((resolve, reject) => {
    const options = { host, port, path: pathname, method, headers: { host: named, ...headers } };
    const sent = request(options, (response) => {
      let text = "";
      response.on("data", (part: Buffer) => (text += part.toString()));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const content = {
  title: "Send <b>it</b>?",
  lines: ['to "eve"</pre><script>alert(1)</script>'],
  button: "Yes",
  options: { get: { note: "</script><script>" } },
};
const challenge = Buffer.alloc(32, 7);

let folder: string;
let factor: PresenceFactor;
let server: PresenceServer;
const key = new Authenticator();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluicegate-presence-"));
  factor = new PresenceFactor(new FactorFiles(join(folder, "factors")));
  server = new PresenceServer();
  expect(factor.register(key.register({ challenge, origin: "o" }), { challenge, origin: "o" })).toMatchObject({
    ok: true,
  });
});
afterEach(() => rmSync(folder, { recursive: true }));

async function open(waitMs = 5_000): Promise<WaitingPage> {
  const opened = await server.open({
    content,
    challenge,
    check: (answer, origin) => factor.check(answer, { challenge, origin }),
    waitMs,
  });
  if (!opened.ok) throw new Error(opened.error);
  return opened.value;
}

const json = { "content-type": "application/json" };
const answerFor = (url: string): string => JSON.stringify(key.answer({ challenge, origin: new URL(url).origin }));

describe("a page", () => {
  it("shows texts as texts, runs nothing but its own script, and is answered by a touched key", async () => {
    const { url, answered } = await open();
    const page = await send(url);
    expect(page.status).toBe(200);
    expect(page.text).toContain("Send &lt;b>it&lt;/b>?");
    expect(page.text.match(/<script/g)).toHaveLength(2);
    expect(page.headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'nonce-/);
    expect(page.headers).toMatchObject({ "x-frame-options": "DENY", "cache-control": "no-store" });
    const { origin } = new URL(url);
    const post = { method: "POST", headers: { ...json, origin }, body: answerFor(url) };
    expect(await send(url, post)).toMatchObject({ status: 200 });
    expect(await answered).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await expect(send(url, post)).rejects.toThrow(/ECONNREFUSED/);
  });

  it("A9: is not there under another name, address or method", async () => {
    const { url } = await open();
    const { origin, port } = new URL(url);
    expect(await send(`${origin}/`)).toMatchObject({ status: 404 });
    expect(await send(`${url}x`)).toMatchObject({ status: 404 });
    for (const host of [`127.0.0.1:${port}`, `evil.example:${port}`, "localhost", `localhost.:${port}`])
      expect(await send(url, { headers: { host } })).toMatchObject({ status: 404 });
    for (const method of ["PUT", "OPTIONS", "DELETE"])
      expect(await send(url, { method })).toMatchObject({ status: 403 });
  });

  it("A9: takes no answer of another page, of no key, or that is too long", async () => {
    const { url, answered } = await open(400);
    const { origin } = new URL(url);
    const body = answerFor(url);
    const refused: readonly Sent[] = [
      { headers: json, body },
      { headers: { ...json, origin: "null" }, body },
      { headers: { ...json, origin: "http://localhost:1" }, body },
      { headers: { origin, "content-type": "text/plain" }, body },
      { headers: { ...json, origin }, body: "" },
      { headers: { ...json, origin }, body: "{}" },
      { headers: { ...json, origin }, body: `{"x":"${"y".repeat(100_000)}"}` },
      {
        headers: { ...json, origin },
        body: JSON.stringify(new Authenticator().answer({ challenge, origin })),
      },
      { headers: { ...json, origin }, body: JSON.stringify(key.answer({ challenge: Buffer.alloc(32), origin })) },
    ];
    for (const one of refused) expect(await send(url, { method: "POST", ...one })).toMatchObject({ status: 403 });
    expect(await answered).toBe(false);
  });

  it("A9: is served on both loopback addresses, so that no other program can be in its place", async () => {
    const { url } = await open();
    const seen = await send(url, {}, "::1").then(
      ({ status }) => String(status),
      (cause: NodeJS.ErrnoException) => cause.code,
    );
    // Some machines have no second address.
    expect(["200", "EADDRNOTAVAIL", "EAFNOSUPPORT"]).toContain(seen);
  });

  it("A9: an answer that is whole after the page's time proves nothing", async () => {
    const { url, answered } = await open(100);
    const { origin, port, pathname, host } = new URL(url);
    const body = answerFor(url);
    const sent = request({
      host: "127.0.0.1",
      port,
      path: pathname,
      method: "POST",
      headers: { ...json, host, origin, "content-length": Buffer.byteLength(body) },
    });
    const status = new Promise((resolve, reject) => {
      sent.on("response", (response) => resolve(response.resume().statusCode));
      sent.on("error", reject);
    });
    sent.write(body.slice(0, 10));
    expect(await answered).toBe(false);
    sent.end(body.slice(10));
    expect(await status).toBe(403);
  });

  it("counts once, also for two answers at once", async () => {
    const { url } = await open();
    const { origin } = new URL(url);
    const post = (): Promise<Reply> =>
      send(url, { method: "POST", headers: { ...json, origin }, body: answerFor(url) });
    const both = await Promise.allSettled([post(), post()]);
    const statuses = both.map((one) => (one.status === "fulfilled" ? one.value.status : 0));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  it("is one of a bounded number", async () => {
    const waiting = await Promise.all(Array.from({ length: 32 }, () => open(50)));
    await expect(open()).rejects.toThrow("Too many approvals");
    await Promise.all(waiting.map(({ answered }) => answered));
    await new Promise((resolve) => setTimeout(resolve, 20));
    await open(1);
  });
});

describe("keys", () => {
  it("are kept sealed with their count, and a copy of one is refused", () => {
    const counting = new Authenticator("EdDSA");
    counting.count = 1;
    const asked = { challenge, origin: "o" };
    expect(factor.register(counting.register(asked), asked)).toMatchObject({ ok: true });
    expect(factor.ids()).toHaveLength(2);
    expect(factor.register(counting.register(asked), asked)).toMatchObject({
      error: expect.stringContaining("already"),
    });
    expect(factor.check(counting.answer(asked), asked)).toMatchObject({ ok: true });
    counting.count = 1;
    expect(factor.check(counting.answer(asked), asked)).toMatchObject({ error: expect.stringContaining("a copy") });
    expect(factor.remove()).toBe(true);
    expect(factor.enrolled()).toBe(false);
    expect(factor.check(counting.answer(asked), asked)).toMatchObject({
      error: expect.stringContaining("not registered"),
    });
  });

  it("are at most eight", () => {
    const asked = { challenge, origin: "o" };
    for (let made = 1; made < 8; made += 1)
      expect(factor.register(new Authenticator().register(asked), asked)).toMatchObject({ ok: true });
    expect(factor.register(new Authenticator().register(asked), asked)).toMatchObject({
      error: expect.stringContaining("8 keys"),
    });
  });
});
