// `auth: same-origin`: what a client authenticates with goes to the server behind, and is who the client is. One user
// never acts as another, and no token of ours leaves.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { request } from "node:http";
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, test } from "vitest";
import { type Json, stringMember } from "../../src/core/json.ts";
import { control } from "../../src/app/gateway/control.ts";
import { challenge, metadata, PassingGateway, whoamiCall } from "./passing-upstream.ts";

const allowAll = readFileSync(fileURLToPath(new URL("../kit/server/allow-all.yaml", import.meta.url)), "utf8");
const asking =
  "version: 1\nextends: []\nrules:\n  - {id: ask, tier: confirm, when: {tool: '*'}, why: A person decides.}\n";
const [alice, bob] = ["Bearer alice-secret", "Bearer bob-secret"];

let gateway: PassingGateway;
afterEach(() => gateway.stop());

const member = (body: string, name: string): string => stringMember(JSON.parse(body) as Json, name) ?? "";
const principals = (): readonly string[] => [...gateway.composition.gateway.runs.all()].map((live) => live.principal);

describe("two users", () => {
  test.each(["streamable", "legacy", "sse"] as const)(
    "act as themselves at a %s server, modern clients",
    async (flavour) => {
      gateway = await new PassingGateway(flavour).start("same-origin", allowAll);
      expect((await gateway.whoami(alice)).body).toContain(`you are ${alice}`);
      expect((await gateway.whoami(bob)).body).toContain(`you are ${bob}`);
      expect((await gateway.whoami(undefined)).body).toContain("you are nobody");
      expect((await gateway.whoami(alice)).body).toContain(`you are ${alice}`);
      expect(new Set(principals()).size).toBe(3);
      // Known by a digest: the secret is in no key that the log or a report would show.
      expect(JSON.stringify(principals())).not.toContain("secret");
    },
  );

  test.each(["streamable", "legacy", "sse"] as const)("have sessions of their own at a %s server", async (flavour) => {
    gateway = await new PassingGateway(flavour).start("same-origin", allowAll);
    for (const user of [alice, bob]) {
      const { session } = await gateway.session(user);
      expect((await gateway.within(session ?? "", user, whoamiCall)).body).toContain(`you are ${user}`);
      for (const other of [alice, bob, undefined]) {
        if (other === user) continue;
        expect((await gateway.within(session ?? "", other, whoamiCall)).status).toBe(404);
        const named = { "mcp-session-id": session ?? "", ...(other === undefined ? {} : { authorization: other }) };
        const stream = { ...named, accept: "text/event-stream" };
        expect((await gateway.ask("GET", "/mcp", stream)).status).toBe(404);
        expect((await gateway.ask("DELETE", "/mcp", named)).status).toBe(404);
      }
    }
    expect(new Set(principals()).size).toBe(2);
  });

  test("need approvals of their own, and whoever approves may be either of them", async () => {
    const both = `${asking}approvals: {by: other}\n`;
    gateway = await new PassingGateway("streamable").start("same-origin", both);
    expect((await gateway.whoami(alice)).body).toContain("sluicegate approve");
    const [waiting] = await gateway.composition.log.store
      .approvals(Date.now(), 9)
      .then((rows) => (rows.ok ? rows.value : []));
    const store = gateway.composition.log.store;
    const own = await control(
      gateway.composition,
      { kind: "approve", id: waiting?.id ?? "", choice: "once" },
      undefined as never,
    );
    expect(own).toMatchObject({ ok: false, error: expect.stringContaining("owner of a run") });
    const id = waiting?.id ?? "";
    await store.decideApproval({ id, verdict: "approved", by: "somebody", role: "operator", wallMs: Date.now() });
    expect((await gateway.whoami(bob)).body).toContain("sluicegate approve");
    expect((await gateway.whoami(alice)).body).toContain(`you are ${alice}`);
  });
});

