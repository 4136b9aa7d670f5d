/**
 * An assembler for classic BPF programs as seccomp takes them (seccomp(2), kernel
 * Documentation/userspace-api/seccomp_filter.rst).
 *
 * Such a program sees `struct seccomp_data`: the number of the call, the architecture and six arguments as registers.
 * Memory behind an argument is out of its sight, so no filter can decide on a path. Jumps go forward only, which is why
 * every program ends.
 */
import { err, ok, type Result } from "../../core/result.ts";

/** One line of a program; labels are names of places in it. */
export type Line =
  | { readonly kind: "load"; readonly offset: number }
  /** Keeps only these bits of what was loaded. */
  | { readonly kind: "and"; readonly mask: number }
  /** Goes on at `yes` or `no`; absent = the next line. Comparisons are unsigned. */
  | {
      readonly kind: "jump";
      readonly test: "equal" | "greater" | "at-least" | "any-bit";
      readonly value: number;
      readonly yes?: string;
      readonly no?: string;
    }
  | { readonly kind: "goto"; readonly label: string }
  | { readonly kind: "label"; readonly name: string }
  | { readonly kind: "return"; readonly action: number };

/** Offsets in `struct seccomp_data`. */
export const numberOffset = 0;
export const architectureOffset = 4;

/** Offset of the lower or upper half of an argument (0 to 5); both architectures are little-endian. */
export function argumentOffset(index: number, half: "low" | "high" = "low"): number {
  return 16 + 8 * index + (half === "low" ? 0 : 4);
}

/** Actions that a filter can return; the kernel takes the strictest of all filters (seccomp(2)). */
export const filterActions = {
  killProcess: 0x80000000,
  trap: 0x00030000,
  notify: 0x7fc00000,
  log: 0x7ffc0000,
  allow: 0x7fff0000,
} as const;

/** The call fails with this error number. */
export function failWith(errorNumber: number): number {
  return 0x00050000 | (errorNumber & 0xffff);
}

/** `BPF_MAXINSNS` of linux/bpf_common.h. */
export const instructionsMax = 4096;

/** `sizeof(struct sock_filter)`. */
const instructionBytes = 8;

/** Furthest place that the eight bits of a conditional jump reach. */
const shortJumpMax = 255;

const codes = {
  load: 0x20, // BPF_LD | BPF_W | BPF_ABS
  and: 0x54, // BPF_ALU | BPF_AND | BPF_K
  goto: 0x05, // BPF_JMP | BPF_JA
  return: 0x06, // BPF_RET | BPF_K
  equal: 0x15, // BPF_JMP | BPF_JEQ | BPF_K
  greater: 0x25, // BPF_JMP | BPF_JGT | BPF_K
  "at-least": 0x35, // BPF_JMP | BPF_JGE | BPF_K
  "any-bit": 0x45, // BPF_JMP | BPF_JSET | BPF_K
} as const;

/**
 * Encodes a program as an array of `struct sock_filter`, little-endian. Errors name a bad label, a jump backwards, an
 * end without a return, or too many instructions: all are bugs in the lines, reported here before the kernel rejects
 * them.
 */
export function assemble(lines: readonly Line[]): Result<Uint8Array<ArrayBuffer>, string> {
  const last = lines.at(-1);
  if (last?.kind !== "return" && last?.kind !== "goto") return err("a filter ends with a return");
  // A conditional jump that does not reach its label takes two more instructions. That may push other labels out of
  // reach, so lay out again until nothing changes; each round makes at least one more jump long.
  const long = new Set<number>();
  for (let round = 0; round <= lines.length; round++) {
    const places = layOut(lines, long);
    if (!places.ok) return places;
    const grown = lines.findIndex((line, index) => !long.has(index) && tooFar(line, index, places.value));
    if (grown === -1) return encode(lines, long, places.value);
    lines.forEach((line, index) => {
      if (tooFar(line, index, places.value)) long.add(index);
    });
  }
  return err("a filter did not come to rest");
}

type Places = { readonly starts: readonly number[]; readonly labels: ReadonlyMap<string, number> };

function layOut(lines: readonly Line[], long: ReadonlySet<number>): Result<Places, string> {
  const starts: number[] = [];
  const labels = new Map<string, number>();
  let place = 0;
  for (const [index, line] of lines.entries()) {
    starts.push(place);
    if (line.kind === "label") {
      if (labels.has(line.name)) return err(`the label \`${line.name}\` is there twice`);
      labels.set(line.name, place);
    } else {
      place += long.has(index) ? 3 : 1;
    }
  }
  return place > instructionsMax ? err(`a filter of ${place} instructions is too long`) : ok({ starts, labels });
}

function tooFar(line: Line, index: number, places: Places): boolean {
  if (line.kind !== "jump") return false;
  const next = (places.starts[index] ?? 0) + 1;
  return [line.yes, line.no].some((label) => {
    const place = label === undefined ? undefined : places.labels.get(label);
    return place !== undefined && place - next > shortJumpMax;
  });
}

function encode(
  lines: readonly Line[],
  long: ReadonlySet<number>,
  places: Places,
): Result<Uint8Array<ArrayBuffer>, string> {
  const out: number[] = [];
  const put = (code: number, value: number, yes = 0, no = 0): void => {
    out.push(code & 0xff, code >> 8, yes, no, value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff);
    out.push(value >>> 24);
  };
  let broken: string | undefined;
  /** Instructions between the next one and a label. */
  const distance = (label: string | undefined, next: number): number => {
    const place = label === undefined ? next : places.labels.get(label);
    if (place === undefined) broken ??= `there is no label \`${label ?? ""}\``;
    else if (place < next) broken ??= `the jump to \`${label ?? ""}\` goes backwards`;
    return (place ?? next) - next;
  };
  for (const [index, line] of lines.entries()) {
    const place = places.starts[index] ?? 0;
    switch (line.kind) {
      case "label":
        break;
      case "load":
        put(codes.load, line.offset);
        break;
      case "and":
        put(codes.and, line.mask);
        break;
      case "return":
        put(codes.return, line.action);
        break;
      case "goto":
        put(codes.goto, distance(line.label, place + 1));
        break;
      case "jump":
        if (long.has(index)) {
          // The condition chooses between two unconditional jumps, which reach any place.
          put(codes[line.test], line.value, 0, 1);
          put(codes.goto, line.yes === undefined ? 1 : distance(line.yes, place + 2));
          put(codes.goto, line.no === undefined ? 0 : distance(line.no, place + 3));
        } else {
          put(codes[line.test], line.value, distance(line.yes, place + 1), distance(line.no, place + 1));
        }
        break;
    }
  }
  return broken === undefined ? ok(Uint8Array.from(out)) : err(broken);
}

/** Number of instructions of an assembled program, for `struct sock_fprog`. */
export function instructionCount(program: Uint8Array): number {
  return program.length / instructionBytes;
}
