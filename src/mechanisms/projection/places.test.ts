/** Answers about paths are kept while a trace is judged; they are those that looking each time would give. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { isWithin, matchesPath, normalPath } from "../../core/isolation/scope-patterns.ts";
import type { ToolScope } from "../../core/isolation/scope.ts";
import { event, grounds, orderOf, tool, traceOf, workspace } from "../../../test/kit/isolation/projection-scene.ts";
import { inWorkspace, isOwn, isScratch, isShut, isSystemRead, leadsToScope, mayRead, mayWrite } from "./file-scope.ts";
import { groundsOf } from "./grounds.ts";
import { judgeTrace } from "./judgement.ts";
import { mayStart } from "./scope-rules.ts";
import { isNamed } from "./suspicion.ts";

const numRuns = Number(process.env.SLUICEGATE_RUNS ?? 200);

const part = fc.constantFrom(
  "home",
  "ana",
  "work",
  "srv",
  "a",
  "..",
  ".",
  "",
  "usr",
  "lib",
  "tmp",
  ".ssh",
  "etc",
  "hosts",
);
const path = fc.oneof(
  fc.array(part, { maxLength: 7 }).map((parts) => `/${parts.join("/")}`),
  fc.constantFrom(
    "",
    "letter",
    "/etc/hosts",
    "/etc/hostsx",
    "/usrx/a",
    `${workspace}/a`,
    `${workspace}x`,
    "/proc/self/maps",
  ),
);
const pattern = fc.oneof(
  path,
  fc.array(part, { maxLength: 3 }).map((parts) => ["~", ...parts].join("/")),
  fc.constant("./a"),
);
const patterns = fc.array(pattern, { maxLength: 3 });

test("law: what is kept is what looking each time would give", () => {
  fc.assert(
    fc.property(
      fc.record({ read: patterns, write: patterns, deny: patterns, paths: fc.array(path, { maxLength: 12 }) }),
      (given) => {
        const { read, write, deny, paths } = given;
        const scope = orderOf({ files: { read, write, deny } });
        const seen = grounds(traceOf(), scope, tool(), { path: paths[0] ?? "a" });
        const { places } = seen.trace;
        const below = (one: string, folders: readonly string[]): boolean => {
          const normal = normalPath(one);
          return normal !== undefined && folders.some((folder) => isWithin(normal, normalPath(folder) ?? folder));
        };
        const named = (one: string, list: readonly string[]): boolean =>
          list.some((each) => matchesPath(each, one, places));
        // Twice, so that both the first answer and the kept one are compared.
        for (const one of [...paths, ...paths]) {
          expect(inWorkspace(one, seen)).toBe(below(one, places.workspace));
          expect(isOwn(one, seen)).toBe(below(one, [...places.code, ...places.scratch]));
          expect(isScratch(one, seen)).toBe(below(one, places.scratch));
          expect(isShut(one, seen)).toBe(named(one, deny));
          const system = isSystemRead(one, seen);
          expect(mayRead(one, seen)).toBe(
            system || inWorkspace(one, seen) || isOwn(one, seen) || named(one, [...read, ...write]),
          );
          expect(mayWrite(one, seen)).toBe(inWorkspace(one, seen) || isScratch(one, seen) || named(one, write));
          expect(mayStart(event({ action: "process-spawn", program: one }), seen)).toBe(
            below(one, ["/opt/server", "/opt/node/bin/node"]),
          );
          const base = paths[0] ?? "a";
          expect(isNamed(one, seen)).toBe(below(one, [base.startsWith("/") ? base : `${workspace}/${base}`]));
          if (leadsToScope(one, seen)) expect(normalPath(one)).toBeDefined();
        }
      },
    ),
    { numRuns },
  );
});

test("two judgements of one trace under two scopes keep nothing of each other", () => {
  const trace = traceOf({ events: [event({ action: "file-read", path: "/srv/a" })] });
  const none: ToolScope = { read: [], write: [], allow: [], programs: [] };
  const narrow = groundsOf(orderOf(), trace, undefined);
  const wide = groundsOf(orderOf({ files: { read: ["/srv"] }, tools: { t: none } }), trace, undefined);
  const found = [narrow, wide, narrow].map((one) => judgeTrace(one).violations.length);
  expect(found).toEqual([1, 0, 1]);
});
