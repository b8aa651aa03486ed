//! Requests and their answers, by either binding.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, USER_AGENT};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::error::A2aClientError;
use super::operation::{Operation, query};
use super::options::A2aClientOptions;
use crate::bounds;
use crate::fault::A2aFault;
use crate::id;
use crate::limits::A2aLimits;
use crate::web::{Target, Web, whole};
use crate::wire::{A2A_VERSION, A2aInterface, A2aTask, BINDING_REST, GetTask};

type Result<T> = std::result::Result<T, A2aClientError>;

const VERSION: HeaderName = HeaderName::from_static("a2a-version");
const EXTENSIONS: HeaderName = HeaderName::from_static("a2a-extensions");

/// The way to an agent.
pub(super) struct Link {
    web: Web,
    target: Target,
    interface: A2aInterface,
    options: A2aClientOptions,
    limits: A2aLimits,
}

/// A request that was sent.
pub(super) struct Asked {
    pub(super) response: Response<Incoming>,
    /// What the answer has to have as id.
    id: Value,
}

impl Link {
    pub(super) fn new(
        web: Web,
        interface: A2aInterface,
        target: Target,
        options: A2aClientOptions,
    ) -> Self {
        let limits = A2aLimits { values: 1_000_000, ..A2aLimits::default() };
        Self { web, target, interface, options, limits }
    }

    pub(super) fn binding(&self) -> &str {
        &self.interface.protocol_binding
    }

    pub(super) fn options(&self) -> &A2aClientOptions {
        &self.options
    }

    pub(super) fn web(&self) -> &Web {
        &self.web
    }

    fn is_rest(&self) -> bool {
        self.interface.protocol_binding == BINDING_REST
    }

    /// Asks, again and again if that is safe, and gives the result.
    pub(super) async fn ask(&self, operation: Operation, params: Value) -> Result<Value> {
        let mut attempt = 0;
        loop {
            let result = self.ask_once(operation, params.clone()).await;
            let Err(error) = result else { return result };
            let may = error.is_unsent() || (operation.is_safe() && error.is_passing());
            if !may || attempt >= self.options.retries {
                return Err(error);
            }
            tokio::time::sleep(self.options.wait(attempt)).await;
            attempt += 1;
        }
    }

    async fn ask_once(&self, operation: Operation, params: Value) -> Result<Value> {
        let timeout = match operation {
            Operation::Send => self.options.blocking,
            _ => self.options.timeout,
        };
        let asked = self.send(operation, params, timeout).await?;
        self.result(asked).await
    }

    /// A task.
    pub(super) async fn get(&self, asked: &GetTask) -> Result<A2aTask> {
        let params = serde_json::to_value(asked)
            .map_err(|error| A2aClientError::Request(error.to_string()))?;
        let found: A2aTask = self.read(self.ask(Operation::Get, params).await?)?;
        self.is_about(&found, &asked.id)?;
        Ok(found)
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn send(
        &self,
        operation: Operation,
        params: Value,
        timeout: Duration,
    ) -> Result<Asked> {
        let id = Value::String(id::fresh());
        let Value::Object(mut params) = params else {
            return Err(A2aClientError::Request("the parameters are no object".to_owned()));
        };
        if !self.interface.tenant.is_empty() {
            params.insert("tenant".to_owned(), Value::String(self.interface.tenant.clone()));
        }
        let (method, target, body) = match self.is_rest() {
            true => self.rest(operation, params)?,
            false => {
                let method = operation.method();
                let call = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
                (Method::POST, self.target.clone(), call.to_string())
            }
        };
        let is_stream = matches!(operation, Operation::Stream | Operation::Subscribe);
        let accepted = if is_stream { "text/event-stream" } else { "application/json" };
        let mut request = Request::builder()
            .method(method)
            .uri(target.path())
            .header(HOST, target.authority())
            .header(ACCEPT, accepted)
            .header(USER_AGENT, "offshoot-a2a")
            .header(VERSION, A2A_VERSION);
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        if !self.options.extensions.is_empty() {
            request = request.header(EXTENSIONS, self.options.extensions.join(","));
        }
        if let Some(token) = &self.options.token {
            request = request.header(AUTHORIZATION, bearer(token)?);
        }
        let request = request
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| A2aClientError::Request(error.to_string()))?;
        let response = self.web.send(&target, request, timeout).await?;
        Ok(Asked { response, id })
    }

