import fc from "fast-check";
import { expect, test } from "vitest";
import { instructionCount } from "../../bpf/assemble.ts";
import { interpret } from "../../../../test/kit/isolation/bpf-interpreter.ts";
import { denyFilter, verdictActions } from "./filter.ts";
import {
  architectures,
  type CallName,
  denyRules,
  type FilterOptions,
  type Rule,
  type FilterAction,
} from "./filter-table.ts";

const both = ["x64", "arm64"] as const;
const open: FilterOptions = { unix: true, internet: true, sessions: true, hiddenMemory: true };

function program(arch: string, options: FilterOptions): Uint8Array {
  const built = denyFilter(arch, options);
  if (!built.ok) throw new Error(built.error);
  return built.value;
}

function facts(arch: string) {
  const found = architectures.get(arch);
  if (found === undefined) throw new Error(arch);
  return found;
}

/** The table read as its comments say, without a program. */
function verdictOf(rules: readonly Rule[], call: CallName | undefined, args: readonly bigint[]): FilterAction {
  const rule = rules.find((one) => one.call === call);
  if (rule === undefined) return "allow";
  const low = (index: number): number => Number(BigInt.asUintN(32, args[index] ?? 0n));
  const clause = rule.clauses.find(({ when }) =>
    when.every(({ argument, mask, value }) => (low(argument) & mask) >>> 0 === value),
  );
  return clause?.verdict ?? rule.otherwise;
}

/** What one call answers under the filter that lets as much through as any. */
function answer(arch: (typeof both)[number], call: CallName, args: readonly number[], options = open): FilterAction {
  const number = facts(arch).number(call) ?? -1;
  const seen = { number, architecture: facts(arch).audit, arguments: args.map(BigInt) };
  const action = interpret(program(arch, options), seen);
  const named = Object.entries(verdictActions).find(([, value]) => value === action)?.[0];
  if (named !== "allow" && named !== "deny" && named !== "absent") throw new Error(`action ${action}`);
  return named;
}

const options = fc.record({
  unix: fc.boolean(),
  internet: fc.boolean(),
  sessions: fc.boolean(),
  hiddenMemory: fc.boolean(),
});
/** Small numbers, single bits and anything: arguments that rules look at, and those that only resemble them. */
const argument = fc.oneof(
  fc.bigInt({ min: 0n, max: 64n }),
  fc.nat({ max: 63 }).map((bits) => 1n << BigInt(bits)),
  fc.constantFrom(0x5412n, 0x541cn, 0o104755n, 0o20600n, 0o100n, 0o4755n),
  fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
);

test("law: for every call and all arguments the program says what the table says", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...both),
      options,
      fc.nat(),
      fc.array(argument, { minLength: 6, maxLength: 6 }),
      (arch, chosen, pick, args) => {
        const rules = denyRules(chosen);
        const { audit, number } = facts(arch);
        const call = rules[pick % rules.length]?.call ?? "ptrace";
        const given = number(call);
        if (given === undefined) return;
        const action = interpret(program(arch, chosen), { number: given, architecture: audit, arguments: args });
        expect(action).toBe(verdictActions[verdictOf(rules, call, args)]);
      },
    ),
  );
});

test("law: a call without a rule is allowed, whatever its arguments", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...both),
      options,
      fc.nat({ max: 600 }),
      fc.array(argument, { minLength: 6, maxLength: 6 }),
      (arch, chosen, number, args) => {
        const ruled = denyRules(chosen).some((rule) => facts(arch).number(rule.call) === number);
        fc.pre(!ruled);
        const seen = { number, architecture: facts(arch).audit, arguments: args };
        expect(interpret(program(arch, chosen), seen)).toBe(verdictActions.allow);
      },
    ),
  );
});

test("law: calls of another architecture end the process, and x32 calls are absent", () => {
  fc.assert(
    fc.property(fc.nat({ max: 0xffffffff }), fc.nat({ max: 0x3fffffff }), (architecture, number) => {
      fc.pre(architecture !== facts("x64").audit);
      const filter = program("x64", open);
      expect(interpret(filter, { number, architecture, arguments: [] })).toBe(0x80000000);
      const x32 = { number: number + 0x40000000, architecture: facts("x64").audit, arguments: [] };
      expect(interpret(filter, x32)).toBe(verdictActions.absent);
    }),
  );
});

test("no rule names a call twice, and no two calls share a number", () => {
  for (const arch of both) {
    const numbers = denyRules(open).flatMap((rule) => facts(arch).number(rule.call) ?? []);
    expect(new Set(numbers).size).toBe(numbers.length);
  }
});

