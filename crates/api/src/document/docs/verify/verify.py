import hashlib
import hmac
import time


def verify(raw_body: bytes, header: str, secret: str, now_s: int | None = None) -> bool:
    now_s = int(time.time()) if now_s is None else now_s
    pairs = [part.strip().partition("=") for part in header.split(",")]
    t = next((value for name, _, value in pairs if name == "t"), "")
    if not t.isdecimal() or abs(now_s - int(t)) > 300:
        return False
    message = t.encode() + b"." + raw_body
    expected = hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()
    given = [value for name, _, value in pairs if name == "v1"]
    return any(hmac.compare_digest(expected.encode(), value.encode()) for value in given)
