import type { Ceremony, Passkey } from '#shared/api/types.ts'
import { t } from '../texts/t.ts'
import { post } from './client.ts'
import { makePasskey } from './passkeys.ts'

/** Makes a passkey on this device and registers it; who has one confirms with it first. */
export async function registerPasskey(name: string): Promise<Passkey> {
  const { id, options } = await post<Ceremony>('/dashboard/passkeys/begin', undefined, { says: t.welcome.another })
  return post<Passkey>('/dashboard/passkeys', { ceremony: id, credential: await makePasskey(options), name })
}
