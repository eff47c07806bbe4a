// What the server wrote into the page's head, and where the page and the API are.

const said = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name="till-${name}"]`)?.content ?? null

/** The dashboard's configured address, such as `https://pay.example.com/dashboard`. */
const url = said('url')

/** What all addresses of these pages begin with, without a slash at the end. */
export const base = url === null ? '/dashboard' : new URL(url).pathname.replace(/\/+$/, '')

/** Where this page belongs, when it was opened under another origin: sessions and passkeys work there alone. */
export const elsewhere = url === null || new URL(url).origin === location.origin ? null : new URL(url).origin

/** The API lies beside the dashboard. */
export const api = new URL(`${base}/../v1`, location.origin).href

/** Who may make an account: nobody but the operator, who was invited, or anybody. */
export const signup = said('signup') ?? 'invite'
/** Whether the server sends mail: without it nobody can ask for a link. */
export const hasMail = said('mail') === 'yes'
/** `till demo`, which signs everybody in. */
export const isDemo = said('demo') === 'yes'
