/** Whether two values of plain data (`plain-state.ts`) say the same, whatever of them is one value in two places. */

/** Also for values within themselves: what is being compared counts as equal until it differs. */
export function samePlain(left: unknown, right: unknown, known = new Map<unknown, unknown>()): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (known.get(left) === right) return true;
  known.set(left, right);
  if (JSON.isRawJSON(left) || JSON.isRawJSON(right)) {
    return JSON.isRawJSON(left) && JSON.isRawJSON(right) && JSON.stringify(left) === JSON.stringify(right);
  }
  const [these, those] = [partsOf(left), partsOf(right)];
  if (these.length !== those.length) return false;
  return these.every((part, index) => samePlain(part, those[index], known));
}

/** The parts of a container in order, behind what kind of container it is; maps of any class are maps. */
function partsOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return ["list", ...value];
  if (value instanceof Int32Array) return ["integers", ...value];
  if (value instanceof Set) return ["set", ...value];
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null;
  if (isPlain || !(Symbol.iterator in value)) {
    const names = Object.keys(value);
    return ["object", names.length, ...names, ...Object.values(value)];
  }
  const entries = [...(value as ReadonlyMap<unknown, unknown>)];
  return ["map", ...entries.map(([key]) => key), ...entries.map(([, one]) => one)];
}
