/** State of one call from its begin until its trace was asked for. */
import type { WorkspaceChange } from "../../../core/isolation/effect-trace.ts";
import { EventBag } from "./collapse.ts";

export type CallRecord = {
  readonly call: string;
  readonly events: EventBag;
  /** Changes in the workspace that were found for the call so far, by path. */
  readonly told: Map<string, WorkspaceChange>;
  /** Sightings that the tracer had lost when the call began, and when it ended. */
  readonly lostBefore: number;
  lostAfter: number | undefined;
  /** True if the broker counts the call; the call's end is then reported to it. */
  readonly granted: boolean;
  readonly stopClock: () => void;
  /** Stops the wait that gives the turn back if the trace or the verdict does not come. */
  stopWaiting: () => void;
};
