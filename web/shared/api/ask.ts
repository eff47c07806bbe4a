// Asking the API: keys for repeating, timeouts and what a refusal looks like.

/** What a refusal says besides its code. */
export interface Said {
  message: string
  /** The parameter it is about. */
  param: string | null
  /** What the server wrote its log under. */
  requestId: string | null
}

/** The API said no, or could not be reached. */
export class Refused extends Error {
  override name = 'Refused'
  constructor(
    /** 0 when there was no answer at all. */
    readonly status: number,
    readonly code: string,
    readonly retryAfterS: number | null,
    readonly said: Said | null = null,
  ) {
    super(code)
  }
  get isTransient() {
    return this.status === 0 || this.status >= 500
  }
  /** What was asked for is not there, or not for this key. */
  get isMissing() {
    return this.status >= 400 && this.status < 500 && this.status !== 429
  }
}

/** How long an answer may take before the connection counts as lost, unless whoever asks ends it otherwise. */
const TIMEOUT_MS = 15_000
/** Waits before a POST is sent again under the same key. */
const RETRY_MS = [500, 2_000]

/** An answer that is no refusal. */
export async function ask(url: URL, init: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(url, { ...init, signal: init.signal ?? AbortSignal.timeout(TIMEOUT_MS) })
  } catch {
    throw new Refused(0, 'offline', null)
  }
  if (response.ok) return response
  const body = (await response.json().catch(() => null)) as { error?: Record<string, unknown> } | null
  const error = body?.error
  const after = /^[0-9]{1,5}$/.exec(response.headers.get('retry-after') ?? '')?.[0]
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  throw new Refused(response.status, text(error?.code) ?? 'unknown', after ? Number(after) : null, {
    message: text(error?.message) ?? '',
    param: text(error?.param),
    requestId: response.headers.get('request-id'),
  })
}

/** Sends the same request again while nobody knows whether it arrived. Its idempotency key makes that safe. */
export async function askUntilSure(url: URL, init: RequestInit): Promise<Response> {
  for (const wait of RETRY_MS) {
    try {
      return await ask(url, init)
    } catch (error) {
      if (!(error instanceof Refused && error.isTransient)) throw error
      await new Promise((resume) => setTimeout(resume, wait))
    }
  }
  return ask(url, init)
}

/** A value for `Idempotency-Key`. */
export function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
