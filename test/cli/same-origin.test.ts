// `auth: same-origin`: what a client authenticates with goes to the server behind, and is who the client is. One user
// never acts as another, and no token of ours leaves.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import type { Json } from "../../src/core/json.ts";
import { stringMember } from "../../src/core/json.ts";
import { control } from "../../src/cli/control.ts";
import { PassingGateway, whoamiCall } from "./passing-upstream.ts";

const allowAll = readFileSync(fileURLToPath(new URL("../fixture/allow-all.yaml", import.meta.url)), "utf8");
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

test("static: a bearer that is no token of ours is refused, and none is passed on", async () => {
  gateway = await new PassingGateway("streamable").start("static", allowAll);
  expect((await gateway.whoami(alice)).status).toBe(401);
  expect((await gateway.whoami(undefined)).body).toContain("you are nobody");
  const token = member((await gateway.runs()).body, "token");
  expect((await gateway.whoami(`Bearer ${token}`)).body).toContain("you are nobody");
  expect(new Set(gateway.upstream.credentials)).toEqual(new Set(["nobody"]));
});