describe("a token of ours", () => {
  test("goes to no server, wherever it stands", async () => {
    gateway = await new PassingGateway("streamable").start("same-origin", allowAll);
    const token = member((await gateway.runs()).body, "token");
    expect((await gateway.whoami(`Bearer ${token}`)).body).toContain("you are nobody");
    const basic = Buffer.from(`user:${token}`).toString("base64");
    const bad = [`Token ${token}`, `Bearer x, Bearer ${token}`, `Basic ${basic}`, `Bearer ${gateway.control.token}`];
    for (const header of bad) {
      const answer = await gateway.whoami(header);
      expect([header, answer.status]).toEqual([header, 401]);
      expect(answer.body).not.toContain(token);
    }
    const session = await gateway.session(`Bearer ${token}`);
    expect((await gateway.within(session.session ?? "", `Bearer ${token}`, whoamiCall)).body).toContain(
      "you are nobody",
    );
    expect(new Set(gateway.upstream.credentials)).toEqual(new Set(["nobody"]));
    const seen = JSON.stringify(gateway.upstream.server.asked);
    for (const ours of [token, gateway.control.token, basic]) expect(seen).not.toContain(ours);
  });

  test("is in no message that a server gets, whatever the client puts it on", async () => {
    gateway = await new PassingGateway("legacy").start("same-origin", allowAll);
    const token = member((await gateway.runs()).body, "token");
    const _meta = { "io.github.sluicegate/run": token, baggage: "b=1", keep: "it" };
    const { session } = await gateway.session(undefined);
    const say = (method: string, params: { readonly [name: string]: Json } = {}, more = {}) =>
      gateway.within(session ?? "", undefined, { jsonrpc: "2.0", method, params: { ...params, _meta }, ...more });
    for (const name of ["initialized", "roots/list_changed", "other"]) await say(`notifications/${name}`);
    await say("notifications/progress", { progressToken: 1, progress: 1 });
    for (const method of ["tools/list", "ping", "tasks/list"]) await say(method, {}, { id: method });
    await say("tools/call", { name: "whoami", arguments: {} }, { id: "call" });
    const seen = (): string => gateway.upstream.server.asked.map(({ body }) => body).join("\n");
    await expect.poll(seen).toContain("notifications/other");
    expect(seen()).toContain('"keep":"it"');
    expect(seen()).not.toContain("io.github.sluicegate");
    expect(seen()).not.toContain("baggage");
  });

  test("and credentials go together in a run URL, for whom the run was made only", async () => {
    gateway = await new PassingGateway("streamable").start("same-origin", allowAll);
    const run = async (body?: Json, headers?: Record<string, string>): Promise<string> =>
      `/r/${member((await gateway.runs(body, headers)).body, "token")}/mcp`;
    const [hers, anybodys] = [await run(undefined, { authorization: alice }), await run()];
    expect((await gateway.whoami(alice, hers)).body).toContain(`you are ${alice}`);
    for (const [user, url] of [
      [bob, hers],
      [undefined, hers],
      [alice, anybodys],
    ] as const) {
      const refused = await gateway.whoami(user, url);
      expect([refused.status, refused.body]).toEqual([403, expect.stringContaining("other credentials")]);
    }
    expect(JSON.stringify(gateway.upstream.server.asked)).not.toContain("/r/");
  });
});

