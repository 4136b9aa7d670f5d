// The layers of system.md 3.1, derived again from the imports of every source file.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Import, files, imports, root, source, targetOf } from "./imports.ts";

/** Layers without input and output, and their parts that have rules of their own. */
const inner = ["core", "wire", "policy", "proof", "proof/check", "mechanisms", "mechanisms/regulate"];

/** What each layer may import besides itself. `mechanisms/*` are told apart, since they must not know each other. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  core: [],
  wire: ["core"],
  policy: ["core"],
  proof: ["core", "policy"],
  "proof/check": [],
  mechanisms: ["core", "wire/canonical", "wire/digest", "policy"],
  "mechanisms/regulate": ["core", "wire/canonical", "wire/digest", "policy", "proof"],
  gateway: ["core", "wire"],
  oracles: ["core", "wire", "policy", "proof", "gateway/ports"],
  adapters: ["core", "wire", "gateway/ports"],
  app: [...inner, "gateway", "oracles", "adapters"],
  lab: [...inner, "gateway", "oracles", "adapters", "app"],
  cli: [...inner, "gateway", "oracles", "adapters", "app", "lab"],
};

const pure = ["core", "wire", "policy", "proof", "mechanisms"];
const purePackages = ["yaml", "@modelcontextprotocol/core", "zod", "canonicalize", "re2js"];

function layerOf(path: string): string {
  const parts = path.split("/");
  const special = parts.slice(0, 2).join("/");
  return special in allowed ? special : (parts[0] ?? "");
}

function violation({ from, specifier }: Import): string | undefined {
  const layer = layerOf(from);
  if (!specifier.startsWith(".")) {
    if (!pure.includes(layer.split("/")[0] ?? "")) return undefined;
    const packageName = purePackages.find((name) => specifier === name || specifier.startsWith(`${name}/`));
    const mayUse = packageName !== undefined && (layer === "wire" || layer === "policy");
    return mayUse ? undefined : `${from} imports ${specifier}: ${layer} is pure`;
  }
  const target = targetOf({ from, specifier }) ?? "";
  if (target.startsWith("..")) return `${from} imports ${specifier} from outside src`;
  const targetLayer = layerOf(target);
  if (layer === "mechanisms" && targetLayer === "mechanisms") {
    const same = from.split("/")[1] === target.split("/")[1];
    return same ? undefined : `${from} imports ${target}: mechanisms must not know each other`;
  }
  if (layer === targetLayer) return undefined;
  const may = allowed[layer] ?? [];
  const ok = may.some(
    (rule) =>
      rule === targetLayer ||
      (rule.startsWith("wire/") && target.startsWith(rule)) ||
      (rule === "gateway/ports" && target.startsWith("gateway/ports/")),
  );
  return ok ? undefined : `${from} imports ${target}: ${layer} may import ${may.join(", ") || "nothing"}`;
}

describe("layers", () => {
  it("finds the sources", () => {
    expect(files.length).toBeGreaterThan(30);
    expect(imports.length).toBeGreaterThan(100);
  });

  it("no file imports from a layer it must not know", () => {
    expect(imports.flatMap((one) => violation(one) ?? [])).toEqual([]);
  });

  it("a violation would be seen", () => {
    expect(violation({ from: "core/step.ts", specifier: "node:fs" })).toContain("pure");
    expect(violation({ from: "core/step.ts", specifier: "../policy/ir.ts" })).toContain("nothing");
    expect(violation({ from: "mechanisms/tiers/tiers.ts", specifier: "../flow/flow.ts" })).toContain("each other");
    expect(violation({ from: "gateway/loop.ts", specifier: "../mechanisms/flow/flow.ts" })).toContain("gateway");
    expect(violation({ from: "adapters/x.ts", specifier: "../gateway/session/gateway.ts" })).toContain("adapters");
    expect(violation({ from: "adapters/x.ts", specifier: "../gateway/ports/store.ts" })).toBeUndefined();
  });

  it("every folder of src is a known layer", () => {
    const folders = readdirSync(source).filter((name) => statSync(join(source, name)).isDirectory());
    expect(folders.filter((name) => !(name in allowed))).toEqual([]);
  });

  it("pure code knows no clock and no chance", () => {
    const banned =
      /\b(Date\.now|new Date\(\)|Math\.random|performance\.now|setTimeout\(|setInterval\(|process\.[a-z]+[.([])/;
    const found = files
      .filter((path) => pure.includes(path.split("/")[0] ?? ""))
      .filter((path) => banned.test(readFileSync(join(source, path), "utf8")));
    expect(found).toEqual([]);
  });

  // A test file that is imported runs its tests once more, or not again, by the order of the files.
  it("no file takes anything from a test file", () => {
    const all = ["src", "test", "scripts", "bench"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((path) => path.endsWith(".ts") && !path.includes("node_modules"))
        .map((path) => join(folder, path)),
    );
    const importing = /\bfrom "[^"]+\.test\.ts"|\bimport\("[^"]+\.test\.ts"\)/;
    expect(all.length).toBeGreaterThan(1_000);
    expect(all.filter((path) => importing.test(readFileSync(join(root, path), "utf8")))).toEqual([]);
  });
});
