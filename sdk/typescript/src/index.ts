// The library's front page: the client, and everything that has a name.

import { Requests, type TillOptions } from './requests.ts'
import { Resources } from './resources.ts'

/** A client of one Till server with one key. */
export class Till extends Resources {
  constructor(options: TillOptions) {
    super(new Requests(options))
  }
}

export {
  type AnyErrorCode,
  ApiError,
  AuthenticationError,
  ConnectionError,
  IdempotencyError,
  InvalidRequestError,
  isApiError,
  PermissionError,
  RateLimitError,
  SignatureError,
  TillError,
} from './errors.ts'
export { Pages } from './pages.ts'
export type { RequestOptions, TillOptions } from './requests.ts'
export type * from './resources.ts'
export type { StreamOptions } from './stream.ts'
export type * from './types.ts'
export { SIGNATURE_HEADER, type VerifyOptions, verifyWebhook } from './webhooks.ts'
