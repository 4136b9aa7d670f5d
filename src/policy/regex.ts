/** Linear-time regular expressions. A policy's pattern meets hostile text, so no backtracking engine may run it. */
import { RE2JS } from "re2js";
import { patternUnitsMax } from "./limits.ts";

/** Compiled expressions by pattern; policies are few and their patterns bounded. */
const compiled = new Map<string, RE2JS | undefined>();
const compiledMax = 4_096;

function expression(pattern: string): RE2JS | undefined {
  if (compiled.has(pattern)) return compiled.get(pattern);
  let made: RE2JS | undefined;
  try {
    made = pattern.length > patternUnitsMax ? undefined : RE2JS.compile(pattern);
  } catch {
    made = undefined; // not RE2 syntax: the caller reports it with its place
  }
  if (compiled.size >= compiledMax) compiled.clear();
  compiled.set(pattern, made);
  return made;
}

export function compilesAsRegex(pattern: string): boolean {
  return expression(pattern) !== undefined;
}

/** True iff the expression matches somewhere in the text; undefined if the pattern is no expression. */
export function regexFinds(pattern: string, text: string): boolean | undefined {
  return expression(pattern)?.matcher(text).find();
}
