/** Published servers in a folder of this machine: the first run installs them from the registry, the next needs no network. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Json, isObject, member, stringMember } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import { readJson } from "../../../gateway/log/json-text.ts";
import type { FrictionScenario } from "./friction-scenario.ts";

const installMsMax = 300_000;

/** The program of a scenario's server, installed if it is not there yet; the error says why it is not. */
export async function serverProgram(scenario: FrictionScenario, cache: string): Promise<Result<string, string>> {
  const folder = join(cache, scenario.name);
  const at = scenario.package.lastIndexOf("@");
  const [name, version] = [scenario.package.slice(0, at), scenario.package.slice(at + 1)];
  const there = programOf(folder, { name, version, bin: scenario.bin });
  if (there !== undefined) return ok(there);
  const installed = await install(folder, scenario.package);
  if (!installed.ok) return installed;
  const program = programOf(folder, { name, version, bin: scenario.bin });
  return program === undefined ? err(`${scenario.package} has no such command`) : ok(program);
}

type Wanted = { readonly name: string; readonly version: string; readonly bin: string | undefined };

function programOf(folder: string, { name, version, bin }: Wanted): string | undefined {
  const home = join(folder, "node_modules", name);
  const manifest = jsonFile(join(home, "package.json"));
  if (stringMember(manifest, "version") !== version) return undefined;
  const commands = member(manifest, "bin");
  if (typeof commands === "string") return join(home, commands);
  if (!isObject(commands)) return undefined;
  const file = bin === undefined ? Object.values(commands)[0] : member(commands, bin);
  return typeof file === "string" ? join(home, file) : undefined;
}

function jsonFile(file: string): Json | undefined {
  try {
    return readJson(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Scripts of packages are not run: what is measured needs none. */
function install(folder: string, spec: string): Promise<Result<undefined, string>> {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  } catch {
    return Promise.resolve(err(`${folder} cannot be written: name another folder with --cache`));
  }
  const words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", "--loglevel=error", spec];
  return new Promise((resolve) => {
    execFile("npm", words, { cwd: folder, timeout: installMsMax }, (fault, _out, said) => {
      if (fault === null) return resolve(ok(undefined));
      const why = said.split("\n").find((line) => /error/i.test(line)) ?? fault.message;
      resolve(err(`npm could not install ${spec} (${why.trim().slice(0, 120)})`));
    });
  });
}
