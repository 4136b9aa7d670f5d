/**
 * Milliseconds of processor time that something took. Bounds on what an adversary can make us compute are about work,
 * not about the clock: on a busy machine the clock goes on while nothing of ours runs.
 */
export function cpuMsOf(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
