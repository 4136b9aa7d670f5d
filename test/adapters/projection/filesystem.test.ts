import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { systemConnector } from "../../../src/adapters/connector.ts";
import { probeSupport } from "../../../src/adapters/projection/launch/support.ts";
import { tierOf } from "../../../src/adapters/projection/launch/tiers.ts";
import { stringMember, type Json } from "../../../src/core/json.ts";
import type { EffectTrace } from "../../../src/core/isolation/effect-trace.ts";
import type { IsolationOrder } from "../../../src/core/isolation/scope.ts";
import type { UpstreamConnection } from "../../../src/gateway/ports/transport.ts";
import type { Projection } from "../../../src/gateway/ports/projection.ts";
import { isRevision } from "../../../src/wire/revision.ts";
import { initialized, initializeRequest, Recorder, request } from "../../kit/server/test-server.ts";
import { orderWith, scopeText } from "../../kit/isolation/fake-parts.ts";

// The whole way through a connection, with the real parts: server-filesystem in its projection.

const main = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/dist/index.js");
const limits = { memoryMb: 512, processes: 64, openFiles: 1_024, cpuSeconds: 60, fileMb: 16, callTimeoutMs: 60_000 };
const order: IsolationOrder = { ...orderWith({ limits }), require: "A" };
const { tier } = tierOf(await probeSupport(), order.scope);
if (tier !== "A") console.log(`skipped: this machine offers tier ${tier}, not A`);

let [home, workspace]: [string, string] = ["", ""];
let upstream: UpstreamConnection | undefined;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "sluicegate-home-"));
  workspace = mkdtempSync(join(tmpdir(), "sluicegate-work-"));
  writeFileSync(join(workspace, "note.txt"), "as it was");
});
afterEach(() => upstream?.close());
afterAll(() => {
  for (const folder of [home, workspace]) rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(tier !== "A")("a server in its projection", () => {
  test(
    "its calls are traced, its writes wait for the verdict, and nothing is left of it",
    { timeout: 60_000 },
    async () => {
      const said: string[] = [];
      const connector = systemConnector({ home, diagnostic: (_target, line) => said.push(line) });
      const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };
      const target = {
        kind: "stdio",
        command: process.execPath,
        args: [main, workspace],
        env,
        workingDirectory: workspace,
      } as const;
      const seen = new Recorder();
      upstream = connector.connect(target, seen, order);
      upstream.send(initializeRequest());
      const first = await seen.answer("init");
      const revision = first.kind === "response" ? stringMember(first.result, "protocolVersion") : undefined;
      if (!isRevision(revision)) throw new Error(`no revision: ${seen.reasons.join()} ${said.join("\n")}`);
      upstream.negotiated(revision);
      upstream.send(initialized);
      upstream.send(request(1, "tools/list"));
      await seen.answer(1);
      const { projection } = upstream;
      if (projection === undefined) throw new Error("no projection");
      expect([projection.tier, projection.notes]).toEqual(["A", expect.any(Array)]);
      const note = join(workspace, "note.txt");

      const call = async (id: number, name: string, args: Json): Promise<EffectTrace> => {
        expect(await projection.begin(`${id}`, name, scopeText())).toEqual({ ok: true, value: undefined });
        upstream?.send(request(id, "tools/call", { name, arguments: args }));
        const answer = await seen.answer(id);
        projection.end(`${id}`);
        expect(answer.kind === "response" && JSON.stringify(answer.result)).not.toContain('"isError":true');
        return projection.trace(`${id}`);
      };

      const read = await call(2, "read_text_file", { path: note });
      expect(read).toMatchObject({ tier: "A", complete: true, changes: [] });
      expect(read.events).toContainEqual(expect.objectContaining({ action: "file-read", path: note, phase: "call" }));
      await projection.conclude("2", "commit");

      const list = await call(3, "list_directory", { path: workspace });
      expect(list.changes).toEqual([]);
      await projection.conclude("3", "commit");

      const written = await call(4, "write_file", { path: note, content: "as it is" });
      expect(written.changes).toMatchObject([{ path: "note.txt", kind: "modified" }]);
      expect(readFileSync(note, "utf8")).toBe("as it was");
      expect(await projection.conclude("4", "commit")).toEqual({
        ok: true,
        value: { committed: ["note.txt"], held: [] },
      });
      expect(readFileSync(note, "utf8")).toBe("as it is");

      await rejected(projection, call, note, seen);
      expect(readFileSync(note, "utf8")).toBe("as it is");
      const start = await projection.trace(undefined);
      expect(start.events.some(({ phase }) => phase === "startup")).toBe(true);
    },
  );
});

/** A rejected write never was, and its server ends. */
async function rejected(
  projection: Projection,
  call: (id: number, name: string, args: Json) => Promise<EffectTrace>,
  note: string,
  seen: Recorder,
): Promise<void> {
  expect((await call(5, "write_file", { path: note, content: "planted" })).changes).toHaveLength(1);
  expect(await projection.conclude("5", "discard")).toMatchObject({ ok: true });
  for (let round = 0; round < 400 && seen.reasons.length === 0; round += 1)
    await new Promise((done) => setTimeout(done, 5));
  expect(seen.reasons).toEqual([expect.stringContaining("rejected")]);
}
