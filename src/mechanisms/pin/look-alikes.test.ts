import { expect, it } from "vitest";
import { asLatin, mixesScripts, nameFindings, skeleton, withoutPraise } from "./look-alikes.ts";

it("sees through letters of other scripts", () => {
  expect(mixesScripts("pаypal")).toBe(true); // Cyrillic a
  expect(mixesScripts("paypal")).toBe(false);
  expect(mixesScripts("привет")).toBe(false);
  expect(asLatin("ignοre")).toBe("ignore"); // Greek o
  expect(asLatin("привет")).toBe("привет");
  expect(skeleton("Ｓend_Mail")).toBe("sendmail");
});

it("finds a name in look-alike letters", () => {
  expect(nameFindings("sеnd_mail", [], [])).toEqual(["look-alike.letters"]); // Cyrillic e
  // All letters of one script, taken for another tool's name.
  expect(nameFindings("ѕсоре", ["scope"], [])).toEqual(["look-alike.letters"]);
  expect(nameFindings("ѕсоре", ["other"], [])).toEqual([]);
  expect(nameFindings("send-mail", ["send_mail"], [])).toEqual([]);
});

it("finds a known name with praise around it, whoever offers the other", () => {
  expect(withoutPraise("Premium_sendMail")).toEqual({ name: "send_mail", praised: true });
  expect(nameFindings("premium_send_mail", ["send_mail"], [])).toEqual(["look-alike.praised"]);
  expect(nameFindings("SecureSendMail", [], ["send_mail"])).toEqual(["look-alike.praised"]);
  expect(nameFindings("premium_send_mail", ["list_mail"], [])).toEqual([]);
  // Nothing but praise is no name of anything.
  expect(nameFindings("premium", ["best"], [])).toEqual([]);
});

it("finds a name of another server with a version or an article added, not one of its own server", () => {
  expect(nameFindings("send_the_mail", [], ["send_mail"])).toEqual(["look-alike.same-name"]);
  expect(nameFindings("send_mail_v2", [], ["send_mail"])).toEqual(["look-alike.same-name"]);
  expect(nameFindings("send_mail_v2", ["send_mail"], [])).toEqual([]);
  expect(nameFindings("send_mail", [], ["send_mail"])).toEqual([]);
});

it("attack: a list as long as its server likes is compared with itself in one pass, and no name with itself", () => {
  let looks = 0;
  const counted = (names: readonly string[]): readonly string[] =>
    new Proxy(names, {
      get: (target, key) => {
        looks += typeof key === "string" && /^\d+$/.test(key) ? 1 : 0;
        return Reflect.get(target, key) as unknown;
      },
    });
  const names = [...Array.from({ length: 500 }, (_, index) => `best_tool_${index}é`), "send_mail", "best_send_mail"];
  const siblings = counted(names);
  const found = names.flatMap((name) => nameFindings(name, siblings, []).map((finding) => [name, finding]));
  expect(found).toEqual([["best_send_mail", "look-alike.praised"]]);
  expect(looks).toBeLessThan(2 * names.length);
  expect(nameFindings("best_x", ["best_x", "best_x"], [])).toEqual([]);
  expect(nameFindings("best_x", ["best_x", "x", "the_x"], [])).toEqual(["look-alike.praised"]);
});
