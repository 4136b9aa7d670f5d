/**
 * The answers of a server at its last start: its handshake and its lists, kept in the store under package or target,
 * revision and capabilities of the client (gateway.md 6). It is read while the same server starts slowly, and written
 * whenever the server says something else. Its content is not judged yet: it is mediated like any answer.
 */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { canonicalJson, digest } from "../../wire/canonical.ts";
import { metaKeys } from "../../wire/meta.ts";
import type { RequestMessage } from "../../wire/message.ts";
import { type ListMethod, isListMethod } from "./listed-tools.ts";
import { listPagesMax } from "../ports/limits.ts";
import type { ServerTarget } from "../ports/transport.ts";
import type { Store } from "../ports/store.ts";

/** Characters of JSON that are kept of one server; a larger one starts without a cache. */
export const startCacheCharactersMax = 4 * 1024 * 1024;

export type KnownStart = {
  /** Result of `initialize` or `server/discover`. */
  readonly handshake: JsonObject;
  readonly lists: Partial<Record<ListMethod, readonly KnownPage[]>>;
};

export type KnownPage = { readonly cursor: string | undefined; readonly result: JsonObject };

/** The identity of a server: another user, folder or command line is another server. */
export type StartIdentity = { readonly principal: string; readonly server: string; readonly target: ServerTarget };

export type CacheParts = {
  readonly store: Pick<Store, "manifest" | "putManifest">;
  readonly hash: (text: string) => string;
  readonly wallMs: () => number;
  readonly identity: StartIdentity;
};

export class StartCache {
  readonly #parts: CacheParts;
  #key: string | undefined;
  #revision = "";
  #capabilities: Json = {};
  #handshake: JsonObject | undefined;
  readonly #lists = new Map<ListMethod, readonly KnownPage[]>();
  readonly #draining = new Map<ListMethod, KnownPage[]>();
  #written = "";

  constructor(parts: CacheParts) {
    this.#parts = parts;
  }

  /** The known answers for a client that begins with this handshake; undefined at first contact. */
  async lookUp(request: RequestMessage): Promise<KnownStart | undefined> {
    const { identity, hash, store } = this.#parts;
    const meta = member(request.params, "_meta");
    const legacy = request.method === "initialize";
    const revision = legacy ? member(request.params, "protocolVersion") : member(meta, metaKeys.protocolVersion);
    this.#revision = typeof revision === "string" ? revision : "";
    this.#capabilities =
      (legacy ? member(request.params, "capabilities") : member(meta, metaKeys.clientCapabilities)) ?? {};
    this.#key = `start ${digest(
      {
        principal: identity.principal,
        server: identity.server,
        target: targetJson(identity.target),
        revision: this.#revision,
        capabilities: this.#capabilities,
        method: request.method,
      },
      hash,
    )}`;
    const row = await store.manifest(this.#key);
    if (!row.ok || row.value === undefined) return undefined;
    this.#written = row.value.digest;
    const known = readStart(row.value.manifest);
    // Lists that the server is not asked for this time stay known.
    for (const [method, pages] of Object.entries(known?.lists ?? {})) {
      if (isListMethod(method) && pages !== undefined) this.#lists.set(method, pages);
    }
    return known;
  }

  handshake(result: JsonObject): void {
    this.#handshake = result;
    this.#write();
  }

  /** One page of a list as the server gave it; a list is kept once all its pages are there. */
  page(method: ListMethod, cursor: string | undefined, result: JsonObject): void {
    const pages = cursor === undefined ? [] : this.#draining.get(method);
    if (pages === undefined || pages.length >= listPagesMax) return;
    const last = pages.at(-1);
    if (last !== undefined && stringMember(last.result, "nextCursor") !== cursor) return;
    pages.push({ cursor, result });
    this.#draining.set(method, pages);
    if (member(result, "nextCursor") !== undefined) return;
    this.#draining.delete(method);
    this.#lists.set(method, pages);
    this.#write();
  }

  #write(): void {
    if (this.#key === undefined || this.#handshake === undefined) return;
    const lists = Object.fromEntries([...this.#lists].map(([method, pages]) => [method, pages.map(pageJson)]));
    const manifest: JsonObject = { handshake: this.#handshake, lists };
    if (JSON.stringify(manifest).length > startCacheCharactersMax) return;
    const { store, hash, wallMs, identity } = this.#parts;
    const now = digest(manifest, hash);
    if (now === this.#written) return;
    this.#written = now;
    // A cache that cannot be written is one that the next start does without.
    void store.putManifest({
      key: this.#key,
      server: identity.server,
      revision: this.#revision,
      digest: now,
      capabilities: this.#capabilities,
      manifest,
      seenWallMs: wallMs(),
    });
  }
}

/** Two handshakes that promise a client the same: versions and capabilities agree, whatever else differs. */
export function samePromise(left: JsonObject, right: JsonObject): boolean {
  const promise = (result: JsonObject): string =>
    canonicalJson([
      member(result, "protocolVersion") ?? null,
      member(result, "capabilities") ?? null,
      member(member(result, "serverInfo"), "version") ?? null,
    ]);
  return promise(left) === promise(right);
}

/** The command line names package and version where it starts one; a folder of its own may list other things. */
function targetJson(target: ServerTarget): JsonObject {
  return target.kind === "stdio"
    ? { command: target.command, args: [...target.args], workingDirectory: target.workingDirectory }
    : { url: target.url };
}

function pageJson({ cursor, result }: KnownPage): JsonObject {
  return cursor === undefined ? { result } : { cursor, result };
}

/** Reads back what `#write` wrote; a row of another version gives undefined. */
function readStart(manifest: JsonObject): KnownStart | undefined {
  const handshake = member(manifest, "handshake");
  const lists = member(manifest, "lists");
  if (!isObject(handshake) || !isObject(lists)) return undefined;
  const known: Partial<Record<ListMethod, readonly KnownPage[]>> = {};
  for (const [method, pages] of Object.entries(lists)) {
    if (!isListMethod(method) || !isArray(pages)) continue;
    known[method] = pages.flatMap((page) => {
      const result = member(page, "result");
      return isObject(result) ? [{ cursor: stringMember(page, "cursor"), result }] : [];
    });
  }
  return { handshake, lists: known };
}
