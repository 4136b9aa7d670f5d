/** Reads the shipped packs for tests, as the command line does for users. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { shippedPacks } from "../../src/policy/default-policy.ts";
import { packLoader } from "../../src/policy/packs.ts";
import type { LoadOptions } from "../../src/policy/load.ts";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const texts = new Map(
  shippedPacks.map(
    (name) => [name, readFileSync(new URL(`../../packs/${name}.yaml`, import.meta.url), "utf8")] as const,
  ),
);

export const shippedOptions: LoadOptions = { loader: packLoader(texts), hash: sha256 };
