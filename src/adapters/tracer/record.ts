/**
 * One traced act as bytes, on its way from the supervisor to the gateway. Texts are the bytes that the kernel was
 * given, which need not be UTF-8; in JavaScript they travel as one character per byte until the gateway decodes them.
 *
 * Layout, little-endian: u32 bytes of the record, u8 action, u8 outcome, u8 transport, u8 spare, u32 process, u16 port,
 * u16 spare, f64 monotonic ms of the system, u16 bytes of each of the four texts, then the texts.
 */
import {
  type EffectAction,
  effectActions,
  type EffectOutcome,
  effectOutcomes,
  traceTextCharactersMax,
} from "../../core/isolation/effect-trace.ts";
import type { Sighting } from "../projection/parts.ts";

/** An act that a supervisor saw; all texts as one character per byte. */
export type Act = {
  readonly action: EffectAction;
  readonly outcome: EffectOutcome;
  readonly path?: string;
  readonly target?: string;
  readonly address?: string;
  readonly port?: number;
  readonly transport?: "tcp" | "udp" | "unix";
  /** The arguments of a program, or for other actions the name of the call where it says more. */
  readonly extra?: string;
};

const transports = [undefined, "tcp", "udp", "unix"] as const;
const headBytes = 32;
const textBytesMax = 8_192;

/** Writes a record into `out` and returns its length. Texts beyond a bound far above the kernel's are cut. */
export function encodeRecord(act: Act, process: number, at: number, out: Buffer): number {
  let place = headBytes;
  const put = (text: string | undefined, lengthAt: number): void => {
    const bytes = text === undefined ? 0 : out.write(text.slice(0, textBytesMax), place, "latin1");
    out.writeUInt16LE(bytes, lengthAt);
    place += bytes;
  };
  out[4] = effectActions.indexOf(act.action);
  out[5] = effectOutcomes.indexOf(act.outcome);
  out[6] = transports.indexOf(act.transport);
  out.writeUInt32LE(process, 8);
  out.writeUInt16LE(act.port ?? 0, 12);
  out.writeDoubleLE(at, 16);
  put(act.path, 24);
  put(act.target, 26);
  put(act.address, 28);
  put(act.extra, 30);
  out.writeUInt32LE(place, 0);
  return place;
}

/** Bytes that any record fits into. */
export const recordBytesMax: number = headBytes + 4 * textBytesMax;

/**
 * Reads all records in `bytes`. `shiftMs` is added to the system's monotonic time to give that of the gateway.
 * Undefined if the bytes are not a sequence of records, which only a bug of the supervisor can cause.
 */
export function decodeRecords(bytes: Buffer, shiftMs: number): readonly Sighting[] | undefined {
  const sightings: Sighting[] = [];
  for (let start = 0; start < bytes.length;) {
    if (start + headBytes > bytes.length) return undefined;
    const length = bytes.readUInt32LE(start);
    if (length < headBytes || start + length > bytes.length) return undefined;
    const sighting = decode(bytes.subarray(start, start + length), shiftMs);
    if (sighting === undefined) return undefined;
    sightings.push(sighting);
    start += length;
  }
  return sightings;
}

function decode(record: Buffer, shiftMs: number): Sighting | undefined {
  let place = headBytes;
  const text = (lengthAt: number): string | undefined => {
    const bytes = record.readUInt16LE(lengthAt);
    const start = place;
    place += bytes;
    return bytes === 0 ? undefined : textOf(record.subarray(start, place));
  };
  const action = effectActions[record[4] ?? 0];
  const outcome = effectOutcomes[record[5] ?? 0];
  const transport = transports[record[6] ?? 0];
  const port = record.readUInt16LE(12);
  const at = record.readDoubleLE(16) + shiftMs;
  const [path, target, address, extra] = [text(24), text(26), text(28), text(30)];
  if (action === undefined || outcome === undefined || place > record.length) return undefined;
  const spawn = action === "process-spawn";
  return {
    at,
    action,
    outcome,
    grade: "hint",
    process: record.readUInt32LE(8),
    ...(path === undefined ? {} : spawn ? { program: path } : { path }),
    ...(target === undefined ? {} : { target }),
    ...(address === undefined ? {} : { address }),
    ...(transport === "tcp" || transport === "udp" ? { port } : {}),
    ...(transport === undefined ? {} : { transport }),
    ...(extra === undefined ? {} : spawn ? { commandLine: extra } : { detail: extra }),
  };
}

/** Bytes of a server as text of bounded length; invalid UTF-8 becomes replacement characters. */
function textOf(bytes: Buffer): string {
  return shortened(bytes.toString("utf8"));
}

/** A text of an event within its bound. */
export function shortened(text: string): string {
  if (text.length <= traceTextCharactersMax) return text;
  return `${text.slice(0, traceTextCharactersMax - 1).toWellFormed()}…`;
}
