import { expect, it } from "vitest";
import { isArithmetic } from "./arithmetic.ts";

it.each([
  "",
  "1",
  " 1 + 2 * ( 3 - x ) ",
  "i++ , --j",
  "a[1] = b[i+1] ? 2 : 16#ff",
  "x <<= 2, y ** 3 && !z || ~w",
  "i=0; i<3; i++",
  ";;",
  "- - 1",
  "rm - rf",
])("arithmetic: %j", (text) => {
  expect(isArithmetic(text)).toBe(true);
});

it.each([
  "crontab -",
  "curl x",
  "sh; (ls",
  "(1; 2)",
  "ls 'a'",
  "()",
  "1 +",
  "(1",
  "1)",
  "f(1)",
  "a.example",
  "x ! y",
  "* 2",
  "a$b",
])("commands: %j", (text) => {
  expect(isArithmetic(text)).toBe(false);
});
