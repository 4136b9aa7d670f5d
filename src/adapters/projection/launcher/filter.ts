/** Assembles the rules of `filter-table.ts` into the program that the kernel takes for a server's filter. */
import { err, type Result } from "../../../core/result.ts";
import {
  architectureOffset,
  argumentOffset,
  assemble,
  failWith,
  filterActions,
  type Line,
  numberOffset,
} from "../../bpf/assemble.ts";
import { architectures, denyRules, type FilterOptions, type Rule, type FilterAction } from "./filter-table.ts";

/** EPERM and ENOSYS of errno.h. */
export const verdictActions: Readonly<Record<FilterAction, number>> = {
  allow: filterActions.allow,
  deny: failWith(1),
  absent: failWith(38),
};

/** The filter program for an architecture as `process.arch` names it. The error is a sentence. */
export function denyFilter(arch: string, options: FilterOptions): Result<Uint8Array, string> {
  const architecture = architectures.get(arch);
  if (architecture === undefined) {
    return err(`Isolation has no table of system calls for ${arch}. Run the gateway on x86-64 or arm64.`);
  }
  const { audit, x32From, number } = architecture;
  return assemble([
    { kind: "load", offset: architectureOffset },
    { kind: "jump", test: "equal", value: audit, yes: "native" },
    // 32-bit calls have other numbers, so every rule would miss them.
    { kind: "return", action: filterActions.killProcess },
    { kind: "label", name: "native" },
    { kind: "load", offset: numberOffset },
    ...(x32From === undefined ? [] : x32Lines(x32From)),
    ...denyRules(options).flatMap((rule) => linesOf(rule, number(rule.call))),
    { kind: "return", action: filterActions.allow },
  ]);
}

function x32Lines(from: number): readonly Line[] {
  return [
    { kind: "jump", test: "at-least", value: from, no: "numbers" },
    { kind: "return", action: verdictActions.absent },
    { kind: "label", name: "numbers" },
  ];
}

/** One call has one rule, so that whatever its clauses say is final and nothing has to be loaded again. */
function linesOf(rule: Rule, number: number | undefined): readonly Line[] {
  if (number === undefined) return [];
  const past = `past ${rule.call}`;
  const clauses = rule.clauses.flatMap(({ when, verdict }, index): readonly Line[] => {
    const next = `${rule.call} ${index}`;
    const tests = when.flatMap(({ argument, mask, value }): readonly Line[] => [
      { kind: "load", offset: argumentOffset(argument) },
      { kind: "and", mask },
      { kind: "jump", test: "equal", value, no: next },
    ]);
    return [...tests, { kind: "return", action: verdictActions[verdict] }, { kind: "label", name: next }];
  });
  return [
    { kind: "jump", test: "equal", value: number, no: past },
    ...clauses,
    { kind: "return", action: verdictActions[rule.otherwise] },
    { kind: "label", name: past },
  ];
}