    fn rest(
        &self,
        operation: Operation,
        mut params: Map<String, Value>,
    ) -> Result<(Method, Target, String)> {
        let tenant = params.remove("tenant");
        let (method, path) = operation.rest(&mut params);
        // Whoever has tenants has them before all paths.
        let before = match tenant {
            Some(Value::String(tenant)) => format!("/{}", super::operation::encoded(&tenant)),
            _ => String::new(),
        };
        if method == Method::POST {
            let target = self.target.below(&format!("{before}{path}"))?;
            return Ok((method, target, Value::Object(params).to_string()));
        }
        let target = self.target.below(&format!("{before}{path}{}", query(&params)))?;
        Ok((method, target, String::new()))
    }

    /// The result that an answer has.
    pub(super) async fn result(&self, asked: Asked) -> Result<Value> {
        let status = asked.response.status();
        let limit = self.options.answer;
        let body = asked.response.into_body();
        let bytes = whole(&self.target, body, limit, self.options.timeout).await?;
        if self.is_rest() && status.is_success() && bytes.is_empty() {
            return Ok(json!({}));
        }
        let value = match self.parse(&bytes) {
            Ok(value) => value,
            Err(error) if status.is_success() => return Err(error),
            Err(_) => return Err(A2aClientError::status(&self.target.host, status)),
        };
        self.outcome(value, status, Some(&asked.id))
    }

    /// What a JSON text of an answer or an event says.
    pub(super) fn outcome(
        &self,
        value: Value,
        status: StatusCode,
        id: Option<&Value>,
    ) -> Result<Value> {
        let refused = || A2aClientError::status(&self.target.host, status);
        if self.is_rest() {
            if status.is_success() && value.get("error").is_none() {
                return Ok(value);
            }
            let fault = A2aFault::from_rest(&value, status.as_u16());
            return Err(fault.map_or_else(refused, A2aClientError::Fault));
        }
        if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
            let fault = A2aFault::from_rpc(error);
            return Err(fault.map_or_else(refused, A2aClientError::Fault));
        }
        if !status.is_success() {
            return Err(refused());
        }
        if value.is_object() && id.is_some_and(|id| value.get("id") != Some(id)) {
            return Err(self.wrong("the answer is to another request"));
        }
        match value {
            Value::Object(mut answer) => answer
                .remove("result")
                .ok_or_else(|| self.wrong("the answer has neither a result nor an error")),
            _ => Err(self.wrong("the answer is no object")),
        }
    }

    /// JSON that is neither too deep nor too much.
    pub(super) fn parse(&self, bytes: &[u8]) -> Result<Value> {
        bounds::check(bytes, &self.limits).map_err(|fault| self.wrong(&fault.message))?;
        serde_json::from_slice(bytes).map_err(|error| self.wrong(&format!("no JSON: {error}")))
    }

    pub(super) fn read<T: DeserializeOwned>(&self, value: Value) -> Result<T> {
        serde_json::from_value(value).map_err(|error| {
            let why: String = error.to_string().chars().take(300).collect();
            self.wrong(&format!("the answer is not what the protocol says: {why}"))
        })
    }

    /// Whether a task is the one that was asked for.
    pub(super) fn is_about(&self, task: &A2aTask, id: &str) -> Result<()> {
        if task.id == id { Ok(()) } else { Err(self.wrong("the answer is about another task")) }
    }

    pub(super) fn wrong(&self, why: &str) -> A2aClientError {
        A2aClientError::Answer { host: self.target.host.clone(), why: why.to_owned() }
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }
}

/// The header that a token makes. The token itself is in no error.
pub(super) fn bearer(token: &str) -> Result<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| {
        A2aClientError::Request("the token has characters that no header has".to_owned())
    })?;
    value.set_sensitive(true);
    Ok(value)
}
