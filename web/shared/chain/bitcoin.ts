// Bitcoin: the account's child key and its P2WPKH address. Loaded only where Bitcoin is offered.

import { hmac } from '@noble/hashes/hmac.js'
import { ripemd160 } from '@noble/hashes/legacy.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { bech32, bech32m, createBase58check } from '@scure/base'
import { concat } from './bytes.ts'
import { toNumber, tweaked } from './secp256k1.ts'

const base58check = createBase58check(sha256)

/** The bytes that an extended public key begins with: of the main network and of the test networks. */
const MAIN = 0x0488b21e
const TEST = 0x043587cf
/** The same keys under the names that say P2WPKH: zpub and vpub. */
const RENAMED = new Map([
  [0x04b24746, MAIN],
  [0x045f1cf6, TEST],
])
/** An account's key: three levels below its seed. */
const ACCOUNT_DEPTH = 3

/** The account key as the server writes it (xpub or tpub), or null. */
export function readAccountKey(text: string, main: boolean): string | null {
  try {
    const bytes = base58check.decode(text)
    if (bytes.length !== 78 || bytes[4] !== ACCOUNT_DEPTH) return null
    const view = new DataView(bytes.buffer, bytes.byteOffset)
    const version = RENAMED.get(view.getUint32(0)) ?? view.getUint32(0)
    if (version !== (main ? MAIN : TEST)) return null
    view.setUint32(0, version)
    return base58check.encode(bytes)
  } catch {
    return null
  }
}

/** External chain, and an index without hardening. */
const PATH = /^0\/(0|[1-9][0-9]{0,9})$/
const INDEX_END = 2 ** 31

/** A public key and what its children are made with. */
interface Extended {
  key: Uint8Array
  chain: Uint8Array
}

/** BIP-32: the child of that number, or null where there is none (once in 2^127). */
function child(parent: Extended | null, index: number): Extended | null {
  if (parent === null) return null
  const number = new Uint8Array(4)
  new DataView(number.buffer).setUint32(0, index)
  const hash = hmac(sha512, parent.chain, concat(parent.key, number))
  const key = tweaked(parent.key, toNumber(hash.slice(0, 32)))
  return key && { key, chain: hash.slice(32) }
}

/** Version, depth, fingerprint and number come first: 13 bytes, then the chain code and the key. */
function readExtended(text: string, version: number): Extended | null {
  const bytes = base58check.decode(text)
  const isOurs = bytes.length === 78 && new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) === version
  return isOurs ? { key: bytes.slice(45), chain: bytes.slice(13, 45) } : null
}

export function deriveBitcoin(accountKey: string, path: string, main: boolean, hrp: string): string | null {
  const index = PATH.exec(path)?.[1]
  if (index === undefined || Number(index) >= INDEX_END) return null
  try {
    const account = readExtended(accountKey, main ? MAIN : TEST)
    const found = child(child(account, 0), Number(index))
    if (!found) return null
    const program = ripemd160(sha256(found.key))
    return bech32.encode(hrp, [0, ...bech32.toWords(program)])
  } catch {
    return null
  }
}

/** The first bytes of P2PKH and P2SH addresses. */
const OLD_FORMS = { main: [0x00, 0x05], test: [0x6f, 0xc4] }

/** Any address that money can be sent to today, in canonical form, or null. */
export function readBitcoin(text: string, main: boolean, hrp: string): string | null {
  return readWitness(text, hrp) ?? readOldForm(text, main ? OLD_FORMS.main : OLD_FORMS.test)
}

function readOldForm(text: string, versions: number[]): string | null {
  try {
    const bytes = base58check.decode(text)
    return bytes.length === 21 && versions.includes(bytes[0] as number) ? text : null
  } catch {
    return null
  }
}

/** P2WPKH, P2WSH and P2TR. Other witness programs are valid to write and anyone's to spend. */
function readWitness(text: string, hrp: string): string | null {
  for (const [coding, version, lengths] of [
    [bech32, 0, [20, 32]],
    [bech32m, 1, [32]],
  ] as const) {
    try {
      const read = coding.decode(text as `${string}1${string}`)
      const program = coding.fromWords(read.words.slice(1))
      const known = read.words[0] === version && (lengths as readonly number[]).includes(program.length)
      if (read.prefix === hrp && known) return text.toLowerCase()
    } catch {
      // Not in this coding.
    }
  }
  return null
}
