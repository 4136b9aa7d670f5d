// What the policy language cannot say: whether an account number is one. `accounts.yaml` asks it.
import type { ProgramCall } from "sluicegate/policy";

/** Refuses an IBAN whose check digits do not fit (ISO 13616: the number modulo 97 is 1). */
export function badIban({ arguments: given }: ProgramCall): boolean {
  const written = given["iban"];
  const iban = typeof written === "string" ? written.replaceAll(" ", "").toUpperCase() : "";
  if (!/^[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}$/.test(iban)) return true;
  const turned = `${iban.slice(4)}${iban.slice(0, 4)}`;
  const digits = turned.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return BigInt(digits) % 97n !== 1n;
}
