/** The value of `read`, or `otherwise` where it throws: for files, links and processes that may vanish at any time. */
export function attempt<T, F>(read: () => T, otherwise: F): T | F {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
