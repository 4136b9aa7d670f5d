/** Reaches the layers of an overlay that a launcher mounted in namespaces of its own. */
import { statfsSync } from "node:fs";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import { HeldFolder } from "./held-folder.ts";
import { reasonOf } from "./system-reason.ts";
import type { OverlayLayers } from "./upper.ts";

/** Types of file systems as `statfs(2)` tells them. */
const overlayMagic = 0x794c7630;
const tmpfsMagic = 0x01021994;

type Where = {
  /** Process in the mount namespace. */
  readonly holder: number;
  readonly upper: string;
  readonly workspace: string;
};

/**
 * Opens upper, merged and lower folder. Checked to be what they should be: an overlay that was not mounted would show
 * the workspace itself as an unchanged projection, while the server writes into it.
 */
export function openLayers({ holder, upper, workspace }: Where): Result<OverlayLayers, string> {
  const opened: HeldFolder[] = [];
  const open = (path: string): HeldFolder => {
    const folder = HeldFolder.open(path);
    opened.push(folder);
    return folder;
  };
  try {
    const root = `/proc/${holder}/root`;
    const layers = { upper: open(`${root}${upper}`), merged: open(`${root}${workspace}`), lower: open(workspace) };
    const isOverlay = statfsSync(layers.merged.at("")).type === overlayMagic;
    const isTmpfs = statfsSync(layers.upper.at("")).type === tmpfsMagic;
    if (isOverlay && isTmpfs) return ok(layers);
    for (const folder of opened) folder.close();
    return err("The overlay over the workspace is not mounted, so writes could not be taken back: report this.");
  } catch (cause) {
    for (const folder of opened) folder.close();
    return err(
      `The projection of the workspace cannot be reached (${reasonOf(cause)}): the server ended while it started; its stderr in the log may say why.`,
    );
  }
}
