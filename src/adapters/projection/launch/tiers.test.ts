import { expect, test } from "vitest";
import { scopeOf } from "../../../../test/kit/isolation/launch-case.ts";
import { fullSupport } from "../../../../test/kit/isolation/machine-support.ts";
import { attachesBy, type Support } from "./support.ts";
import { reaches, tierOf } from "./tiers.ts";

const scope = scopeOf({ command: "", args: [], workspace: "", home: "", stateFolder: "" });
const open = { ...scope, net: { ...scope.net, mode: "open" } } as const;
const { bwrap: _bwrap, ...noBwrap } = fullSupport.programs;
const { setpriv: _setpriv, ...noSetpriv } = fullSupport.programs;

const cases: readonly (readonly [string, Partial<Support>, string, string, readonly string[]])[] = [
  ["everything", {}, "A", "launcher", []],
  ["no control group", { cgroup: "none" }, "A", "launcher", ["control group"]],
  ["no overlay", { overlay: false }, "A", "launcher", ["overlay"]],
  ["no koffi", { koffi: false, landlock: 0 }, "A-", "shell", ["npm install koffi"]],
  ["an old kernel", { userNotify: false }, "A-", "shell", ["5.9"]],
  ["an old kernel without strace", { userNotify: false, strace: false }, "B", "launcher", ["5.9", "strace"]],
  ["neither koffi nor strace", { koffi: false, strace: false }, "B", "shell", ["koffi", "strace"]],
  ["Yama, and user namespaces", { attaches: "namespaces" }, "A", "launcher", []],
  [
    "Yama, and no bubblewrap",
    { attaches: "namespaces", programs: noBwrap, bubblewrap: false },
    "B",
    "fence",
    ["package `bubblewrap`", "Yama"],
  ],
  ["Yama at its strictest", { attaches: "none", strace: false }, "B", "launcher", ["Yama", "strace"]],
  ["no bubblewrap", { programs: noBwrap, bubblewrap: false }, "B", "fence", ["package `bubblewrap`"]],
  ["no namespaces", { userNamespaces: false, bubblewrap: false }, "B", "fence", ["User namespaces are off"]],
  ["a bubblewrap that fails", { bubblewrap: false }, "B", "fence", ["does not work here"]],
  [
    "no Landlock either",
    { programs: noBwrap, bubblewrap: false, landlock: 0 },
    "C",
    "hooks",
    ["bubblewrap", "Landlock"],
  ],
  [
    "nothing",
    { programs: {}, bubblewrap: false, koffi: false, landlock: 0 },
    "C",
    "hooks",
    ["bubblewrap", "unshare", "koffi", "Landlock"],
  ],
  ["root without setpriv", { root: true, programs: noSetpriv }, "C", "hooks", ["Root must not"]],
  ["another platform", { platform: "darwin" }, "none", "bare", ["Linux only"]],
];
for (const [name, more, tier, chain, notes] of cases) {
  test(`${name}: tier ${tier}`, () => {
    const choice = tierOf({ ...fullSupport, ...more }, scope);
    expect(choice).toMatchObject({ tier, chain });
    expect(choice.notes).toHaveLength(notes.length);
    notes.forEach((words, index) => expect(choice.notes[index]).toContain(words));
    for (const note of choice.notes) expect(note.length).toBeLessThanOrEqual(240);
  });
}

test("an open network takes a server out of the tiers that have one", () => {
  expect(tierOf(fullSupport, open)).toMatchObject({ tier: "B", chain: "launcher" });
  expect(tierOf({ ...fullSupport, koffi: false }, open)).toMatchObject({ tier: "B", chain: "shell" });
});

test("a tier reaches itself and what is weaker", () => {
  expect(reaches("A", "B") && reaches("B", "B") && reaches("none", "none")).toBe(true);
  expect(reaches("B", "A-") || reaches("none", "C")).toBe(false);
});

test.each([
  [undefined, false, "all"],
  ["0\n", false, "all"],
  ["1\n", false, "namespaces"],
  ["1\n", true, "all"],
  ["2\n", false, "namespaces"],
  ["3\n", true, "none"],
  ["odd", false, "none"],
] as const)("with Yama at %j, root: %s, a tracer attaches to %s", (scope, root, attaches) => {
  expect(attachesBy(scope, root)).toBe(attaches);
});
