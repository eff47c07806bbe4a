//! A stand-in for the error catalogue, only as wide as the HTTP floor needs to compile.

use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    InvalidRequestError,
    AuthenticationError,
    ApiError,
    RateLimitError,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::InvalidRequestError => "invalid_request_error",
            Kind::AuthenticationError => "authentication_error",
            Kind::ApiError => "api_error",
            Kind::RateLimitError => "rate_limit_error",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    BodyInvalidJson,
    BodyTooLarge,
    ContentTypeInvalid,
    MethodNotAllowed,
    ParameterInvalid,
    ParameterMissing,
    ParameterUnknown,
    ResourceMissing,
    RouteNotFound,
    ApiKeyMissing,
    ApiKeyInvalid,
    AuthorizationHeaderInvalid,
    SecretKeyInUrl,
    IdempotencyKeyRequired,
    IdempotencyKeyInvalid,
    RateLimited,
    InternalError,
    ServiceUnavailable,
}

impl Code {
    fn row(self) -> (&'static str, u16) {
        match self {
            Code::BodyInvalidJson => ("body_invalid_json", 400),
            Code::BodyTooLarge => ("body_too_large", 413),
            Code::ContentTypeInvalid => ("content_type_invalid", 415),
            Code::MethodNotAllowed => ("method_not_allowed", 405),
            Code::ParameterInvalid => ("parameter_invalid", 400),
            Code::ParameterMissing => ("parameter_missing", 400),
            Code::ParameterUnknown => ("parameter_unknown", 400),
            Code::ResourceMissing => ("resource_missing", 404),
            Code::RouteNotFound => ("route_not_found", 404),
            Code::ApiKeyMissing => ("api_key_missing", 401),
            Code::ApiKeyInvalid => ("api_key_invalid", 401),
            Code::AuthorizationHeaderInvalid => ("authorization_header_invalid", 401),
            Code::SecretKeyInUrl => ("secret_key_in_url", 400),
            Code::IdempotencyKeyRequired => ("idempotency_key_required", 400),
            Code::IdempotencyKeyInvalid => ("idempotency_key_invalid", 400),
            Code::RateLimited => ("rate_limited", 429),
            Code::InternalError => ("internal_error", 500),
            Code::ServiceUnavailable => ("service_unavailable", 503),
        }
    }
    pub fn as_str(self) -> &'static str {
        self.row().0
    }
    pub fn status(self) -> u16 {
        self.row().1
    }
    pub fn kind(self) -> Kind {
        match self.status() {
            401 => Kind::AuthenticationError,
            429 => Kind::RateLimitError,
            500.. => Kind::ApiError,
            _ => Kind::InvalidRequestError,
        }
    }
    pub fn summary(self) -> &'static str {
        self.as_str()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: Code,
    pub status: u16,
    pub message: Cow<'static, str>,
    pub param: Option<String>,
    pub retry_after_s: Option<u32>,
}

impl Refusal {
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal {
            code,
            status: code.status(),
            message: message.into(),
            param: None,
            retry_after_s: None,
        }
    }
    pub fn of(code: Code) -> Refusal {
        Refusal::new(code, code.summary())
    }
    pub fn param(mut self, name: impl Into<String>) -> Refusal {
        self.param = Some(name.into());
        self
    }
    pub fn status(mut self, status: u16) -> Refusal {
        self.status = status;
        self
    }
    pub fn in_body(self) -> Refusal {
        self.status(400)
    }
    pub fn retry_after(mut self, seconds: u32) -> Refusal {
        self.retry_after_s = Some(seconds);
        self
    }
}
