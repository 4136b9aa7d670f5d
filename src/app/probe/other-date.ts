/**
 * A start at another date, for servers that Node runs. Linux has no namespace for the clock of the wall (that of time moves
 * clocks since boot alone), and reading it makes no system call that could be answered otherwise, so the only honest way
 * without a native library is the language: `Date` is replaced before the server's first line. A server that compares
 * clocks can tell; what it is told by the system (times of files, of certificates) stays as it is.
 */

/** A year and a month: beyond dates that are chosen to lie behind a review, also where a year was meant. */
export const aheadMs = 396 * 86_400_000;

/**
 * The value of `NODE_OPTIONS` for such a start. `mark`: a path that the program tries to read when the date is in force, so
 * that the trace tells whether it is: a server that Node does not run never does.
 */
export function nodeOptions(before: string | undefined, mark: string): string {
  const program = [
    `import{readFileSync as o}from"node:fs";`,
    `const R=Date,n=()=>R.now()+${aheadMs};`,
    `globalThis.Date=new Proxy(R,{`,
    `construct:(t,a,d)=>Reflect.construct(t,a.length===0?[n()]:a,d===globalThis.Date?t:d),`,
    `apply:()=>new R(n()).toString(),`,
    `get:(t,k)=>k==="now"?n:Reflect.get(t,k)});`,
    `R.prototype.constructor=globalThis.Date;`,
    // A server must not read here that it is tried out.
    before === undefined ? "delete process.env.NODE_OPTIONS;" : `process.env.NODE_OPTIONS=${JSON.stringify(before)};`,
    `try{o(${JSON.stringify(mark)})}catch{}`,
  ].join("");
  const option = `--import=data:text/javascript,${encodeURIComponent(program)}`;
  return before === undefined || before === "" ? option : `${before} ${option}`;
}
