// What people are used to find, and none of which reaches outside.
{
  const text = (value) => {
    value = `${value}`;
    pay(value.length * 16);
    return value;
  };
  globalThis.atob = function atob(from) { return host.atob(text(from)); };
  globalThis.btoa = function btoa(from) { return host.btoa(text(from)); };
  globalThis.sha256Hex = function sha256Hex(of) { return host.sha256(text(of)); };
  globalThis.hmacSha256Hex = function hmacSha256Hex(key, of) { return host.hmac(text(key), text(of)); };
  globalThis.uuid = function uuid() { return host.uuid(); };
  globalThis.crypto = { randomUUID: globalThis.uuid };
}
