/** The shipped table of tools (`training/tools.txt`) that scenarios are played with, read and checked line by line. */
import { type ControlRole, controlRoles } from "../../oracles/foresight/embedded/arguments.ts";
import { held } from "../../oracles/foresight/embedded/held.ts";
import { isEffect } from "../../core/effect.ts";
import { type Result, err, ok } from "../../core/result.ts";

export type ContentRole = "text" | "query" | "date" | "flag";
export type ArgumentRole = ControlRole | ContentRole;

export type Tool = {
  readonly family: string;
  /** Several wordings of the same tool. */
  readonly names: readonly [string, ...string[]];
  readonly effects: readonly string[];
  readonly arguments: readonly { readonly name: string; readonly role: ArgumentRole }[];
  /** Label bits of a result; undefined where it has the label of the store. */
  readonly brings: number | undefined;
  /** It ends what another tool of the family opened. */
  readonly closes: boolean;
};

export type Family = {
  readonly name: string;
  /** Families of one fold share runs; no run mixes folds, so that a fold can be left out cleanly. */
  readonly fold: number;
  /** Label bits of its store before anything happened. */
  readonly holds: number;
  readonly servers: readonly [string, ...string[]];
  readonly tools: readonly Tool[];
};

export const foldCount = 5;
export const catalogueBytesMax = 262_144;
const contentRoles: readonly string[] = ["text", "query", "date", "flag"];

/** Reads the table; the error names the line. */
export function parseCatalogue(text: string): Result<readonly Family[], string> {
  if (text.length > catalogueBytesMax) return err(`the table of tools is longer than ${catalogueBytesMax} characters`);
  const families: (Omit<Family, "tools"> & { readonly tools: Tool[] })[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const current = families.at(-1);
    if (line.startsWith("@family ")) {
      const family = parseFamily(line);
      if (family === undefined) return err(`line ${index + 1} of the table of tools opens no family`);
      families.push({ ...family, tools: [] });
    } else {
      const tool = current === undefined ? undefined : parseTool(line, current.name);
      if (current === undefined || tool === undefined)
        return err(`line ${index + 1} of the table of tools is not a tool`);
      current.tools.push(tool);
    }
  }
  return ok(families);
}

function parseFamily(line: string): Omit<Family, "tools"> | undefined {
  const found = /^@family ([a-z]+) fold ([1-5]) holds ([a-z,-]+) servers ([a-z_,]+)$/.exec(line);
  const [, name = "", fold = "", labels = "", names = ""] = found ?? [];
  const holds = parseLabels(labels.split(","));
  const [first, ...others] = names.split(",");
  if (found === null || holds === undefined || first === undefined) return undefined;
  return { name, fold: Number(fold), holds, servers: [first, ...others] };
}

function parseTool(line: string, family: string): Tool | undefined {
  const cells = line.split("|").map((cell) => cell.trim());
  const [names = "", effects = "", parameters = "", brings = ""] = cells;
  const closes = names.startsWith("!");
  const [first, ...others] = names.replace("!", "").split(",");
  const list = effects.split(" ");
  const named = parameters === "-" ? [] : parameters.split(" ").map(parseArgument);
  const known = named.filter((one) => one !== undefined);
  const bits = brings === "store" ? undefined : parseLabels(brings.split(" "));
  if (cells.length !== 4 || first === undefined || !list.every(isEffect)) return undefined;
  if (known.length !== named.length || (bits === undefined && brings !== "store")) return undefined;
  return { family, names: [first, ...others], effects: list, arguments: known, brings: bits, closes };
}

function parseArgument(text: string): { readonly name: string; readonly role: ArgumentRole } | undefined {
  const [name = "", word = ""] = text.split(":");
  const role = [...controlRoles, ...contentRoles].find((one) => one === word);
  return name === "" || role === undefined || !isRole(role) ? undefined : { name, role };
}

function isRole(word: string): word is ArgumentRole {
  return contentRoles.includes(word) || controlRoles.some((role) => role === word);
}

/** The three label words as bits; `-` alone is none. */
function parseLabels(words: readonly string[]): number | undefined {
  if (words.length === 1 && words[0] === "-") return 0;
  let bits = 0;
  for (const word of words) {
    if (word === "private") bits |= held.private;
    else if (word === "secret") bits |= held.secret;
    else if (word === "untrusted") bits |= held.untrusted;
    else return undefined;
  }
  return bits;
}

export function isControl(role: ArgumentRole): role is ControlRole {
  return controlRoles.some((one) => one === role);
}
