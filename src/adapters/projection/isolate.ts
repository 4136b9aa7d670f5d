/**
 * Launches a server into its projection and joins it with the parts that watch it. Loaded with the first order to
 * isolate.
 */
import { performance } from "node:perf_hooks";
import { given } from "../../core/given.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { systemClock } from "../clock.ts";
import { defaultTransportLimits } from "../net/net-limits.ts";
import type { LaunchedServer } from "../stdio/stdio-upstream.ts";
import type { ProcessTarget } from "../process/launch.ts";
import type { IsolationSetup } from "./parts.ts";
import { withBreakage } from "./breakage-notice.ts";
import { fetched } from "./fetched.ts";
import { launch } from "./launch/launch.ts";
import { probeSupport } from "./launch/support.ts";
import { weakNotice } from "./weak-notice.ts";
import { openProjection } from "./session/projection-session.ts";

/** The time of the parts, and timers that keep no process alive. */
const clock = {
  monotonicMs: systemClock.monotonicMs,
  after: (delayMs: number, run: () => void): (() => void) => {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Launches a server as ordered. The error is a sentence; then no process of the server runs. */
export async function isolate(
  target: ProcessTarget,
  order: IsolationOrder,
  { home, packages = home, limits = defaultTransportLimits, trial, diagnostic, notice, missedFile }: IsolationSetup,
): Promise<Result<LaunchedServer, string>> {
  if (home === undefined || packages === undefined) {
    return err("This gateway has no state folder, so it cannot isolate a server.");
  }
  const support = await probeSupport();
  const found = await fetched(target, order, { home: packages, support, limits, notice });
  if (!found.ok) return found;
  const plan = { order, support, stateFolder: home, workspace: [target.workspace ?? target.workingDirectory], limits };
  const started = await launch({ ...plan, ...found.value, trial, stderrLine: diagnostic });
  if (!started.ok) return started;
  const launched = ok(
    withBreakage(started.value, order, given<Pick<IsolationSetup, "notice" | "missedFile">>({ notice, missedFile })),
  );
  const weak = weakNotice(order, launched.value);
  if (weak !== undefined) notice?.(weak);
  const projection = openProjection(launched.value, order, { clock, offsetMs: performance.timeOrigin, diagnostic });
  return ok({ process: launched.value.process, projection });
}
