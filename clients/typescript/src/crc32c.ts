const POLYNOMIAL = 0x82f63b78;
const TABLE = buildTable();

function buildTable(): Uint32Array {
  const table = new Uint32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
    table[byte] = value >>> 0;
  }
  return table;
}

/** CRC-32C of bytes that come in parts, as Google's upload protocol writes it. */
export class Crc32c {
  private state = 0xffffffff;

  update(bytes: Uint8Array): void {
    let state = this.state;
    for (let index = 0; index < bytes.length; index++) {
      state = TABLE[(state ^ bytes[index]!) & 0xff]! ^ (state >>> 8);
    }
    this.state = state >>> 0;
  }

  /** Base64 of the four bytes, most significant first. */
  base64(): string {
    const value = (this.state ^ 0xffffffff) >>> 0;
    return btoa(String.fromCharCode(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255));
  }
}
