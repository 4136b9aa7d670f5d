/** One thing that `doctor` looked at. A note is worth knowing and no reason to stop. */
export type Check = {
  readonly name: string;
  readonly state: "ok" | "note" | "failed";
  /** What was found, and where it is not as it should be, what to do. */
  readonly sentence: string;
};

const lengthMax = 240;

function check(name: string, state: Check["state"], sentence: string): Check {
  return { name, state, sentence: sentence.length <= lengthMax ? sentence : `${sentence.slice(0, lengthMax - 3)}...` };
}

export const passed = (name: string, sentence: string): Check => check(name, "ok", sentence);
export const noted = (name: string, sentence: string): Check => check(name, "note", sentence);
export const failed = (name: string, sentence: string): Check => check(name, "failed", sentence);
