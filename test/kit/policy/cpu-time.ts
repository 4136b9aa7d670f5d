/**
 * Milliseconds of processor time that something took. Bounds on what an adversary can make us compute are about work,
 * not about the clock: on a busy machine the clock goes on while nothing of ours runs. A bound is ten times and more what
 * sound code takes, so that only another order of growth goes over it; what something may cost is asked by `bench/`.
 */
export function cpuMsOf(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
