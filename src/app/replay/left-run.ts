/** A run whose records left the log by retention, in words: which record says so, and since when. */
import { type Result, err, ok } from "../../core/result.ts";
import { readPruning } from "../../gateway/log/retention/pruning.ts";
import { type LogFault, type OpenedLog, storeFault } from "../state/log-files.ts";
import { inMebibytes } from "../state/log-retention.ts";
import { shown } from "../state/sentences.ts";

/** A sentence where nothing of the run is left to be read; undefined where it has records, or the log never had it. */
export async function leftSentence(
  { store }: Pick<OpenedLog, "store">,
  run: string,
): Promise<Result<string | undefined, LogFault>> {
  const mark = await store.prunedBy(run);
  if (!mark.ok) return err(storeFault(mark.error));
  if (mark.value === undefined) return ok(undefined);
  const { writer, seq } = mark.value;
  // Its key may have been used anew since.
  const since = await store.runHeads(run, mark.value, 1);
  if (!since.ok) return err(storeFault(since.error));
  if (since.value.length > 0) return ok(undefined);
  const read = await store.records({ writer, after: { writer, seq: seq - 1 }, order: "oldest", limit: 1 });
  const [found] = read.ok ? read.value : [];
  const record = found?.writer === writer && found.seq === seq ? found : undefined;
  const pruning = record === undefined ? undefined : readPruning(record);
  const when = pruning === undefined ? "" : ` on ${pruning.wallTime.slice(0, 10)}`;
  const limit = pruning?.keepBytes;
  const days = pruning === undefined ? "" : `, ${pruning.keepDays} days after its end`;
  const why = limit === undefined ? days : `, since the log needed more than ${inMebibytes(limit)}`;
  const by = `as record ${writer}/${seq} ${pruning === undefined ? "said, which was summed up since" : "says"}`;
  const said = `The records of the run \`${shown(run, 60)}\` left the log${when}${why}, ${by}.`;
  return ok(`${said} To keep later runs for longer, raise \`audit.${limit === undefined ? "keepDays" : "keepMb"}\`.`);
}

/** The fault of a command that needs the records of a run that left. */
export async function leftFault(log: Pick<OpenedLog, "store">, run: string): Promise<Result<void, LogFault>> {
  const sentence = await leftSentence(log, run);
  if (!sentence.ok) return sentence;
  return sentence.value === undefined ? ok(undefined) : err({ code: "SG-AUDIT-LEFT", sentence: sentence.value });
}
