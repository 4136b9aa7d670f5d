/** Names under which programs are given what signs them in. */
const secretName =
  /(?:^|[_-])(?:token|secret|password|passwd|pwd|pat|credentials?|auth|apikey|cookie|dsn)(?:$|[_-])|(?:api|access|private|secret|auth)[_-]?key|bearer|connection[_-]?string|database[_-]?ur[il]|postgres(?:ql)?[_-]?ur[il]/i;

/** Working directories, whose names look like a password's. */
const places: ReadonlySet<string> = new Set(["PWD", "OLDPWD"]);

/** Whether a variable, header or option of this name holds a secret. */
export function looksSecret(name: string): boolean {
  return !places.has(name) && secretName.test(name);
}
