/** A server that is learned chooses what it is seen doing, so it writes part of the proposal. */
import { expect, test } from "vitest";
import type { EffectEvent } from "../../core/isolation/effect-trace.ts";
import { traceOf } from "../../../test/kit/isolation/fake-projection.ts";
import { proposeScope } from "./propose.ts";

const places = { home: "/home/ada", workspace: ["/project"], code: ["/opt/server"], scratch: ["/tmp"] };
const around = { noise: (): boolean => false, exists: (): boolean => true };

function proposed(...events: readonly Partial<EffectEvent>[]) {
  const { entries, withheld } = proposeScope("s", [{ tool: "t", trace: traceOf(events, { places }) }], around);
  return { values: entries.map(({ place, value }) => `${place} ${value}`), withheld: withheld.length };
}

test.each([
  "/home/ada/.bashrc",
  "/home/ada/.config/autostart/x.desktop",
  "/home/ada/.gitconfig",
  "/home/ada/.mcp.json",
  "/etc/passwd",
  "/etc/cron.d/x",
  "/usr/bin/git",
  "/usr/local/bin/git",
])("attack: writing %s is never proposed, whether it was let or not", (path) => {
  for (const outcome of ["success", "denied"] as const) {
    for (const action of ["file-write", "file-create", "file-link", "file-permissions"] as const) {
      expect(proposed({ action, path, outcome })).toEqual({ values: [], withheld: 1 });
    }
    expect(proposed({ action: "file-rename", path: "/data/x", target: path, outcome }).values).toEqual([
      "files.write /data/x",
    ]);
  }
});

test.each(["/etc", "/home/bob", "/var/lib", "/srv"])("attack: many files of %s do not make it an entry", (folder) => {
  const many = Array.from({ length: 9 }, (_, index) => ({ path: `${folder}/file-${index}` }));
  expect(proposed(...many).values).not.toContain(`files.read ${folder}`);
});

test.each(["0.0.0.0", "evil\n.example", "a b", "*", "x".repeat(300)])(
  "attack: a destination like %j is none",
  (domain) => {
    expect(proposed({ action: "net-connect", domain, port: 443, transport: "tcp" })).toEqual({
      values: [],
      withheld: 1,
    });
  },
);

test.each(["/tmp/git", "g\nit", "", "x".repeat(600), "/proc/self/fd/3"])(
  "attack: a program like %j is no entry",
  (program) => {
    expect(proposed({ action: "process-spawn", program }).values).toEqual([]);
  },
);
