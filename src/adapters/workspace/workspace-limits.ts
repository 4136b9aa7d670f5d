/** Named limits of the workspace projection, the unit last. A server chooses what it writes; these bound the answer. */

/** Entries of an upper layer or a copy that are looked at; with more, nothing is committed. */
export const scanEntriesMax = 100_000;
/** Changes of one verdict that are written into a workspace; with more, all of them are held for review. */
export const commitChangesMax = 20_000;
/** Parts of a path. Deeper folders are refused, so that no walk is long because a server wanted it so. */
export const pathPartsMax = 64;
/** Content that is compared to tell a touched file from a changed one; a larger one counts as changed. */
export const compareBytesMax = 4 * 1024 * 1024;
/**
 * The same for a committed file, which is read once more if its times are inconclusive: an equal one is not a change.
 */
export const recompareBytesMax = 512 * 1024 * 1024;
/** Entries of a workspace that a copy takes. */
export const copyEntriesMax = 50_000;
/** Entries that are looked at before others may run. */
export const entriesPerTurn = 512;
/** Files whose content is forced to disk at the same time. */
export const syncedFilesMax = 64;
/** Change times come from a clock that stands still between ticks, so they may lie this much in the past. */
export const clockSlackMs = 10;
/** Folders of a layer whose names are remembered between two looks. */
export const listedFoldersMax = 10_000;
/** A file changed this shortly before it was looked at may change again without its times telling. */
export const racyMs = 20;
/** Copies of one run's accepted writes; with more, they are joined into one. */
export const savedCopiesMax = 32;
/** Held changes that are listed. */
export const heldChangesMax = 1_000;
/** Manifest of a held change that is read. */
export const manifestBytesMax = 64 * 1024 * 1024;
/** Lines of one side of a diff, and edits between both; beyond them a file is shown by its sizes. */
export const diffLinesMax = 20_000;
export const diffEditsMax = 2_000;
export const diffBytesMax = 1024 * 1024;
/** Unchanged lines shown around a changed one. */
export const diffContextLines = 3;
