// Chance as the service: dice.
import { randomInt } from "node:crypto";
import { number, serve } from "../base.ts";

const sidesMax = 1_000;

await serve("jokes", [
  {
    name: "roll_dice",
    description: "Rolls a dice with the given number of sides.",
    parameters: { sides: number },
    readOnly: true,
    call: ({ sides }) => String(randomInt(1, Math.min(Math.max(Number(sides), 2), sidesMax) + 1)),
  },
]);
