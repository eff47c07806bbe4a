// The curve of Bitcoin's keys, as far as a public key's children need it: adding points, and multiples of the
// generator. Only what everybody may know goes in, so that nothing here has to hide how long it takes; and a result
// is only ever compared with an address that came from elsewhere, so that a mistake shows none.

const P = 2n ** 256n - 2n ** 32n - 977n
export const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const GENERATOR = [
  0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
  1n,
] as const

const mod = (value: bigint) => ((value % P) + P) % P

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let left = exponent, square = base; left > 0n; left >>= 1n, square = mod(square * square)) {
    if (left & 1n) result = mod(result * square)
  }
  return result
}

const inverse = (value: bigint) => power(mod(value), P - 2n)

/** Points as X/Z² and Y/Z³, which are added without dividing; Z is zero at infinity. */
type Scaled = readonly [x: bigint, y: bigint, z: bigint]
const NOWHERE: Scaled = [0n, 1n, 0n]

function doubled([x, y, z]: Scaled): Scaled {
  const square = mod(y * y)
  const s = mod(4n * x * square)
  const m = mod(3n * x * x)
  const x3 = mod(m * m - 2n * s)
  return [x3, mod(m * (s - x3) - 8n * square * square), mod(2n * y * z)]
}

function plus(a: Scaled, b: Scaled): Scaled {
  if (a[2] === 0n) return b
  if (b[2] === 0n) return a
  const [za, zb] = [mod(a[2] * a[2]), mod(b[2] * b[2])]
  const [xa, xb] = [mod(a[0] * zb), mod(b[0] * za)]
  const [ya, yb] = [mod(a[1] * zb * b[2]), mod(b[1] * za * a[2])]
  if (xa === xb) return ya === yb ? doubled(a) : NOWHERE
  const [h, r] = [mod(xb - xa), mod(yb - ya)]
  const square = mod(h * h)
  const [cube, v] = [mod(square * h), mod(xa * square)]
  const x = mod(r * r - cube - 2n * v)
  return [x, mod(r * (v - x) - ya * cube), mod(h * a[2] * b[2])]
}

function times(point: Scaled, scalar: bigint): Scaled {
  let sum = NOWHERE
  for (let left = scalar, double = point; left > 0n; left >>= 1n, double = doubled(double)) {
    if (left & 1n) sum = plus(sum, double)
  }
  return sum
}

export function toNumber(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

/** The point of a compressed public key (SEC 1), or null when there is none on the curve. */
function read(key: Uint8Array): Scaled | null {
  const x = toNumber(key.slice(1))
  if (key.length !== 33 || (key[0] !== 2 && key[0] !== 3) || x >= P) return null
  const square = mod(x ** 3n + 7n)
  const root = power(square, (P + 1n) / 4n)
  if (mod(root * root) !== square) return null
  return [x, (root & 1n) === BigInt(key[0] & 1) ? root : P - root, 1n]
}

/** The compressed public key `key + tweak·G`, or null when the key is none or nothing is left. */
export function tweaked(key: Uint8Array, tweak: bigint): Uint8Array | null {
  const point = read(key)
  if (point === null || tweak >= ORDER) return null
  const [x, y, z] = plus(point, times(GENERATOR, tweak))
  if (z === 0n) return null
  const unit = inverse(z)
  const bytes = new Uint8Array(33)
  bytes[0] = mod(y * unit ** 3n) & 1n ? 3 : 2
  for (let at = 32, left = mod(x * unit * unit); at > 0; at--, left >>= 8n) bytes[at] = Number(left & 0xffn)
  return bytes
}
