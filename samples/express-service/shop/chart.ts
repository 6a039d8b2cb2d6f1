import { deflateSync } from 'node:zlib';

const WIDTH = 420;
const HEIGHT = 180;
const MARGIN = 20;
type Color = readonly [number, number, number];
const PAPER: Color = [250, 248, 243];
const BAR: Color = [178, 84, 45];
const LINE: Color = [190, 184, 172];

/** A PNG with a bar for each value. */
export function barChart(values: readonly number[]): Buffer {
  const pixels = Buffer.alloc(WIDTH * HEIGHT * 3);
  const fill = (left: number, top: number, right: number, bottom: number, color: Color): void => {
    for (let y = top; y < bottom; y += 1) {
      for (let x = left; x < right; x += 1) pixels.set(color, (y * WIDTH + x) * 3);
    }
  };
  fill(0, 0, WIDTH, HEIGHT, PAPER);
  const floor = HEIGHT - MARGIN;
  const step = Math.floor((WIDTH - 2 * MARGIN) / values.length);
  const highest = Math.max(...values, 1);
  for (const part of [0.25, 0.5, 0.75, 1]) {
    const y = Math.round(floor - part * (floor - MARGIN));
    fill(MARGIN, y, WIDTH - MARGIN, y + 1, LINE);
  }
  for (const [index, value] of values.entries()) {
    const left = MARGIN + index * step + Math.round(step * 0.2);
    fill(left, Math.round(floor - (value / highest) * (floor - MARGIN)), left + Math.round(step * 0.6), floor, BAR);
  }
  fill(MARGIN, floor, WIDTH - MARGIN, floor + 2, LINE);
  return png(pixels);
}

/** The PNG specification, sections 5 and 11: signature, header, one compressed run of unfiltered rows, end. */
function png(pixels: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  header.set([8, 2], 8); // 8 bits each of red, green and blue
  const rows = Array.from({ length: HEIGHT }, (_, y) => [
    Buffer.of(0),
    pixels.subarray(y * WIDTH * 3, (y + 1) * WIDTH * 3),
  ]);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows.flat()))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}

function crc(bytes: Buffer): number {
  let remainder = 0xffffffff;
  for (const byte of bytes) {
    remainder ^= byte;
    for (let bit = 0; bit < 8; bit += 1) remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1;
  }
  return (remainder ^ 0xffffffff) >>> 0;
}
