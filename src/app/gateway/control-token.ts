/** The token that proves a trusted act on runs over HTTP: its bearer can read a file of the gateway's user. */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Header that carries the control token; a bearer token would be taken for a run's. */
export const controlHeader = "sluicegate-control";

export type ControlToken = { readonly token: string; readonly file: string };

/** A new token for each start, in a file of the state folder that only this user can read. */
export function makeControlToken(home: string): ControlToken {
  const file = join(home, "control.token");
  const token = randomBytes(24).toString("hex");
  rmSync(file, { force: true });
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  return { token, file };
}

export function sameToken(given: string, token: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(token)];
  return left.length === right.length && timingSafeEqual(left, right);
}
