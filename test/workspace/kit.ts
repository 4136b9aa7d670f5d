/** Workspaces in projection for tests: the same edits, in an overlay or in a copy, as the own user or as nobody. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { WorkspaceProjection } from "../../src/adapters/projection/parts.ts";
import type { WorkspaceOrder } from "../../src/adapters/workspace/workspace-order.ts";
import { prepareWorkspace } from "../../src/adapters/workspace/prepare.ts";
import type { Result } from "../../src/core/result.ts";
import { type Edit, applyEdits } from "./edits.ts";

export type Kind = { readonly name: string; readonly how: "overlay" | "copy"; readonly user?: number };

const nobody = 65_534;
export const isRoot = process.getuid?.() === 0;

/** Every implementation that this machine can run; the reason is printed for what it cannot. */
export function kinds(): readonly Kind[] {
  const overlay = canOverlay();
  if (!overlay) console.log("skips overlays: no user namespaces with mounts here (unshare -Urm)");
  const users = isRoot ? [undefined, nobody] : [undefined];
  return users.flatMap((user) => {
    const who = user === undefined ? "" : ", server as nobody";
    const set = user === undefined ? {} : { user };
    const copy = { name: `copy${who}`, how: "copy", ...set } as const;
    return overlay ? [{ name: `overlay${who}`, how: "overlay", ...set } as const, copy] : [copy];
  });
}

function canOverlay(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "overlay-probe-"));
  const script =
    'cd "$1" && mount -t tmpfs t . && cd "$1" && mkdir l u w && mount -t overlay o -o userxattr,lowerdir=l,upperdir=u,workdir=w l';
  const tried = spawnSync("unshare", ["-Urm", "sh", "-c", script, "sh", folder], { timeout: 10_000 });
  rmSync(folder, { recursive: true });
  return tried.status === 0;
}

export type Bench = {
  readonly folder: string;
  readonly state: string;
  readonly projection: WorkspaceProjection;
  /** What the server does. */
  edit(...edits: readonly Edit[]): Promise<void>;
  /** Ends the server and its namespaces. */
  end(): Promise<void>;
};

export class Workbench {
  readonly #top = mkdtempSync(join(tmpdir(), "workspace-test-"));
  readonly #running: { readonly child: ChildProcess; readonly projection: WorkspaceProjection }[] = [];
  #number = 0;

  /** A workspace with some entries, and a projection of it. */
  async start(kind: Kind, before: readonly Edit[] = [], more: Partial<WorkspaceOrder> = {}): Promise<Bench> {
    this.#number += 1;
    const folder = join(this.#top, `${this.#number}`, "workspace");
    const state = join(this.#top, `${this.#number}`, "state");
    mkdirSync(folder, { recursive: true });
    mkdirSync(state, { mode: 0o700 });
    chmodSync(this.#top, 0o755);
    applyEdits(folder, before);
    const { user } = kind;
    // In an overlay a server may change only what its user may; a copy is made its own.
    if (user !== undefined && kind.how === "overlay") {
      chownSync(folder, user, user);
      spawnSync("chown", ["-hR", `${user}:${user}`, folder]);
    }
    const owner = user === undefined ? {} : { owner: { user, group: user } };
    const scope = { mode: "overlay", commit: "allow", per: "call", quotaMb: 16 } as const;
    const prepared = must(
      await prepareWorkspace({ folder, scope, stateFolder: state, how: kind.how, ...owner, ...more }),
    );
    const root = kind.how === "overlay" ? prepared.bind.target : prepared.bind.source;
    const drop = user === undefined ? [] : ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--"];
    const space = kind.how === "overlay" ? ["unshare", "-Urm"] : [];
    const holder = join(import.meta.dirname, "holder.ts");
    const node = [process.execPath, holder, JSON.stringify(prepared.mounts), root];
    const child = spawn("env", [...drop, ...space, ...node], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    if ((await lines.next()).value !== "ready") throw new Error("the holder did not start");
    const projection = must(await prepared.open(child.pid ?? 0));
    this.#running.push({ child, projection });
    const edit = async (...edits: readonly Edit[]): Promise<void> => {
      child.stdin.write(`${JSON.stringify(edits)}\n`);
      await lines.next();
    };
    return { folder, state, projection, edit, end: () => ended(child) };
  }

  /** Lets go of what runs; the next test starts anew. */
  async clear(): Promise<void> {
    for (const { child, projection } of this.#running.splice(0)) {
      await projection.close();
      await ended(child);
    }
  }

  async close(): Promise<void> {
    await this.clear();
    rmSync(this.#top, { recursive: true, force: true });
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

export function must<T>(result: Result<T, string>): T {
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

/** Longer than one tick of the clock that change times come from. */
export function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 25));
}
