/** A server, launched into its projection and joined with what watches it. Loaded with the first order to isolate. */
import { performance } from "node:perf_hooks";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import type { IsolationOrder } from "../../core/scope.ts";
import { systemClock } from "../clock.ts";
import { defaultTransportLimits } from "../limits.ts";
import type { LaunchedServer, ProcessTarget } from "../stdio/stdio-upstream.ts";
import type { IsolationSetup } from "./isolation-of.ts";
import { launch } from "./launch.ts";
import { openProjection } from "./session.ts";

/** The time of the parts, and timers that keep no process alive. */
const clock = {
  monotonicMs: systemClock.monotonicMs,
  after: (delayMs: number, run: () => void): (() => void) => {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Runs a server as ordered; the error is a sentence, and then nothing of the server runs. */
export async function isolate(
  target: ProcessTarget,
  order: IsolationOrder,
  { home, limits = defaultTransportLimits, diagnostic }: IsolationSetup,
): Promise<Result<LaunchedServer, string>> {
  if (home === undefined) return err("This gateway has no state folder, so it cannot isolate a server.");
  const plan = { target, order, stateFolder: home, workspace: [target.workingDirectory], limits };
  const launched = await launch({ ...plan, stderrLine: diagnostic });
  if (!launched.ok) return launched;
  const projection = openProjection(launched.value, order, { clock, offsetMs: performance.timeOrigin, diagnostic });
  return ok({ process: launched.value.process, projection });
}
