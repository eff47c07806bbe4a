import { post } from '../api/client.ts'
import { base } from '../app/server.ts'

/** Ends the session. The page is loaded anew, so that nothing of it stays in memory. */
export async function signOut(): Promise<void> {
  await post('/dashboard/sign_out', undefined, { isEntering: true }).catch(() => {})
  location.assign(`${base}/sign-in`)
}
