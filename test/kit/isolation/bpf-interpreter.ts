/**
 * Runs a classic BPF program as the kernel would, so that a filter can be judged by what it answers rather than by its
 * bytes (net/core/filter.c). Knows the instructions that `assemble` makes.
 */

/** What a filter sees of one call. Arguments are whole registers. */
export type CallSeen = {
  readonly number: number;
  readonly architecture: number;
  readonly arguments: readonly bigint[];
};

/** The answer of the filter, or undefined where the kernel would not have taken the program. */
export function interpret(program: Uint8Array, seen: CallSeen): number | undefined {
  const view = new DataView(program.buffer, program.byteOffset, program.byteLength);
  const memory = new DataView(new ArrayBuffer(64));
  memory.setUint32(0, seen.number, true);
  memory.setUint32(4, seen.architecture, true);
  seen.arguments.forEach((value, index) => memory.setBigUint64(16 + 8 * index, BigInt.asUintN(64, value), true));
  let accumulator = 0;
  // Every instruction goes forward, so the length of the program bounds the loop.
  for (let place = 0; place + 8 <= program.length; place += 8) {
    const code = view.getUint16(place, true);
    const value = view.getUint32(place + 4, true);
    const jump = (taken: boolean): void => {
      place += 8 * view.getUint8(place + (taken ? 2 : 3));
    };
    if (code === 0x20) {
      if (value % 4 !== 0 || value > 60) return undefined;
      accumulator = memory.getUint32(value, true);
    } else if (code === 0x54) accumulator = (accumulator & value) >>> 0;
    else if (code === 0x05) place += 8 * value;
    else if (code === 0x06) return value;
    else if (code === 0x15) jump(accumulator === value);
    else if (code === 0x25) jump(accumulator > value);
    else if (code === 0x35) jump(accumulator >= value);
    else if (code === 0x45) jump((accumulator & value) !== 0);
    else return undefined;
  }
  return undefined;
}
