/** What entries of the log say of the streams of lineages. */

/**
 * An entry and the stream that the runs of a lineage share (docs/decisions/0033). An entry of the stream itself has a
 * number, greater than all before it, and names the run in whose own log its event stands (none: the stream's start).
 */
export type StreamNote =
  | { readonly n: number; readonly by: string }
  | {
      /** Run key of the stream that the run is a member of. */
      readonly of: string;
      /** The run becomes a member: it takes what comes after this number, and `whole` all up to it as well. */
      readonly joined?: number;
      readonly whole?: true;
      /** The number up to which the run held the stream before the events of this entry; where it moved. */
      readonly heard?: number;
      /** The run is no member any more, behind this entry. */
      readonly left?: true;
    };

/** A stream up to the entry with this number. */
export type Heard = {
  readonly of: string;
  readonly n: number;
  /** Of its records up to this one nothing is missing: entries in them with greater numbers are those of the reader itself. */
  readonly record?: { readonly writer: number; readonly seq: number; readonly fingerprint: string };
};
