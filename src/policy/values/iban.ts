/** International bank account numbers (ISO 13616): no spaces, upper case, right check digits. */
import { canonicalTextUnitsMax } from "./limits.ts";
import { normaliseText } from "./text.ts";

const shape = /^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$/;

export function canonicalIban(text: string): string | undefined {
  if (text.length > canonicalTextUnitsMax) return undefined;
  const given = normaliseText(text).replaceAll(" ", "");
  // Only ASCII letters are raised: `ı`.toUpperCase() is `I`, which would equate two different code points.
  const number = given.replace(/[a-z]/g, (letter) => letter.toUpperCase());
  return shape.test(number) && remainder(number) === 1 ? number : undefined;
}

/** ISO 7064 mod 97-10 of the number with its first four characters moved to the end. */
function remainder(number: string): number {
  let rest = 0;
  for (const character of number.slice(4) + number.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}
