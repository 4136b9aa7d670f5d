/**
 * A copy of a workspace as its projection: for systems without overlays, and where the server's user may not write the
 * workspace. The copy is compared with a manifest taken when it was made, so a change of the workspace by other
 * processes is no difference, but a conflict at commit.
 */
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lchownSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { type Result, err, ok } from "../../core/result.ts";
import { type CopiedEntry, CopyScan } from "./copy-scan.ts";
import type { Judging } from "./difference.ts";
import { type EntryFacts, factsOf } from "./entry-facts.ts";
import { FolderWalk, HeldFolder } from "./held-folder.ts";
import { copyEntriesMax, entriesPerTurn, pathPartsMax } from "./workspace-limits.ts";
import { ScanMemory } from "./memory.ts";
import type { PreparedWorkspace, WorkspaceOrder } from "./workspace-order.ts";
import { ScannedWorkspace } from "./projection.ts";
import { forgetScratch, makeScratch } from "./scratch.ts";
import { reasonOf, short } from "./system-reason.ts";

/** Copies the workspace; more than the quota, or more entries than can be compared, is refused with a sentence. */
export async function prepareCopy(order: WorkspaceOrder, judging: Judging): Promise<Result<PreparedWorkspace, string>> {
  const { workspace } = judging;
  const { stateFolder } = order;
  const scratch = makeScratch(workspace, stateFolder);
  if (!scratch.ok) return scratch;
  const base = scratch.value;
  const release = (): Promise<void> => {
    rmSync(base, { recursive: true, force: true });
    forgetScratch(stateFolder, base);
    return Promise.resolve();
  };
  const copy = new WorkspaceCopy(order, workspace, join(base, "workspace"));
  const taken = await copy.take();
  if (!taken.ok) {
    await release();
    return taken;
  }
  // The server's user must reach its copy through this folder, but no other user may list the folder's content.
  if (order.owner !== undefined) chmodSync(base, 0o711);
  const layers = { source: HeldFolder.open(copy.target), lower: HeldFolder.open(workspace), taken: taken.value };
  const scan = new CopyScan(layers, judging, new ScanMemory(0), order.scope.quotaMb);
  const projection = new ScannedWorkspace({ scan, workspace, stateFolder, release });
  return ok({
    mounts: [],
    bind: { source: copy.target, target: workspace, write: true },
    open: () => Promise.resolve(ok(projection)),
    abandon: () => projection.close(),
  });
}

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const copyFlags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;

/**
 * A process that may write the workspace can swap a checked entry for a link, and the gateway may read more than the
 * server.
 */
function copyPlain(from: string, to: string): void {
  const source = openSync(from, readFlags);
  try {
    if (!fstatSync(source).isFile()) throw Object.assign(new Error("another file"), { code: "ELOOP" });
    copyFileSync(`/proc/self/fd/${source}`, to, copyFlags);
  } finally {
    closeSync(source);
  }
}

type Folder = { readonly path: string; readonly facts: EntryFacts };

class WorkspaceCopy {
  readonly target: string;
  readonly #workspace: string;
  readonly #order: WorkspaceOrder;
  readonly #root: HeldFolder;
  readonly #walk: FolderWalk;
  readonly #taken = new Map<string, CopiedEntry>();
  readonly #folders: Folder[] = [];
  #bytes = 0;

  constructor(order: WorkspaceOrder, workspace: string, target: string) {
    this.#order = order;
    this.#workspace = workspace;
    this.#root = HeldFolder.open(workspace);
    this.#walk = new FolderWalk(this.#root);
    this.target = target;
  }

  async take(): Promise<Result<ReadonlyMap<string, CopiedEntry>, string>> {
    try {
      mkdirSync(this.target, { mode: 0o700 });
      const waiting = [""];
      for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
        for (const name of this.#names(path)) {
          const refused = this.#entry(path === "" ? name : `${path}/${name}`, waiting);
          if (refused !== undefined) return err(refused);
          if (this.#taken.size % entriesPerTurn === 0) await new Promise<void>((resolve) => setImmediate(resolve));
        }
      }
      // A folder without write permission could not have been filled, so modes come last.
      for (const { path, facts } of this.#folders.reverse()) this.#finish(path, facts);
      this.#own(this.target);
      return ok(this.#taken);
    } catch (cause) {
      return err(
        `The workspace could not be copied (${reasonOf(cause)}), so ${short(this.#workspace)} has no projection: make it readable, or free some space.`,
      );
    } finally {
      this.#walk.close();
      this.#root.close();
    }
  }

  #names(path: string): readonly string[] {
    if (path === "") return readdirSync(this.#root.at(""));
    const { folder, name } = this.#walk.parentOf(path);
    const held = HeldFolder.open(folder.at(name));
    try {
      return readdirSync(held.at(""));
    } finally {
      held.close();
    }
  }

  #entry(path: string, waiting: string[]): string | undefined {
    if (path.split("/").length > pathPartsMax) return tooMany(this.#workspace);
    const { folder, name } = this.#walk.parentOf(path);
    const [from, to] = [folder.at(name), join(this.target, path)];
    const facts = factsOf(from);
    // Gone meanwhile, or of no use to a copy: sockets and pipes have no content.
    if (facts === undefined || facts.type === "special") return undefined;
    this.#bytes += facts.bytes;
    if (this.#bytes > this.#order.scope.quotaMb * 1024 * 1024) return tooLarge(this.#workspace, this.#order);
    if (this.#taken.size >= copyEntriesMax) return tooMany(this.#workspace);
    if (facts.type === "folder") {
      mkdirSync(to, { mode: 0o700 });
      this.#folders.push({ path, facts });
      waiting.push(path);
      // Its state is on record once everything is in it; the entry counts from now on.
      this.#taken.set(path, { mark: "", real: facts.stamp });
      return undefined;
    }
    if (facts.type === "link") symlinkSync(readlinkSync(from), to);
    else copyPlain(from, to);
    this.#finish(path, facts);
    return undefined;
  }

  #finish(path: string, facts: EntryFacts): void {
    const to = join(this.target, path);
    this.#own(to);
    if (facts.type !== "link") {
      chmodSync(to, facts.mode & 0o777);
      utimesSync(to, new Date(), new Date(facts.modifiedMs));
    }
    this.#taken.set(path, { mark: factsOf(to)?.stamp ?? "", real: facts.stamp });
  }

  #own(path: string): void {
    const { owner } = this.#order;
    if (owner !== undefined) lchownSync(path, owner.user, owner.group);
  }
}

function tooLarge(workspace: string, order: WorkspaceOrder): string {
  return `The workspace ${short(workspace)} is larger than the ${order.scope.quotaMb} MB that its projection may have: raise \`files.workspace.quotaMb\`, or start in a smaller folder.`;
}

function tooMany(workspace: string): string {
  return `The workspace ${short(workspace)} has more than ${copyEntriesMax} entries or is too deep to be copied: start in a smaller folder, or install bubblewrap, which needs no copy.`;
}
