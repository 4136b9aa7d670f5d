/** Reads the shipped packs for tests, as the command line does for users. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { packLoader } from "../../../src/policy/canonical/extends.ts";
import type { LoadOptions } from "../../../src/policy/load.ts";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const folder = new URL("../../../packs/", import.meta.url);

/** Every label pack of the folder, by name. */
export const shippedPacks: readonly string[] = readdirSync(folder)
  .flatMap((file) => (file.endsWith(".yaml") ? [file.slice(0, -".yaml".length)] : []))
  .toSorted();

const texts = new Map(
  shippedPacks.map((name) => [name, readFileSync(new URL(`${name}.yaml`, folder), "utf8")] as const),
);

export const shippedOptions: LoadOptions = { loader: packLoader(texts), hash: sha256 };
