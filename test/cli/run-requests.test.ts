// Trusted acts on runs over HTTP: `POST /runs {principal, parent, instruction, ttl}` and `DELETE /runs/ID` (gateway.md 4).
import { afterEach, expect, test } from "vitest";
import { type Json, member, stringMember } from "../../src/core/json.ts";
import { control } from "../../src/app/gateway/control.ts";
import { controlHeader } from "../../src/app/gateway/control-token.ts";
import { PassingGateway, whoamiCall } from "./passing-upstream.ts";

const allow = `version: 1
extends: []
rules:
  - { id: all, tier: allow, when: { tool: "*" }, why: "it is about runs" }
flow: { mode: none }
limits: { runIdle: 2h }
`;

let gateway: PassingGateway;
afterEach(() => gateway.stop());

const parsed = (body: string): Json => JSON.parse(body) as Json;
const text = (body: string, name: string): string => stringMember(parsed(body), name) ?? "";
const live = (run: string) => gateway.composition.gateway.runs.find(run);

test("a run belongs to the principal that was named, also where clients bring credentials", async () => {
  gateway = await new PassingGateway("streamable").start("same-origin", allow);
  const made = await gateway.runs({ principal: "ann@corp.example", instruction: "Tidy up." });
  expect(made.status).toBe(201);
  const run = text(made.body, "run");
  expect(text(made.body, "url")).toBe(`${gateway.url}/r/${text(made.body, "token")}`);
  expect(live(run)).toMatchObject({ principal: "ann@corp.example" });
  const path = `/r/${text(made.body, "token")}/mcp`;
  // A credential that was renewed goes on with the run, and each acts as itself at the server.
  for (const user of ["Bearer first", "Bearer second"]) {
    expect((await gateway.whoami(user, path)).body).toContain(`you are ${user}`);
  }
  expect([...gateway.composition.gateway.runs.all()].map(({ key }) => key)).toEqual([run]);
  // But a session speaks to the server as whoever opened it, so it is nobody else's.
  const { session } = await gateway.session("Bearer first", path);
  expect((await gateway.within(session ?? "", "Bearer second", whoamiCall, path)).status).toBe(404);
});

test("without a name it is of whoever asks", async () => {
  gateway = await new PassingGateway("streamable").start("same-origin", allow);
  const mine = text((await gateway.runs()).body, "run");
  const hers = text((await gateway.runs(undefined, { authorization: "Bearer ann" })).body, "run");
  expect(live(mine)?.principal).toMatch(/^os:\d+$/);
  expect(live(hers)?.principal).toMatch(/^os:\d+\/credentials:[0-9a-f]{32}$/);
});

test("`ttl` ends a run that is idle, within what the policy allows, and is told and kept", async () => {
  gateway = await new PassingGateway("streamable").start("static", allow);
  const { gateway: inner, log } = gateway.composition;
  const run = text((await gateway.runs({ ttl: 60 })).body, "run");
  const other = text((await gateway.runs()).body, "run");
  const report = await control(gateway.composition, { kind: "runs" }, undefined as never);
  const shown = member(report.ok ? report.value : null, "runs");
  expect(shown).toMatchObject([
    { run, idleMsMax: 60_000 },
    { run: other, idleMsMax: 7_200_000 },
  ]);
  expect(await log.store.run(run)).toMatchObject({ value: { resume: { idleMs: 60_000 } } });
  for (const key of [run, other]) {
    const found = live(key);
    if (found !== undefined) found.lastAt -= 61_000;
  }
  await inner.expire();
  expect([live(run), live(other)?.key]).toEqual([undefined, other]);
  const long = await gateway.runs({ ttl: 7_201 });
  expect([long.status, parsed(long.body)]).toMatchObject([400, { code: "SG-RUNS-REFUSED" }]);
  expect(text(long.body, "error")).toContain("at most 7200 seconds");
});

test("a request that is not understood starts no run, and says where and what to do", async () => {
  gateway = await new PassingGateway("streamable").start("static", allow);
  const bad: readonly (readonly [Json | string, string, string])[] = [
    [{ principle: "ann" }, "SG-RUNS-KEY", "principle"],
    [{ principal: "os:4711" }, "SG-RUNS-PRINCIPAL", "principal"],
    [{ ttl: 0 }, "SG-RUNS-TTL", "ttl"],
    ["[", "SG-RUNS-BODY", "body"],
    [{ parent: "run-none" }, "SG-RUNS-REFUSED", "body"],
  ];
  for (const [body, code, place] of bad) {
    const refused = await gateway.runs(body);
    expect([refused.status, parsed(refused.body)]).toMatchObject([400, { code, place }]);
  }
  expect([...gateway.composition.gateway.runs.all()]).toEqual([]);
});

test("DELETE ends a run; its token is worth nothing then, and it takes the control token", async () => {
  gateway = await new PassingGateway("streamable").start("static", allow);
  const made = await gateway.runs();
  const [run, path] = [text(made.body, "run"), `/r/${text(made.body, "token")}/mcp`];
  expect((await gateway.whoami(undefined, path)).body).toContain("you are nobody");
  const remove = (headers: Record<string, string>, id = run) => gateway.ask("DELETE", `/runs/${id}`, headers);
  expect((await remove({})).status).toBe(403);
  expect((await remove({ [controlHeader]: "0".repeat(48) })).status).toBe(403);
  const ours = { [controlHeader]: gateway.control.token };
  const ended = await remove(ours);
  expect([ended.status, parsed(ended.body)]).toEqual([200, { ended: [run], owed: [] }]);
  expect((await gateway.whoami(undefined, path)).body).toContain("has ended");
  for (const id of [run, "run-none", "", "%zz"]) {
    const unknown = await remove(ours, id);
    expect([unknown.status, parsed(unknown.body)]).toMatchObject([404, { code: "SG-RUNS-UNKNOWN", place: "path" }]);
  }
  // Any open run can be named, also one whose key has more than letters.
  await gateway.whoami(undefined);
  const [other] = [...gateway.composition.gateway.runs.all()];
  expect((await remove(ours, encodeURIComponent(other?.key ?? ""))).status).toBe(200);
  expect([...gateway.composition.gateway.runs.all()]).toEqual([]);
});
