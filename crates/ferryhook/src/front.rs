//! The front: the first to see a request. What is for a source goes to ingest, the rest to the
//! router, and what two servers could read differently to nobody.

use std::convert::Infallible;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use ferryhook_core::Env;
use ferryhook_flow::Ingest;
use ferryhook_flow::ingest::address;
use ferryhook_net::framing::{self, Misframed};
use ferryhook_net::problem::{self, Code, RequestId, X_REQUEST_ID};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http_body_util::{Either, Full};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::service::Service;
use hyper::{Request, Response, Version};
use tower::ServiceExt;

#[derive(Clone, Debug)]
pub struct Front {
    pub ingest: Ingest,
    pub router: Router,
    pub env: Env,
}

type Answer = Response<Either<Full<Bytes>, Body>>;

impl<B> Service<Request<B>> for Front
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    type Response = Answer;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Answer, Infallible>>;

    fn call(&self, request: Request<B>) -> Self::Future {
        if let Err(wrong) = framing::check(&request) {
            let answer = self.refuse(wrong, request.version());
            return Box::pin(async move { Ok(answer) });
        }
        if request.uri().path().starts_with(address::PREFIX) {
            let answer = self.ingest.clone().answer(request);
            return Box::pin(answer.map(|answer| Ok(answer.map(Either::Left))));
        }
        let router = self.router.clone();
        Box::pin(async move { Ok(router.oneshot(request).await?.map(Either::Right)) })
    }
}

impl Front {
    /// Says what is wrong and closes: where the next request would begin, nobody can know.
    fn refuse(&self, wrong: Misframed, version: Version) -> Answer {
        let id = RequestId::new(&self.env);
        let body = problem::document(Code::Validation, wrong.0, id, &[]);
        let mut answer = Response::new(Either::Left(Full::from(body)));
        *answer.status_mut() = Code::Validation.status();
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(problem::CONTENT_TYPE));
        if let Ok(id) = HeaderValue::from_str(id.as_str()) {
            headers.insert(X_REQUEST_ID.clone(), id);
        }
        if version < Version::HTTP_2 {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }
}
