import { createHmac, timingSafeEqual } from "node:crypto";

// rawBody is the Buffer that arrived, before any JSON parsing.
export function verify(rawBody, header, secret, nowS = Math.floor(Date.now() / 1000)) {
  const pairs = header.split(",").map((part) => part.trim().split("="));
  const t = pairs.find(([name]) => name === "t")?.[1] ?? "";
  if (!/^[0-9]+$/.test(t) || Math.abs(nowS - Number(t)) > 300) return false;

  const expected = createHmac("sha256", secret).update(`${t}.`).update(rawBody).digest();
  return pairs.some(
    ([name, value]) =>
      name === "v1" &&
      /^[0-9a-f]{64}$/.test(value ?? "") &&
      timingSafeEqual(Buffer.from(value, "hex"), expected),
  );
}