describe("signing in", () => {
  test.each(["streamable", "legacy", "sse"] as const)("the 401 of a %s server is the client's", async (flavour) => {
    gateway = await new PassingGateway(flavour).start("same-origin", allowAll);
    const refused = { status: 401, challenge, body: expect.stringContaining("refused the client's credentials (401)") };
    gateway.upstream.expired.add("nobody");
    // At the first contact, in either era, and again for whoever repeats it.
    for (const answer of [await gateway.whoami(undefined), await gateway.modern(undefined, "server/discover")]) {
      expect(answer).toMatchObject(refused);
    }
    expect(await gateway.session(undefined)).toMatchObject({ ...refused, session: null });
    expect(await gateway.session(undefined)).toMatchObject(refused);
    const { session } = await gateway.session(alice);
    expect((await gateway.within(session ?? "", alice, whoamiCall)).body).toContain(`you are ${alice}`);
    expect((await gateway.whoami(alice)).body).toContain(`you are ${alice}`);
    // And later, when a token has expired; others stay signed in.
    gateway.upstream.expired.add(alice);
    expect(await gateway.within(session ?? "", alice, whoamiCall)).toMatchObject(refused);
    const list = { jsonrpc: "2.0", id: 8, method: "tools/list" };
    expect(await gateway.within(session ?? "", alice, list)).toMatchObject(refused);
    expect(await gateway.whoami(alice)).toMatchObject(refused);
    expect((await gateway.whoami(bob)).body).toContain(`you are ${bob}`);
    // Signed in again: the client's old session is not known to its new credentials, so it opens another.
    const renewed = `${alice}-renewed`;
    expect((await gateway.within(session ?? "", renewed, whoamiCall)).status).toBe(404);
    expect((await gateway.whoami(renewed)).body).toContain(`you are ${renewed}`);
  });

  test.each(["legacy", "streamable"] as const)(
    "an official client signs in through the gateway, %s",
    async (flavour) => {
      gateway = await new PassingGateway(flavour).start("same-origin", allowAll);
      const { upstream } = gateway;
      upstream.expired.add("nobody");
      // As behind a proxy on the server's own origin: what the server says of itself is true of the gateway's address.
      const origin = gateway.url;
      upstream.metadata = { resource: `${origin}/mcp`, authorization_servers: [upstream.server.url] };
      upstream.challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      const authProvider = new ClientCredentialsProvider({
        clientId: "c",
        clientSecret: "s",
        expectedIssuer: upstream.server.url,
      });
      const client = new Client({ name: "t", version: "1" }, { versionNegotiation: { mode: "auto" } });
      await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { authProvider }));
      const answer = await client.callTool({ name: "whoami", arguments: {} });
      expect(answer.content).toEqual([{ type: "text", text: "you are Bearer issued" }]);
      await client.close();
    },
  );

  test("the 401 comes before any stream, also for a client that takes nothing else", async () => {
    gateway = await new PassingGateway("legacy").start("same-origin", allowAll);
    const { session } = await gateway.session(alice);
    gateway.upstream.expired.add(alice);
    const headers = {
      "content-type": "application/json",
      accept: "text/event-stream",
      authorization: alice,
      "mcp-session-id": session ?? "",
    };
    expect(await gateway.ask("POST", "/mcp", headers, whoamiCall)).toMatchObject({ status: 401, challenge });
  });

  test("no 401 is passed on where the credentials are the operator's", async () => {
    gateway = await new PassingGateway("streamable").start("static", allowAll);
    gateway.upstream.expired.add("nobody");
    const answer = await gateway.whoami(undefined);
    expect([answer.status, answer.challenge]).toEqual([200, null]);
    expect(answer.body).toContain("refused the gateway's credentials (401)");
    expect((await gateway.ask("GET", "/.well-known/oauth-protected-resource", {})).status).toBe(404);
  });

  test("metadata is the server's own, and what a client asks for it goes no further", async () => {
    gateway = await new PassingGateway("streamable").start("same-origin", allowAll);
    const root = "/.well-known/oauth-protected-resource";
    const token = member((await gateway.runs()).body, "token");
    for (const suffix of ["", "/v1/mcp", "/mcp", "/s/users/mcp", `/r/${token}/mcp`]) {
      const answer = await gateway.ask("GET", `${root}${suffix}?x=${token}`, { authorization: alice });
      expect([suffix, answer.status, JSON.parse(answer.body)]).toEqual([suffix, 200, metadata]);
    }
    for (const suffix of ["/other", "/s/others/mcp", "/v1/mcp/more", "/"]) {
      expect((await gateway.ask("GET", `${root}${suffix}`, {})).status).toBe(404);
    }
    expect(new Set(gateway.upstream.server.asked.map(({ path }) => path))).toEqual(new Set([root, `${root}/v1/mcp`]));
    expect(new Set(gateway.upstream.credentials)).toEqual(new Set(["nobody"]));
  });
});

describe("hosts", () => {
  const status = async (host: string): Promise<number> => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    // `fetch` sets Host itself.
    request(`${gateway.url}/healthz`, { headers: { host } }, (answer) => resolve(answer.resume().statusCode ?? 0))
      .on("error", reject)
      .end();
    return promise;
  };

  test("the name of a reverse proxy is served where the configuration has it, and no other", async () => {
    gateway = await new PassingGateway("streamable").start("same-origin", allowAll, { hosts: ["API.example"] });
    expect(await status("api.example")).toBe(200);
    expect(await status("api.example:443")).toBe(200);
    expect(await status("evil.example")).toBe(403);
    await gateway.stop();
    gateway = await new PassingGateway("streamable").start("same-origin", allowAll);
    expect(await status("api.example")).toBe(403);
  });
});

test("static: a bearer that is no token of ours is refused, and none is passed on", async () => {
  gateway = await new PassingGateway("streamable").start("static", allowAll);
  expect((await gateway.whoami(alice)).status).toBe(401);
  expect((await gateway.whoami(undefined)).body).toContain("you are nobody");
  const token = member((await gateway.runs()).body, "token");
  expect((await gateway.whoami(`Bearer ${token}`)).body).toContain("you are nobody");
  expect(new Set(gateway.upstream.credentials)).toEqual(new Set(["nobody"]));
});
