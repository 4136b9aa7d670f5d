import { join, resolve } from "node:path";
import { firstLine, startChild } from "../client/child.ts";

export const repositoryFolder = resolve(import.meta.dirname, "../../..");
export const fixtureMain = join(import.meta.dirname, "main.ts");
export const allowAllPolicy = join(import.meta.dirname, "allow-all.yaml");

export type FixtureOptions = { readonly era?: "legacy" | "modern" | "both"; readonly pageSize?: number };

function flags(options: FixtureOptions): readonly string[] {
  const paging = options.pageSize === undefined ? [] : ["--page-size", String(options.pageSize)];
  return ["--era", options.era ?? "both", ...paging];
}

/** Command line that puts a raw line relay before a stdio server: shows what a harness sees without any gateway. */
export function relayed(command: readonly string[]): readonly string[] {
  return [process.execPath, join(repositoryFolder, "bench", "relay.ts"), ...command];
}

/** Starts a raw relay before an HTTP server. */
export async function startHttpRelay(upstream: string) {
  const child = startChild([process.execPath, join(repositoryFolder, "bench", "http-relay.ts"), upstream]);
  // The relay's own first line.
  const { url } = JSON.parse(await firstLine(child)) as { readonly url: string };
  return { url, child, stop: child.stop };
}

/** Command line of the fixture over stdio. */
export function stdioFixture(options: FixtureOptions = {}): readonly string[] {
  return [process.execPath, fixtureMain, "--stdio", ...flags(options)];
}

/** Starts the fixture over HTTP on a free port. */
export async function startHttpFixture(options: FixtureOptions = {}) {
  const child = startChild([process.execPath, fixtureMain, "--http", "0", ...flags(options)]);
  // The fixture's own first line.
  const { url } = JSON.parse(await firstLine(child)) as { readonly url: string };
  return { url, stop: child.stop };
}
