/** Where a text of a run comes from: enough for one step of an explanation. */
import type { LabelRange } from "../../core/label.ts";

export type Origin = {
  /** Call whose result held the text, or `instruction`, `operator`, `message` for text outside any call. */
  readonly origin: string;
  readonly server?: string;
  readonly tool?: string;
  readonly pointer: string;
  readonly range: LabelRange;
};
