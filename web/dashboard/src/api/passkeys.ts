// The browser's passkeys. Options and answers travel as the JSON that browsers and the API both speak.

/** The person closed the browser's window, or it timed out: nothing happened. */
export class Declined extends Error {
  override name = 'Declined'
}

export const hasPasskeys = () => typeof PublicKeyCredential !== 'undefined' && 'parseRequestOptionsFromJSON' in PublicKeyCredential

async function answered(asked: Promise<Credential | null>): Promise<unknown> {
  try {
    const credential = (await asked) as PublicKeyCredential | null
    if (credential) return credential.toJSON()
  } catch (error) {
    // The device has one of this user's passkeys already; the API says so in its own words.
    if (error instanceof DOMException && error.name === 'InvalidStateError') throw error
  }
  throw new Declined()
}

const inner = (options: unknown) => ((options as { publicKey?: unknown }).publicKey ?? options) as never

/** Asks for a passkey that is there. */
export function usePasskey(options: unknown, how: { signal?: AbortSignal; isOffered?: boolean } = {}): Promise<unknown> {
  return answered(
    navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(inner(options)),
      ...(how.signal ? { signal: how.signal } : {}),
      ...(how.isOffered ? { mediation: 'conditional' as const } : {}),
    }),
  )
}

/** Makes a passkey on this device. */
export function makePasskey(options: unknown): Promise<unknown> {
  return answered(navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(inner(options)) }))
}
