/** One gateway with the same server once for each way of isolating it, so that calls can be compared side by side. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemConnector } from "../../../adapters/connector.ts";
import { type JsonObject, isArray, member } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import type { ServerTarget } from "../../../gateway/ports/transport.ts";
import { gatewayClient, textOf } from "../../../app/client/mcp-client.ts";
import { type Composition, compose } from "../../../app/gateway/composition.ts";

/** `again` is the bare server a second time: its difference is noise. */
export type Variant = "bare" | "again" | "untraced" | "traced" | "srt";

export const variants: readonly Variant[] = ["bare", "again", "untraced", "traced", "srt"];

const isolated: Readonly<Record<Variant, JsonObject>> = {
  bare: { backend: "off" },
  again: { backend: "off" },
  srt: { backend: "off" },
  untraced: { trace: "none" },
  traced: { trace: "full" },
};

const labels: Readonly<Record<string, JsonObject>> = {
  echo: { effects: ["read.local"], args: { text: "content" } },
  read: { effects: ["read.local"], args: { path: "path" } },
  list: { effects: ["read.local"], args: { path: "path" } },
  write: { effects: ["write.local"], args: { path: "path", text: "content" } },
  write_many: { effects: ["write.local"], args: { path: "path", count: "content" } },
  churn: { effects: ["write.local"], args: { path: "path", count: "content" } },
};

const output = { confidentiality: "public", trust: "trusted" };

function policyOf(names: readonly Variant[]): JsonObject {
  const labelled = names.flatMap((name) =>
    Object.entries(labels).map(([tool, label]) => [`${name}.${tool}`, { ...label, output }] as const),
  );
  return {
    version: 1,
    extends: ["default"],
    servers: Object.fromEntries(names.map((name) => [name, { trust: "trusted" }])),
    labels: Object.fromEntries(labelled),
    isolation: { servers: Object.fromEntries(names.map((name) => [name, isolated[name]])) },
  };
}

/** A call that takes longer measures something else. */
const answerMsMax = 60_000;

export class Stage {
  readonly workspace: string;
  readonly names: readonly Variant[];
  readonly #folder: string;
  readonly #composition: Composition;
  readonly #clients = new Map<Variant, ReturnType<typeof gatewayClient>>();

  private constructor(folder: string, workspace: string, names: readonly Variant[], composition: Composition) {
    this.#folder = folder;
    this.workspace = workspace;
    this.names = names;
    this.#composition = composition;
  }

  /** `names` may leave out variants that cannot be started here. */
  static async open(names: readonly Variant[]): Promise<Result<Stage, string>> {
    const folder = mkdtempSync(join(tmpdir(), "sluicegate-bench-"));
    const workspace = join(folder, "workspace");
    const home = join(folder, "home");
    mkdirSync(workspace);
    mkdirSync(home, { mode: 0o700 });
    writeFileSync(join(workspace, "a.txt"), "a few words\n".repeat(100));
    const policy = join(folder, "policy.json");
    writeFileSync(policy, JSON.stringify(policyOf(names)));
    const composition = await compose({
      home,
      policies: [policy],
      connector: systemConnector({ home }),
      servers: names.map((name) => ({ name, target: () => targetOf(name, folder, workspace) })),
      tagOf: () => undefined,
      tell: () => undefined,
    });
    if (composition.ok) return ok(new Stage(folder, workspace, names, composition.value));
    rmSync(folder, { recursive: true, force: true });
    return composition;
  }

  /** Connects a client to a server; resolves once the first answer is there. */
  async connect(name: Variant): Promise<Result<void, string>> {
    const facts = { transport: "stdio", server: name, principal: "bench", workingDirectory: this.workspace } as const;
    const options = { clientInfo: { name: "bench", version: "1" }, waitMsMax: answerMsMax };
    const connected = gatewayClient(this.#composition.gateway, facts, options);
    this.#clients.set(name, connected);
    const hello = await connected.client.hello();
    const listed = await connected.client.ask("tools/list", {});
    if (listed.ok && isArray(member(listed.value.value, "tools"))) return ok(undefined);
    return err(`${name}: ${JSON.stringify(listed.ok ? listed.value.value : hello).slice(0, 160)}`);
  }

  disconnect(name: Variant): void {
    this.#clients.get(name)?.handler.closed("the measurement is over");
    this.#clients.delete(name);
  }

  /** How a server runs now. */
  tierOf(name: Variant): string {
    return this.#composition.gateway.state.projections.all(name)[0]?.[1].tier ?? "none";
  }

  /** One call; an answer that is an error ends the measurement, since it measures something else. */
  async call(name: Variant, tool: string, given: JsonObject): Promise<void> {
    const answer = await this.#clients.get(name)?.client.call(tool, given);
    if (answer?.ok === true && !answer.value.failed) return;
    const why = answer?.ok === true ? textOf(answer.value) || JSON.stringify(answer.value.value) : answer?.error;
    throw new MeasureError(`${name}.${tool}: ${why ?? "not connected"}`);
  }

  async close(): Promise<void> {
    for (const name of this.names) this.disconnect(name);
    await this.#composition.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A call of a measurement failed; its text is a sentence. */
export class MeasureError extends Error {}

function targetOf(name: Variant, folder: string, workspace: string): ServerTarget {
  const file = fileURLToPath(new URL(`./server${extname(fileURLToPath(import.meta.url))}`, import.meta.url));
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  const plain = { kind: "stdio", env, workingDirectory: workspace } as const;
  if (name !== "srt") return { ...plain, command: process.execPath, args: [file] };
  const settings = join(folder, "srt.json");
  const filesystem = { denyRead: ["~/.ssh"], allowRead: [], allowWrite: [workspace, "/tmp"], denyWrite: [] };
  writeFileSync(settings, JSON.stringify({ network: { allowedDomains: [], deniedDomains: [] }, filesystem }));
  return {
    ...plain,
    command: process.execPath,
    args: [srtFile() ?? "", "--settings", settings, process.execPath, file],
  };
}

/** The command of the other sandbox, where it is installed beside this package. */
export function srtFile(): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve("@anthropic-ai/sandbox-runtime");
    return join(dirname(entry), "cli.js");
  } catch {
    return undefined;
  }
}
