/** Spans of time: `500ms`, `30s`, `10m`, `24h`, `7d`. */

const units: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
];

/** Milliseconds of a duration; undefined if the text is none. */
export function durationMs(text: string): number | undefined {
  const match = /^([0-9]{1,9})(ms|s|m|h|d)$/.exec(text);
  const unit = units.find(([name]) => name === match?.[2]);
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit[1];
}

/** The one way a span is written: the largest unit that divides it. */
export function durationText(ms: number): string {
  const [name, size] = units.find(([, length]) => ms !== 0 && ms % length === 0) ?? ["ms", 1];
  return `${ms / size}${name}`;
}

/** `600s` and `10m` are one policy. Other text was refused before and is kept. */
export function canonicalDuration(text: string): string {
  const ms = durationMs(text);
  return ms === undefined ? text : durationText(ms);
}
