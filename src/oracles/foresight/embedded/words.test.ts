import { expect, test } from "vitest";
import { hashText, mix, nameUnitsMax, wordHashes } from "./words.ts";

test("one name has the same words in every spelling", () => {
  const words = ["send", "mail", "now"].map((word) => hashText(word));
  for (const name of [
    "sendMailNow",
    "SendMailNow",
    "send_mail_now",
    "send-mail-now",
    "SEND MAIL NOW",
    "__send.mail/now",
  ])
    expect(wordHashes(name), name).toEqual(words);
});

test("letters beyond ASCII are letters, and a part of a text hashes like itself", () => {
  expect(wordHashes("größe_ändern")).toHaveLength(2);
  expect(hashText("xsendx", 1, 5)).toBe(hashText("send"));
  expect(hashText("Send")).toBe(hashText("send"));
});

test("a name is read up to its limit and gives at most eight words", () => {
  expect(wordHashes("a_".repeat(40))).toHaveLength(8);
  expect(wordHashes("x".repeat(10_000))).toEqual([hashText("x".repeat(nameUnitsMax))]);
  expect(wordHashes("")).toEqual([]);
});

test("the order of a pair counts", () => {
  expect(mix(1, 2)).not.toBe(mix(2, 1));
  expect(mix(0, 0)).toBe(mix(0, 0));
});
