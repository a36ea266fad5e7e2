"""The Python libraries of the providers, asked about the requests that generate.js made.

Reads a JSON list of requests, writes a JSON list of [index, library, verdict, problem].
"""
import base64
import json
import logging
import sys
import warnings
from datetime import datetime, timezone
from importlib.metadata import version
from urllib.parse import parse_qs, parse_qsl

import time_machine

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

JUDGES = {}


def judge(provider, package, binary=False, part=""):
    def add(function):
        name = f"PyPI {package} {version(package)}{part}"
        JUDGES.setdefault(provider, []).append((name, function, binary))
        return function

    return add


class Request:
    def __init__(self, one):
        self.method, self.url, self.secret = one["method"], one["url"], one["secret"]
        self.headers = {name.lower(): value for name, value in one["headers"].items()}
        self.raw = base64.b64decode(one["bodyBase64"])
        self.config = one.get("config") or {}
        self.previous = one.get("previousSecrets") or []

    @property
    def body(self):
        return self.raw.decode("utf-8")


@judge("mollie", "mollie-api-py")
def mollie(r):
    from mollie.utils.webhooks import SignatureValidator

    return SignatureValidator([r.secret, *r.previous]).validate_payload(r.body, r.headers.get("x-mollie-signature"))


@judge("nylas", "nylas", binary=True)
def nylas(r):
    from nylas.client.restful_models import Webhook

    return Webhook.verify_webhook_signature(r.headers["x-nylas-signature"], r.raw, r.secret)


@judge("adyen-platform", "Adyen", binary=True)
def adyen_platform(r):
    from Adyen.util import is_valid_hmac_payload

    return is_valid_hmac_payload(r.headers["hmacsignature"], r.secret, r.raw)


@judge("line", "line-bot-sdk")
def line(r):
    from linebot.v3 import SignatureValidator

    return SignatureValidator(r.secret).validate(r.body, r.headers["x-line-signature"])


@judge("razorpay", "razorpay")
def razorpay(r):
    from razorpay import Utility

    return Utility(None).verify_webhook_signature(r.body, r.headers["x-razorpay-signature"], r.secret)


@judge("modern-treasury", "modern-treasury")
def modern_treasury(r):
    from modern_treasury import ModernTreasury

    client = ModernTreasury(organization_id="o", api_key="k", webhook_key=r.secret)
    return client.webhooks.validate_signature(r.body, r.headers, key=r.secret)


@judge("stripe", "stripe", binary=True)
def stripe(r):
    import stripe

    return stripe.Webhook.construct_event(r.raw, r.headers["stripe-signature"], r.secret) is not None


@judge("slack", "slack_sdk", binary=True)
def slack(r):
    from slack_sdk.signature import SignatureVerifier

    return SignatureVerifier(r.secret).is_valid_request(r.raw, r.headers)


def hubspot(version):
    def ask(r):
        from hubspot.utils.signature import Signature

        name = "x-hubspot-signature-v3" if version == "v3" else "x-hubspot-signature"
        return Signature.is_valid(
            r.headers[name], r.secret, r.body, r.url, r.method, version, r.headers.get("x-hubspot-request-timestamp")
        )

    return ask


judge("hubspot", "hubspot-api-client")(hubspot("v3"))
judge("hubspot-v1", "hubspot-api-client")(hubspot("v1"))
judge("hubspot-v2", "hubspot-api-client")(hubspot("v2"))


@judge("paddle", "paddle-python-sdk")
def paddle(r):
    from paddle_billing.Notifications import Secret, Verifier

    class Message:
        headers = {"Paddle-Signature": r.headers.get("paddle-signature")}
        body = r.raw
        content = r.raw
        data = r.raw

    return Verifier().verify(Message(), [Secret(secret) for secret in [r.secret, *r.previous]])


@judge("square", "squareup")
def square(r):
    from square.utils.webhooks_helper import verify_signature

    return verify_signature(
        request_body=r.body,
        signature_header=r.headers["x-square-hmacsha256-signature"],
        signature_key=r.secret,
        notification_url=r.config["notificationUrl"],
    )


@judge("workos", "workos", binary=True)
def workos(r):
    from workos.webhooks._verification import verify_header

    verify_header(event_body=r.raw, event_signature=r.headers["workos-signature"], secret=r.secret)
    return True


@judge("orb", "orb-billing", binary=True)
def orb(r):
    from orb import Orb

    Orb(api_key="k").webhooks.verify_signature(r.raw, r.headers, secret=r.secret)
    return True


@judge("cloudinary", "cloudinary")
def cloudinary_(r):
    import cloudinary
    from cloudinary.utils import verify_notification_signature

    cloudinary.config(api_secret=r.secret, signature_algorithm=r.config.get("algorithm", "sha1"))
    return verify_notification_signature(r.body, r.headers["x-cld-timestamp"], r.headers["x-cld-signature"])


@judge("svix", "svix", binary=True)
def svix(r):
    from svix.webhooks import Webhook

    Webhook(r.secret).verify(r.raw, r.headers)
    return True


@judge("standard-webhooks", "standardwebhooks", binary=True)
def standard(r):
    from standardwebhooks.webhooks import Webhook

    Webhook(r.secret).verify(r.raw, r.headers)
    return True


@judge("openai", "openai", binary=True)
def openai(r):
    from openai import OpenAI

    OpenAI(api_key="k").webhooks.verify_signature(r.raw, r.headers, secret=r.secret)
    return True


