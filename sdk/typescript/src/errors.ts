// What can go wrong. Every refusal of the API is a `TillError` with the code that the API gave it.

import type { ErrorBody, ErrorCode, ErrorType } from './types.ts'

/** A code of this version of the library, or one that a newer server knows. */
export type AnyErrorCode = ErrorCode | (string & {})

/** Something was refused, failed, or was never answered. */
export class TillError extends Error {
  override readonly name: string = 'TillError'
}

/** The API answered with an error. Branch on `code`; `message` is for people. */
export class ApiError extends TillError {
  override readonly name: string = 'ApiError'
  readonly status: number
  readonly type: ErrorType | (string & {})
  readonly code: AnyErrorCode
  /** The field concerned, when there is one. */
  readonly param: string | null
  readonly docUrl: string | null
  /** Tell it to whoever runs the server. */
  readonly requestId: string | null
  /** Seconds after which the server wants to be asked again, when it said so. */
  readonly retryAfter: number | null

  constructor(status: number, error: Partial<ErrorBody>, retryAfter: number | null) {
    super(error.message ?? `the server answered with status ${status}`)
    this.status = status
    this.type = error.type ?? 'api_error'
    // An answer of something in between, which knows no codes.
    this.code = error.code ?? `http_${status}`
    this.param = error.param ?? null
    this.docUrl = error.doc_url ?? null
    this.requestId = error.request_id ?? null
    this.retryAfter = retryAfter
  }
}

/** The request has to be changed (400, 404, 405, 409, 413, 415). */
export class InvalidRequestError extends ApiError {
  override readonly name: string = 'InvalidRequestError'
}

/** The key is missing, unknown or was replaced (401). */
export class AuthenticationError extends ApiError {
  override readonly name: string = 'AuthenticationError'
}

/** The key may not do this (403). */
export class PermissionError extends ApiError {
  override readonly name: string = 'PermissionError'
}

/** The idempotency key was used for something else, or is still being worked on (409). */
export class IdempotencyError extends ApiError {
  override readonly name: string = 'IdempotencyError'
}

/** Too many requests, for longer than this client wants to wait (429). */
export class RateLimitError extends ApiError {
  override readonly name: string = 'RateLimitError'
}

/** No answer came: no connection, or none that lasted. What was asked for may have happened: ask again with the same idempotency key. */
export class ConnectionError extends TillError {
  override readonly name: string = 'ConnectionError'
  /** The key of the request that was not answered; null for one that changes nothing. */
  readonly idempotencyKey: string | null

  constructor(message: string, idempotencyKey: string | null, cause: unknown) {
    super(message, { cause })
    this.idempotencyKey = idempotencyKey
  }
}

/** A webhook whose signature does not prove that it came from the server. Answer it with status 400 and do nothing else. */
export class SignatureError extends TillError {
  override readonly name: string = 'SignatureError'
}

const CLASSES: Record<string, typeof ApiError> = {
  invalid_request_error: InvalidRequestError,
  authentication_error: AuthenticationError,
  permission_error: PermissionError,
  idempotency_error: IdempotencyError,
  rate_limit_error: RateLimitError,
}

/** The error that an answer with this status and body is. */
export function errorFrom(status: number, body: unknown, retryAfter: number | null): ApiError {
  const error = ((body as { error?: unknown } | null)?.error ?? {}) as Partial<ErrorBody>
  const Class = CLASSES[error.type ?? ''] ?? ApiError
  return new Class(status, error, retryAfter)
}

/** Whether this is an error that the API answered with, of this code when one is given. */
export function isApiError<Code extends ErrorCode>(error: unknown, code?: Code): error is ApiError & { code: Code } {
  return error instanceof ApiError && (code === undefined || error.code === code)
}
