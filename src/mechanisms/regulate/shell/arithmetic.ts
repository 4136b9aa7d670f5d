/**
 * Whether the text of `$((...))` is arithmetic. Where it is not, some shells run it as commands in brackets, so what is
 * taken for arithmetic must be nothing else.
 */

const token =
  /\s+|\d\w*(?:[#.]\w+)?|[A-Za-z_]\w*|\+\+|--|<<=?|>>=?|[<>=!]=|&&|\|\||\*\*|[-+*/%&|^]=|[-+*/%&|^<>=?:,;!~()[\]{}]/y;

/** Well-formed arithmetic; substitutions stand as `1`. A `;` separates the three parts of a loop. */
export function isArithmetic(text: string): boolean {
  // `value`: an operand is due. `joined`: an operator, or the end.
  let due: "value" | "joined" = "value";
  let open = 0;
  let empty = true;
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const found = token.exec(text)?.[0];
    if (found === undefined) return false;
    if (/^\s/.test(found)) continue;
    empty = false;
    if (/^\w/.test(found)) {
      if (due === "joined") return false;
      due = "joined";
    } else if (found === ";") {
      if (open > 0) return false;
      due = "value";
      empty = true;
    } else if (/^[([{]$/.test(found)) {
      // After a value only an index may open.
      if (due === "joined" && found !== "[") return false;
      open += 1;
      due = "value";
    } else if (/^[)\]}]$/.test(found)) {
      if (due === "value") return false;
      open -= 1;
    } else if (due === "value") {
      if (!/^(?:\+\+|--|[-+!~])$/.test(found)) return false;
    } else if (/^[!~]$/.test(found)) return false;
    else if (found !== "++" && found !== "--") due = "value";
    if (open < 0) return false;
  }
  return open === 0 && (due === "joined" || empty);
}