@judge("lithic", "lithic", binary=True)
def lithic(r):
    from lithic import Lithic

    Lithic(api_key="k").webhooks.verify_signature(r.raw, r.headers, secret=r.secret)
    return True


@judge("finch", "finch-api", binary=True)
def finch(r):
    from finch import Finch

    Finch(access_token="k").webhooks.verify_signature(r.raw, r.headers, secret=r.secret)
    return True


@judge("anthropic", "anthropic")
def anthropic(r):
    from anthropic import Anthropic
    from standardwebhooks import WebhookVerificationError

    try:
        Anthropic(api_key="k").beta.webhooks.unwrap(r.body, headers=r.headers, key=r.secret)
    except WebhookVerificationError:
        return False
    return True


class Fields(dict):
    """A form as the Twilio library knows it from Django: every value of a name."""

    def getlist(self, name):
        return self[name]


@judge("twilio", "twilio")
def twilio(r):
    from twilio.request_validator import RequestValidator, get_signature_algorithm

    form = r.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    params = Fields(parse_qs(r.body, keep_blank_values=True)) if form else r.body
    if not form and "bodySHA256" not in r.url:
        params = {}
    algorithm = get_signature_algorithm(r.headers.get("x-twilio-webhooks-signature-settings"))
    return RequestValidator(r.secret).validate(r.url, params, r.headers["x-twilio-signature"], algorithm)


@judge("plivo", "plivo")
def plivo(r):
    from plivo.utils import validate_v3_signature

    params = {} if r.method == "GET" else parse_qs(r.body, keep_blank_values=True)
    headers = r.headers
    return validate_v3_signature(
        r.method, r.url, headers["x-plivo-signature-v3-nonce"], r.secret, headers["x-plivo-signature-v3"], params
    )


@judge("braintree", "braintree")
def braintree(r):
    import braintree

    form = dict(parse_qsl(r.body, keep_blank_values=True))
    gateway = braintree.BraintreeGateway(
        braintree.Configuration(braintree.Environment.Sandbox, "merchant", r.config["publicKey"], r.secret)
    )
    return gateway.webhook_notification.parse(form.get("bt_signature"), form.get("bt_payload")) is not None


@judge("adyen", "Adyen")
def adyen(r):
    from Adyen.util import is_valid_hmac_notification

    body = json.loads(r.body)
    if len(body["notificationItems"]) > 1:  # it looks at the first one only
        return NotImplemented
    return is_valid_hmac_notification(body, r.secret)


@judge("mailgun", "mailgun")
def mailgun(r):
    from mailgun.security import SecurityGuard

    sent = json.loads(r.body)["signature"]
    return SecurityGuard.verify_webhook(r.secret, sent["token"], sent["timestamp"], sent["signature"])


@judge("sendgrid", "sendgrid")
def sendgrid(r):
    from sendgrid.helpers.eventwebhook import EventWebhook

    name = "x-twilio-email-event-webhook-"
    return EventWebhook(r.secret).verify_signature(r.body, r.headers[name + "signature"], r.headers[name + "timestamp"])


@judge("telnyx", "telnyx", binary=True)
def telnyx(r):
    from telnyx.lib.webhook_verification import verify_webhook_signature

    verify_webhook_signature(r.raw, r.headers, r.secret)
    return True


@judge("paypal", "paypalrestsdk", part=" (what is signed)")
def paypal(r):
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding
    from paypalrestsdk.notifications import WebhookEvent

    # What is signed comes from the library. The check itself is done here: the library asks for a
    # function of an OpenSSL binding that is no more, and for PayPal's own certificate chain.
    name = "paypal-transmission-"
    text = WebhookEvent._get_expected_sig(
        r.headers[name + "id"], r.headers[name + "time"], r.config["webhookId"], r.body
    )
    public = x509.load_pem_x509_certificate(r.config["certificate"].encode()).public_key()
    public.verify(base64.b64decode(r.headers[name + "sig"]), text.encode(), padding.PKCS1v15(), hashes.SHA256())
    return True


@judge("livekit", "livekit-api")
def livekit(r):
    from livekit.api import TokenVerifier, WebhookReceiver

    return WebhookReceiver(TokenVerifier(r.config["apiKey"], r.secret)).receive(r.body, r.headers["authorization"]) is not None


@judge("qstash", "qstash")
def qstash(r):
    from qstash import Receiver

    following = r.previous[0] if r.previous else r.secret
    Receiver(r.secret, following).verify(signature=r.headers["upstash-signature"], body=r.body, url=r.url)
    return True


@judge("vonage", "vonage-jwt")
def vonage(r):
    from vonage_jwt import verify_signature

    return verify_signature(r.headers["authorization"].removeprefix("Bearer "), r.secret)


def main():
    requests = json.load(sys.stdin)
    warm, out = set(), []
    for one in requests:  # what is imported while time stands still breaks
        for name, function, _ in JUDGES.get(one["provider"], []):
            if (name, one["provider"]) not in warm:
                warm.add((name, one["provider"]))
                try:
                    function(Request(one))
                except Exception:
                    pass
    for index, one in enumerate(requests):
        request = Request(one)
        for name, function, binary in JUDGES.get(one["provider"], []):
            if not binary:
                try:
                    request.body
                except UnicodeDecodeError:
                    continue
            with time_machine.travel(datetime.fromtimestamp(one["now"], timezone.utc), tick=False):
                problem = None
                try:
                    verdict = function(request)
                except Exception as error:
                    verdict, problem = False, repr(error)
            if verdict is not NotImplemented:
                out.append([index, name, bool(verdict), problem])
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
