// UTF-8, forth and back.
{
  globalThis.TextEncoder = class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(from = '') {
      from = `${from}`;
      const bytes = [];
      for (const character of from) {
        let code = character.codePointAt(0);
        if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
        if (code < 0x80) bytes.push(code);
        else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
        else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
        else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
      }
      return new Uint8Array(bytes);
    }
  };
  globalThis.TextDecoder = class TextDecoder {
    #fatal;
    constructor(label = 'utf-8', options = {}) {
      label = `${label}`.toLowerCase();
      if (label !== 'utf-8' && label !== 'utf8') throw new RangeError('only utf-8 can be decoded');
      this.#fatal = Boolean(options.fatal);
    }
    get encoding() { return 'utf-8'; }
    decode(from = new Uint8Array()) {
      const bytes = ArrayBuffer.isView(from) ? new Uint8Array(from.buffer, from.byteOffset, from.byteLength) : new Uint8Array(from);
      let made = '';
      let at = bytes.length > 2 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
      while (at < bytes.length) {
        const first = bytes[at++];
        let more = first < 0x80 ? 0 : first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xf0 && first < 0xf5 ? 3 : -1;
        let code = more < 1 ? first : first & (0x3f >> more);
        let is_valid = more >= 0;
        for (let step = 0; is_valid && step < more; step++) {
          const next = bytes[at];
          const low = step > 0 ? 0x80 : first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
          const high = step > 0 ? 0xbf : first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
          if (next === undefined || next < low || next > high) is_valid = false;
          else {
            code = (code << 6) | (next & 63);
            at++;
          }
        }
        if (!is_valid && this.#fatal) throw new TypeError('this is not UTF-8');
        made += is_valid ? String.fromCodePoint(code) : '\ufffd';
      }
      return made;
    }
  };
}