const examples: readonly (readonly [string, CallName, readonly number[], FilterAction])[] = [
  ["a thread", "clone", [0x3d0f00], "allow"],
  ["a new user namespace", "clone", [0x10000000 | 17], "deny"],
  ["the new clone, whose flags no filter sees", "clone3", [0, 88], "absent"],
  ["the size of a terminal", "ioctl", [0, 0x5413], "allow"],
  ["typing into a terminal", "ioctl", [0, 0x5412], "deny"],
  ["a TCP socket with flags", "socket", [2, 1 | 0o2000000 | 0o4000, 0], "allow"],
  ["a raw socket", "socket", [2, 3, 1], "deny"],
  ["a packet socket", "socket", [17, 3, 0], "deny"],
  ["a vsock", "socket", [40, 1, 0], "deny"],
  ["crypto of the kernel", "socket", [38, 5, 0], "deny"],
  ["addresses of this machine", "socket", [16, 3, 0], "allow"],
  ["audit", "socket", [16, 3, 9], "deny"],
  ["a TCP socket that names its protocol", "socket", [10, 1, 6], "allow"],
  ["a UDP socket that names its protocol", "socket", [2, 2 | 0o4000, 17], "allow"],
  ["SCTP, which looks like a stream", "socket", [2, 1, 132], "deny"],
  ["MPTCP", "socket", [2, 1, 262], "deny"],
  ["L2TP, which looks like datagrams", "socket", [2, 2, 115], "deny"],
  ["a pair of sockets of this machine", "socketpair", [1, 1 | 0o2000000, 0], "allow"],
  ["a pair of cluster sockets", "socketpair", [30, 1, 0], "deny"],
  ["another line discipline for a terminal", "ioctl", [0, 0x5423], "deny"],
  ["the kernel's messages to a terminal", "ioctl", [0, 0x541d], "deny"],
  ["a filter of its own", "seccomp", [1, 0], "allow"],
  ["a supervisor of its own", "seccomp", [1, 8], "deny"],
  ["a plain file", "openat", [0, 0, 0o101, 0o644], "allow"],
  ["a set-user-id file", "openat", [0, 0, 0o101, 0o4755], "deny"],
  ["no new file, with rubbish for a mode", "openat", [0, 0, 0, 0o4755], "allow"],
  ["chmod u+s", "fchmodat", [0, 0, 0o4755], "deny"],
  ["chmod", "fchmodat", [0, 0, 0o755], "allow"],
  ["a device", "mknodat", [0, 0, 0o20600], "deny"],
  ["a FIFO", "mknodat", [0, 0, 0o10600], "allow"],
  ["a plain rename", "renameat2", [0, 0, 0, 0, 1], "allow"],
  ["a rename that leaves a device", "renameat2", [0, 0, 0, 0, 4], "deny"],
  ["io_uring", "io_uring_setup", [], "absent"],
];
for (const [name, call, args, verdict] of examples) {
  test(`${name}: ${verdict}`, () => {
    for (const arch of both) expect(answer(arch, call, args)).toBe(verdict);
  });
}

test("sockets of this machine and of the internet can be taken away", () => {
  expect(answer("x64", "socket", [1, 1, 0])).toBe("allow");
  expect(answer("x64", "socket", [1, 1, 0], { ...open, unix: false })).toBe("deny");
  expect(answer("x64", "socket", [10, 1, 0], { ...open, internet: false })).toBe("deny");
});

test("without a namespace no process leaves the group that ends with the server", () => {
  expect(answer("x64", "setsid", [], { ...open, sessions: false })).toBe("deny");
  expect(answer("arm64", "setsid", [])).toBe("allow");
});

test("the programs have the size that was looked at when they were written", () => {
  expect(both.map((arch) => instructionCount(program(arch, open)))).toMatchInlineSnapshot(`
    [
      437,
      355,
    ]
  `);
});

test("a machine without a table is refused in a sentence", () => {
  expect(denyFilter("riscv64", open)).toMatchObject({ ok: false });
});

test("A10: memory that no process has to map is absent where no control group counts it, and there otherwise", () => {
  const counted = { ...open, hiddenMemory: false };
  for (const arch of both) {
    for (const call of ["memfd_create", "memfd_secret", "shmget"] as const) {
      expect(answer(arch, call, [0, 0], counted)).toBe("absent");
      expect(answer(arch, call, [0, 0])).toBe("allow");
    }
  }
});
