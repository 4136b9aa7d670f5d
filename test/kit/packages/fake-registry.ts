/** A registry of npm on this machine, for honest packages and for hostile ones. */
import { hash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

export type TarEntry = {
  readonly path: string;
  readonly text?: string;
  /** Makes a symbolic link. */
  readonly to?: string;
  readonly mode?: number;
};

export type FakePackage = {
  readonly name: string;
  readonly version: string;
  readonly manifest?: object;
  readonly entries?: readonly TarEntry[];
  /** Instead of the digest of the file. */
  readonly integrity?: string;
};

const blockBytes = 512;

function tarHeader({ path, to, mode = 0o644 }: TarEntry, size: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, "0")}\0`;
  block.write(path, 0);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  block.write(" ".repeat(8), 148);
  block.write(to === undefined ? "0" : "2", 156);
  block.write(to ?? "", 157);
  block.write("ustar\x0000", 257, "latin1");
  let sum = 0;
  for (const byte of block) sum += byte;
  block.write(octal(sum, 7), 148);
  return block;
}

function tarball(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap((entry) => {
    const content = Buffer.from(entry.text ?? "");
    const padding = Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes);
    return [tarHeader(entry, content.length), content, padding];
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]));
}

export class FakeRegistry {
  readonly #server: Server;
  readonly #packages = new Map<string, FakePackage[]>();
  /** Paths that were asked for, with the credential of each. */
  readonly asked: { readonly path: string; readonly authorization: string | undefined }[] = [];
  /** Only requests with this credential are answered. */
  token: string | undefined;

  private constructor() {
    this.#server = createServer((request, response) => {
      const path = decodeURIComponent(request.url ?? "");
      const { authorization } = request.headers;
      this.asked.push({ path, authorization });
      if (this.token !== undefined && authorization !== `Bearer ${this.token}`) {
        response.writeHead(401, { "content-type": "application/json" });
        return response.end("{}");
      }
      const file = /^\/-\/(.+)-(\d[^/]*)\.tgz$/.exec(path);
      if (file !== null) return response.end(this.#file(file[1] ?? "", file[2] ?? ""));
      const document = this.#document(path.slice(1));
      response.writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" });
      return response.end(JSON.stringify(document ?? { error: "not_found" }));
    });
  }

  static async open(): Promise<FakeRegistry> {
    const registry = new FakeRegistry();
    await new Promise<void>((done) => registry.#server.listen(0, "127.0.0.1", done));
    return registry;
  }

  get url(): string {
    // A server on a TCP port always has an AddressInfo.
    return `http://localhost:${(this.#server.address() as AddressInfo).port}/`;
  }

  publish(...packages: readonly FakePackage[]): void {
    for (const one of packages) {
      const others = (this.#packages.get(one.name) ?? []).filter(({ version }) => version !== one.version);
      this.#packages.set(one.name, [...others, one]);
    }
  }

  unpublish(name: string): void {
    this.#packages.delete(name);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  #file(name: string, version: string): Buffer {
    const found = this.#packages.get(name)?.find((one) => one.version === version);
    if (found === undefined) return Buffer.alloc(0);
    const manifest = { name, version, ...found.manifest };
    const entries = [{ path: "package/package.json", text: JSON.stringify(manifest) }, ...(found.entries ?? [])];
    return tarball(entries);
  }

  #document(name: string): object | undefined {
    const versions = this.#packages.get(name);
    const newest = versions?.at(-1);
    if (versions === undefined || newest === undefined) return undefined;
    const all = versions.map((one) => {
      const bytes = this.#file(name, one.version);
      const integrity = one.integrity ?? `sha512-${hash("sha512", bytes, "base64")}`;
      const scripts = "scripts" in (one.manifest ?? {});
      const dist = { tarball: `${this.url}-/${name}-${one.version}.tgz`, integrity };
      const facts = {
        name,
        version: one.version,
        ...one.manifest,
        dist,
        ...(scripts ? { hasInstallScript: true } : {}),
      };
      return [one.version, facts] as const;
    });
    const time = Object.fromEntries(
      versions.map(({ version }, index) => [version, new Date(Date.UTC(2020 + index, 0)).toISOString()]),
    );
    return { name, "dist-tags": { latest: newest.version }, versions: Object.fromEntries(all), time };
  }
}
