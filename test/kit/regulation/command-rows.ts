/** One row of a table of shell commands: what the command is read to do. */
import { expect } from "vitest";
import { everyEffect } from "../../../src/core/effect.ts";
import { effectsOfCommand } from "../../../src/mechanisms/regulate/shell/effects.ts";

/**
 * `effects` are words, or `everything`; `named` are places, `<` read, `>` written, `@` reached; `flags` are words. What has
 * the flag `unreadable` counts as not parsed, and nothing else does.
 */
export function expectCommand(command: string, effects: string, named: string, flags: string): void {
  const found = effectsOfCommand(command);
  expect(found.effects).toEqual(effects === "everything" ? everyEffect.toSorted() : effects.split(" ").filter(Boolean));
  const places = [
    ...found.reads.map((path) => `<${path}`),
    ...found.writes.map((path) => `>${path}`),
    ...found.destinations.map((host) => `@${host}`),
  ];
  expect(places.join(" ")).toBe(named);
  expect(found.flags.join(" ")).toBe(flags);
  expect(found.parsed).toBe(!flags.includes("unreadable"));
}
