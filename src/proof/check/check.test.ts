import { describe, expect, it } from "vitest";
import { certificate, changeable, policy, sha256, tools, withPolicy } from "../../../test/proof-kit/first-example.ts";
import { checkCertificate } from "./check.ts";

const present = { hash: sha256, policyDigest: certificate.digest, tools, manifests: certificate.manifests };

it("law: the hand-written certificate of the first worked example is accepted", () => {
  expect(checkCertificate(certificate, present)).toEqual({
    ok: true,
    hazard: "leak",
    core: ["no-private-write", "no-private-grant"],
  });
  expect(checkCertificate(JSON.parse(JSON.stringify(certificate)), { hash: sha256 })).toMatchObject({ ok: true });
});
