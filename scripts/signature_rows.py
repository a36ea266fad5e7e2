#!/usr/bin/env python3
"""Writes one signed request per provider, made without any of our own code.

    python3 -m venv .venv && .venv/bin/pip install cryptography
    .venv/bin/python scripts/signature_rows.py > crates/ferryhook-core/src/verify/tests/rows.jsonl

Each line is what `ferryhook signature verify` reads and has to be valid. Keys are new with each
run, so the whole file changes. The tests make what must not be valid out of what is.
"""
import base64, binascii, datetime, hashlib, hmac, json, sys
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

NOW = 1_700_000_000
MS = str(NOW * 1000 + 123)
TS = str(NOW)
ISO = "2023-11-14T22:13:20Z"
URL = "https://hooks.example.com/in/src_1?a=1"
BODY = '{"id":"evt_1","type":"a.b","text":"Zoë – 東京"}'.encode()
KEY = "s3cr3t-Key_42"

b64 = lambda raw: base64.b64encode(raw).decode()
b64url = lambda raw: base64.urlsafe_b64encode(raw).decode().rstrip("=")
text = lambda part: part.encode() if isinstance(part, str) else part


def mac(*parts, key=KEY, algorithm="sha256"):
    return hmac.new(text(key), b"".join(map(text, parts)), algorithm).digest()


rows = []


def row(provider, headers, secret=KEY, body=BODY, url=URL, method="POST", **more):
    line = {"provider": provider, "method": method, "url": url, "headers": headers}
    try:
        line["body"] = body.decode()
    except UnicodeDecodeError:
        line["bodyBase64"] = b64(body)
    if secret is not None:
        line["secret"] = secret
    line["now"] = NOW
    rows.append(line | more)


# HMAC-SHA256 of the body in hex: header, prefix.
for provider, header, prefix in [
    ("alchemy", "X-Alchemy-Signature", ""),
    ("asana", "X-Hook-Signature", ""),
    ("bitbucket", "X-Hub-Signature", "sha256="),
    ("calcom", "X-Cal-Signature-256", ""),
    ("coinbase-commerce", "X-CC-Webhook-Signature", ""),
    ("dropbox", "X-Dropbox-Signature", ""),
    ("github", "X-Hub-Signature-256", "sha256="),
    ("gocardless", "Webhook-Signature", ""),
    ("jira", "X-Hub-Signature", "sha256="),
    ("lemonsqueezy", "X-Signature", ""),
    ("meta", "X-Hub-Signature-256", "sha256="),
    ("facebook", "X-Hub-Signature-256", "sha256="),
    ("modern-treasury", "X-Signature", ""),
    ("mollie", "X-Mollie-Signature", "sha256="),
    ("notion", "X-Notion-Signature", "sha256="),
    ("nylas", "x-nylas-signature", ""),
    ("pagerduty", "X-PagerDuty-Signature", "v1="),
    ("razorpay", "X-Razorpay-Signature", ""),
    ("sendbird", "x-sendbird-signature", ""),
    ("sentry", "Sentry-Hook-Signature", ""),
    ("sentry", "Sentry-App-Signature", ""),
    ("smartcar", "SC-Signature", ""),
    ("stream", "X-Signature", ""),
]:
    row(provider, {header: prefix + mac(BODY).hex()})
row("pusher", {"X-Pusher-Signature": mac(BODY).hex(), "X-Pusher-Key": "k1"}, config={"key": "k1"})
row("pagerduty", {"X-PagerDuty-Signature": "v1=" + "0" * 64 + ",v1=" + mac(BODY).hex()})
row("airtable", {"X-Airtable-Content-MAC": "hmac-sha256=" + mac(BODY, key=b"0123456789").hex()}, secret=b64(b"0123456789"))
row("linkedin", {"X-LI-Signature": mac("hmacsha256=", BODY).hex()})
row("tiktok-shop", {"Authorization": mac("app1", BODY).hex()}, config={"app_key": "app1"})

# Other digests.
row("github", {"X-Hub-Signature": "sha1=" + mac(BODY, algorithm="sha1").hex()}, config={"scheme": "sha1"})
row("intercom", {"X-Hub-Signature": "sha1=" + mac(BODY, algorithm="sha1").hex()})
row("vercel", {"x-vercel-signature": mac(BODY, algorithm="sha1").hex()})
row("paystack", {"x-paystack-signature": mac(BODY, algorithm="sha512").hex()})
row("trello", {"X-Trello-Webhook": b64(mac(BODY, URL, algorithm="sha1"))})

# HMAC-SHA256 of the body in base64.
for provider, header, prefix in [
    ("docusign", "X-DocuSign-Signature-1", ""),
    ("docusign", "X-DocuSign-Signature-12", ""),
    ("line", "X-Line-Signature", ""),
    ("quickbooks", "intuit-signature", ""),
    ("shopify", "X-Shopify-Hmac-SHA256", ""),
    ("shopify", "Shopify-Hmac-Sha256", ""),
    ("tally", "Tally-Signature", ""),
    ("twitter", "x-twitter-webhooks-signature", "sha256="),
    ("typeform", "Typeform-Signature", "sha256="),
    ("woocommerce", "X-WC-Webhook-Signature", ""),
    ("xero", "x-xero-signature", ""),
]:
    row(provider, {header: prefix + b64(mac(BODY))})
row("woocommerce", {"X-WC-Webhook-Signature": b64(mac(BODY, key="a&b<c"))}, secret="a&amp;b&lt;c")
row("square", {"x-square-hmacsha256-signature": b64(mac(URL, BODY))})
row("square", {"x-square-hmacsha256-signature": b64(mac("https://public.example.com/n", BODY))}, config={"notificationUrl": "https://public.example.com/n"})
row("adyen-platform", {"HmacSignature": b64(mac(BODY, key=bytes.fromhex("ab" * 32)))}, secret="AB" * 32)
row("adyen", {"HmacSignature": b64(mac(BODY, key=bytes.fromhex("ab" * 32)))}, secret="ab" * 32, config={"scheme": "platform"})

# With the time beside the signature.
for provider, header, time, name, stamp, encode in [
    ("stripe", "Stripe-Signature", "t", "v1", TS, bytes.hex),
    ("mux", "Mux-Signature", "t", "v1", TS, bytes.hex),
    ("calendly", "Calendly-Webhook-Signature", "t", "v1", TS, bytes.hex),
    ("elevenlabs", "ElevenLabs-Signature", "t", "v0", TS, bytes.hex),
    ("persona", "Persona-Signature", "t", "v1", TS, bytes.hex),
    ("workos", "WorkOS-Signature", "t", " v1", MS, bytes.hex),
    ("courier", "courier-signature", "t", "signature", MS, bytes.hex),
    ("knock", "x-knock-signature", "t", "s", MS, b64),
    ("sanity", "sanity-webhook-signature", "t", "v1", MS, b64url),
]:
    row(provider, {header: f"{time}={stamp},{name}={encode(mac(stamp, '.', BODY))}"})
row("stripe", {"Stripe-Signature": f"t={TS},v1={'0' * 64},v0=zz,v1={mac(TS, '.', BODY, key='whsec_abc').hex()}"}, secret="whsec_abc")
row("persona", {"Persona-Signature": f"t={TS},v1={'0' * 64} t={NOW - 9},v1={mac(NOW - 9 and str(NOW - 9), '.', BODY).hex()}"})
row("paddle", {"Paddle-Signature": f"ts={TS};h1={mac(TS, ':', BODY).hex()}"})
row("retell", {"X-Retell-Signature": f"v={MS},d={mac(BODY, MS).hex()}"})
row("recurly", {"recurly-signature": f"{MS},{'0' * 64},{mac(MS, '.', BODY).hex()}"})
row("custom", {"X-Ferryhook-Signature": f"t={TS},v1={mac(TS, '.', BODY).hex()}"})

# With the time in a header.
row("slack", {"X-Slack-Signature": "v0=" + mac("v0:", TS, ":", BODY).hex(), "X-Slack-Request-Timestamp": TS})
row("zoom", {"x-zm-signature": "v0=" + mac("v0:", TS, ":", BODY).hex(), "x-zm-request-timestamp": TS})
row("customerio", {"X-CIO-Signature": mac("v0:", TS, ":", BODY).hex(), "X-CIO-Timestamp": TS})
row("airwallex", {"x-signature": mac(MS, BODY).hex(), "x-timestamp": MS})
row("klaviyo", {"Klaviyo-Signature": mac(BODY, TS).hex(), "Klaviyo-Timestamp": TS})
row("webflow", {"x-webflow-signature": mac(MS, ":", BODY).hex(), "x-webflow-timestamp": MS})
row("revolut", {"Revolut-Signature": "v1=" + mac("v1.", MS, ".", BODY).hex(), "Revolut-Request-Timestamp": MS})
row("orb", {"X-Orb-Signature": "v1=" + mac("v1:", "2023-11-14T22:13:20.5", ":", BODY).hex(), "X-Orb-Timestamp": "2023-11-14T22:13:20.5"})
row("cashfree", {"x-webhook-signature": b64(mac(TS, BODY)), "x-webhook-timestamp": TS})
row("zendesk", {"X-Zendesk-Webhook-Signature": b64(mac(ISO, BODY)), "X-Zendesk-Webhook-Signature-Timestamp": ISO})
row("front", {"X-Front-Signature": b64(mac(TS, ":", BODY)), "X-Front-Request-Timestamp": TS})
row("twitch", {"Twitch-Eventsub-Message-Signature": "sha256=" + mac("id-1", ISO, BODY).hex(), "Twitch-Eventsub-Message-Id": "id-1", "Twitch-Eventsub-Message-Timestamp": ISO})
box = {"BOX-SIGNATURE-VERSION": "1", "BOX-SIGNATURE-ALGORITHM": "HmacSHA256", "BOX-DELIVERY-TIMESTAMP": ISO}
row("box", box | {"BOX-SIGNATURE-PRIMARY": b64(mac(BODY, ISO))})
row("box", box | {"BOX-SIGNATURE-PRIMARY": b64(b"0" * 32), "BOX-SIGNATURE-SECONDARY": b64(mac(BODY, ISO))}, secret=["other", KEY])
linear = b'{"action":"create","webhookTimestamp":' + MS.encode() + b"}"
row("linear", {"Linear-Signature": mac(linear).hex()}, body=linear)
row("cloudinary", {"X-Cld-Signature": hashlib.sha1(BODY + (TS + KEY).encode()).hexdigest(), "X-Cld-Timestamp": TS})
row("cloudinary", {"X-Cld-Signature": hashlib.sha256(BODY + (TS + KEY).encode()).hexdigest(), "X-Cld-Timestamp": TS})

# Standard Webhooks and those like it.
raw = b"0123456789abcdef01234567"
whsec = "whsec_" + b64(raw)


def standard(prefix, key=raw, id_name="id"):
    return {f"{prefix}-{id_name}": "msg_1", f"{prefix}-timestamp": TS, f"{prefix}-signature": "v1," + b64(mac("msg_1.", TS, ".", BODY, key=key))}


for provider in ["standard-webhooks", "svix", "anthropic", "lithic", "openai", "replicate", "bigcommerce", "gitlab", "custom"]:
    row(provider, standard("webhook"), secret=whsec)
for provider in ["svix", "clerk", "resend"]:
    row(provider, standard("svix"), secret=whsec)
row("svix", standard("Svix"), secret=b64(raw))
row("openai", standard("webhook", key=KEY))
row("polar", standard("webhook", key="polar_whs_1"), secret="polar_whs_1")
row("polar", standard("webhook"), secret=whsec)
row("bigcommerce", standard("webhook", key=KEY))
row("finch", standard("Finch", id_name="Event-ID"), secret=b64(raw))

# HubSpot.
ms = {"X-HubSpot-Request-Timestamp": MS}
row("hubspot", ms | {"X-HubSpot-Signature-v3": b64(mac("POST", URL, BODY, MS))})
row("hubspot (v3)", ms | {"X-HubSpot-Signature-v3": b64(mac("POST", URL, BODY, MS))})
coded = "https://hooks.example.com/in/src_1?to=a%40b.c%2Cd%20e"
row("hubspot", ms | {"X-HubSpot-Signature-v3": b64(mac("POST", coded, BODY, MS))}, url=coded)
row("hubspot", ms | {"X-HubSpot-Signature-v3": b64(mac("POST", "https://hooks.example.com/in/src_1?to=a@b.c,d%20e", BODY, MS))}, url=coded)
v1 = hashlib.sha256(KEY.encode() + BODY).hexdigest()
v2 = hashlib.sha256((KEY + "POST" + URL).encode() + BODY).hexdigest()
for provider, config in [("hubspot", {}), ("hubspot-v1", {}), ("hubspot", {"version": "v1"})]:
    row(provider, {"X-HubSpot-Signature": v1, "X-HubSpot-Signature-Version": "v1"}, config=config)
for provider, config in [("hubspot", {}), ("hubspot (v2)", {}), ("hubspot", {"version": "v2"})]:
    row(provider, {"X-HubSpot-Signature": v2, "X-HubSpot-Signature-Version": "v2"}, config=config)

# Public keys.
ed = ed25519.Ed25519PrivateKey.from_private_bytes(b"7" * 32)
ed_public = ed.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
row("discord", {"X-Signature-Ed25519": ed.sign(TS.encode() + BODY).hex(), "X-Signature-Timestamp": TS}, secret=ed_public.hex())
row("telnyx", {"telnyx-signature-ed25519": b64(ed.sign(TS.encode() + b"|" + BODY)), "telnyx-timestamp": TS}, secret=b64(ed_public))
row("telnyx", {"telnyx-signature-ed25519": b64(ed.sign(TS.encode() + b"|" + BODY)), "telnyx-timestamp": TS}, secret=None, config={"publicKey": b64(ed_public)})
row("standard-webhooks", standard("webhook") | {"webhook-signature": "v1a," + b64(ed.sign(f"msg_1.{TS}.".encode() + BODY))}, secret="whpk_" + b64(ed_public))
p256 = ec.generate_private_key(ec.SECP256R1())
spki = lambda key: key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
pem = lambda key: key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
ecdsa = lambda content, digest=hashes.SHA256(): p256.sign(content, ec.ECDSA(digest))
sendgrid = lambda key: row("sendgrid", {"X-Twilio-Email-Event-Webhook-Signature": b64(ecdsa(TS.encode() + BODY)), "X-Twilio-Email-Event-Webhook-Timestamp": TS}, secret=key)
sendgrid(b64(spki(p256)))
sendgrid(pem(p256))
row("circle", {"X-Circle-Signature": b64(ecdsa(BODY)), "X-Circle-Key-Id": "k"}, secret=b64(spki(p256)))
ebay = {"alg": "ecdsa", "kid": "k", "signature": b64(ecdsa(BODY, hashes.SHA1())), "digest": "SHA1"}
row("ebay", {"X-EBAY-SIGNATURE": b64(json.dumps(ebay).encode())}, secret=pem(p256))

# Certificates.
rsa_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "sns.amazonaws.com")])
certificate = (
    x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(rsa_key.public_key())
    .serial_number(1).not_valid_before(datetime.datetime(2023, 1, 1)).not_valid_after(datetime.datetime(2053, 1, 1))
    .sign(rsa_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()
)
sns_url = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem"


def sns(kind, version, **extra):
    message = {"Type": kind, "MessageId": "m1", "TopicArn": "arn:aws:sns:eu-west-1:1:t", "Message": "Zoë\nline", "Timestamp": "2023-11-14T22:13:20.000Z"} | extra
    signed = "".join(f"{key}\n{message[key]}\n" for key in sorted(message))
    digest = hashes.SHA1() if version == "1" else hashes.SHA256()
    signature = rsa_key.sign(signed.encode(), padding.PKCS1v15(), digest)
    return json.dumps(message | {"SignatureVersion": version, "Signature": b64(signature), "SigningCertURL": sns_url}).encode()


fetched = {"certificates": {sns_url: certificate}}
row("aws-sns", {}, secret=None, body=sns("Notification", "1", Subject="s"), **fetched)
row("aws-sns", {}, secret=None, body=sns("Notification", "2"), **fetched)
row("sns", {}, secret=None, body=sns("Notification", "2"), config={"certificate": certificate, "topicArn": "arn:aws:sns:eu-west-1:1:t"})
control = {"SubscribeURL": "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription", "Token": "t"}
row("aws-sns", {}, secret=None, body=sns("SubscriptionConfirmation", "1", **control), **fetched)
row("aws-sns", {}, secret=certificate, body=sns("UnsubscribeConfirmation", "2", **control))
paypal_url = "https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-a5cafa77"
paypal = f"t1|{ISO}|WH-1|{binascii.crc32(BODY) & 0xFFFFFFFF}".encode()
paypal = {
    "PAYPAL-TRANSMISSION-ID": "t1", "PAYPAL-TRANSMISSION-TIME": ISO, "PAYPAL-AUTH-ALGO": "SHA256withRSA", "PAYPAL-CERT-URL": paypal_url,
    "PAYPAL-TRANSMISSION-SIG": b64(rsa_key.sign(paypal, padding.PKCS1v15(), hashes.SHA256())),
}
row("paypal", paypal, secret="WH-1", certificates={paypal_url: certificate})
row("paypal", paypal, secret=None, config={"webhookId": "WH-1", "certificate": certificate})


# Tokens.
def jwt(claims, key=KEY, algorithm="HS256", **head):
    part = lambda value: b64url(json.dumps(value).encode())
    signed = part({"alg": algorithm, "typ": "JWT"} | head) + "." + part(claims)
    if algorithm.startswith("HS"):
        signature = mac(signed, key=key, algorithm="sha" + algorithm[2:])
    elif algorithm == "RS256":
        signature = rsa_key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    else:
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
        r, s = decode_dss_signature(ecdsa(signed.encode()))
        signature = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    return signed + "." + b64url(signature)


times = {"iat": NOW, "nbf": NOW, "exp": NOW + 60}
body_hash = hashlib.sha256(BODY)
numbers = p256.public_key().public_numbers()
jwk = {"kty": "EC", "crv": "P-256", "kid": "k1", "alg": "ES256", "use": "sig", "x": b64url(numbers.x.to_bytes(32, "big")), "y": b64url(numbers.y.to_bytes(32, "big"))}
rsa_numbers = rsa_key.public_key().public_numbers()
rsa_jwk = {"kty": "RSA", "kid": "r1", "n": b64url(rsa_numbers.n.to_bytes(256, "big")), "e": "AQAB"}
row("livekit", {"Authorization": jwt(times | {"iss": "api1", "sha256": b64(body_hash.digest())})}, config={"apiKey": "api1"})
row("qstash", {"Upstash-Signature": jwt(times | {"iss": "Upstash", "sub": URL, "body": b64url(body_hash.digest())})})
row("qstash", {"Upstash-Signature": jwt(times | {"iss": "Upstash", "sub": URL, "body": base64.urlsafe_b64encode(body_hash.digest()).decode()}, key="next")}, secret=[KEY, "next"])
for algorithm in ["HS256", "HS384", "HS512"]:
    claims = times | {"iss": "MessageBird", "jti": "j", "url_hash": hashlib.sha256(URL.encode()).hexdigest(), "payload_hash": body_hash.hexdigest()}
    row("messagebird", {"MessageBird-Signature-JWT": jwt(claims, algorithm=algorithm)})
row("vonage", {"Authorization": "Bearer " + jwt({"iat": NOW, "jti": "j", "payload_hash": body_hash.hexdigest()})})
row("monday", {"Authorization": jwt(times)})
plaid = {"iat": NOW, "request_body_sha256": body_hash.hexdigest()}
row("plaid", {"Plaid-Verification": jwt(plaid, algorithm="ES256", kid="k1")}, secret=json.dumps(jwk))
row("plaid", {"Plaid-Verification": jwt(plaid, algorithm="ES256", kid="k1")}, secret=None, config={"publicKey": {"keys": [rsa_jwk, jwk]}})
row("plaid", {"Plaid-Verification": jwt(plaid, algorithm="ES256")}, secret=pem(p256))
fusion = {"request_body_sha256": b64(body_hash.digest())}
row("fusionauth", {"X-FusionAuth-Signature-JWT": jwt(fusion, algorithm="RS256", kid="r1")}, secret=json.dumps({"keys": [rsa_jwk]}))
row("fusionauth", {"X-FusionAuth-Signature-JWT": jwt(fusion)})
row("wix", {}, body=jwt(times | {"data": "{}"}, algorithm="RS256").encode(), secret=pem(rsa_key))
row("custom", {"Authorization": "Bearer " + jwt(times)}, config={"type": "jwt"})

# Forms.
from urllib.parse import urlencode

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
fields = [("To", "+1 555"), ("Body", "Zoë & Co"), ("Digits", "")]
form = urlencode(fields).encode()
flat = "".join(name + value for name, value in sorted(fields))
sha1 = lambda *parts: b64(mac(*parts, algorithm="sha1"))
row("twilio", FORM | {"X-Twilio-Signature": sha1(URL, flat)}, body=form)
row("twilio", {"X-Twilio-Signature": sha1(URL, flat)}, body=form)
row("twilio", FORM | {"X-Twilio-Signature": sha1(URL.replace(".com/", ".com:443/"), flat)}, body=form)
row("twilio", FORM | {"X-Twilio-Signature": sha1(URL, flat)}, body=form, url=URL.replace(".com/", ".com:8443/"))
row("twilio", {"X-Twilio-Signature": sha1(URL)}, body=b"", method="GET")
row("twilio", FORM | {"X-Twilio-Signature": b64(mac(URL, flat)), "X-Twilio-Webhooks-Signature-Settings": "key=k1,algorithm=HMAC_SHA256"}, body=form)
hashed = URL + "&bodySHA256=" + hashlib.sha256(BODY).hexdigest()
row("twilio", {"Content-Type": "application/json", "X-Twilio-Signature": sha1(hashed)}, url=hashed)
row("mandrill", FORM | {"X-Mandrill-Signature": sha1(URL, "mandrill_events[]")}, body=b"mandrill_events=%5B%5D")
nonce = {"X-Plivo-Signature-V3-Nonce": "n1"}
base = "https://hooks.example.com/in/src_1?a=1"
row("plivo", FORM | nonce | {"X-Plivo-Signature-V3": "AAAA," + b64(mac(base, ".", flat, ".n1"))}, body=form)
row("plivo", nonce | {"X-Plivo-Signature-V3": b64(mac("https://hooks.example.com/in/src_1?a=1&b=2.n1"))}, url="https://hooks.example.com/in/src_1?b=2&a=1", body=b"", method="GET")

# Fields of the body.
item = {"pspReference": "P1", "originalReference": "", "merchantAccountCode": "M", "merchantReference": "R:1", "amount": {"value": 1130, "currency": "EUR"}, "eventCode": "AUTHORISATION", "success": "true"}
signed = mac("P1::M:R:1:1130:EUR:AUTHORISATION:true", key=bytes.fromhex("ab" * 32))
item = {"NotificationRequestItem": item | {"additionalData": {"hmacSignature": b64(signed)}}}
row("adyen", {}, secret="ab" * 32, body=json.dumps({"live": "false", "notificationItems": [item, item]}).encode())
row("adyen (standard)", {}, secret="ab" * 32, body=json.dumps({"notificationItems": [item]}).encode())
mailgun = {"timestamp": TS, "token": "tok", "signature": mac(TS, "tok").hex()}
row("mailgun", {}, body=json.dumps({"signature": mailgun, "event-data": {"id": "1"}}).encode())
row("mailgun", {}, body=json.dumps({"signature": mailgun | {"signature": "0" * 64}, "parent-signature": mailgun}).encode())
row("mailgun", FORM, body=urlencode(mailgun).encode())
event = json.dumps({"event": {"event_time": TS, "event_type": "sent", "event_hash": mac(TS, "sent").hex()}})
row("dropbox-sign", {}, body=event.encode())
row("dropbox-sign", FORM, body=urlencode({"json": event}).encode())
multipart = f'--xyz\r\nContent-Disposition: form-data; name="other"\r\n\r\n1\r\n--xyz\r\nContent-Disposition: form-data; name="json"\r\n\r\n{event}\r\n--xyz--\r\n'
row("dropbox-sign", {"Content-Type": "multipart/form-data; boundary=xyz"}, body=multipart.encode())
payload = "PG5vdGlmaWNhdGlvbi8+\n"
braintree = hmac.new(hashlib.sha1(KEY.encode()).digest(), payload.encode(), "sha1").hexdigest()
row("braintree", FORM, body=urlencode({"bt_signature": f"other|{'0' * 40}&pub1|{braintree}", "bt_payload": payload}).encode(), config={"publicKey": "pub1"})
row("braintree", FORM, body=urlencode({"bt_signature": f"pub1|{braintree}", "bt_payload": payload.strip()}).encode())

# A canonical request.
names = "x-contentful-signed-headers,x-contentful-timestamp,x-contentful-topic"
canonical = f"POST\n/in/src_1?a%253D1\nx-contentful-signed-headers:{names};x-contentful-timestamp:{MS};x-contentful-topic:T\n"
row("contentful", {"X-Contentful-Signature": mac(canonical, BODY, key="k" * 64).hex(), "X-Contentful-Signed-Headers": names, "X-Contentful-Timestamp": MS, "X-Contentful-Topic": "T"}, secret="k" * 64)

# Secrets that come along.
basic = "Basic " + b64(b"user:pa:ss")
for provider in ["aloware", "chargebee", "pipedrive", "postmark"]:
    row(provider, {"Authorization": basic}, secret="user:pa:ss")
row("chargebee", {"Authorization": basic}, secret="pa:ss", config={"username": "user"})
row("chargebee", {"Authorization": basic}, secret=None, config={"username": "user", "password": "pa:ss"})
for provider, header, prefix in [
    ("aloware", "Authorization", "Bearer "),
    ("auth0", "Authorization", ""),
    ("auth0", "Authorization", "Bearer "),
    ("okta", "Authorization", ""),
    ("gitlab", "X-Gitlab-Token", ""),
    ("ringcentral", "Verification-Token", ""),
    ("telegram", "X-Telegram-Bot-Api-Secret-Token", ""),
    ("azure-event-grid", "aeg-sas-key", ""),
    ("cloudevents", "Authorization", "Bearer "),
]:
    row(provider, {header: prefix + KEY})
row("okta", {"Authorization": "Bearer " + KEY}, secret="Bearer " + KEY)
for provider, parameter in [("mailchimp", "secret"), ("strava", "token"), ("cloudevents", "access_token"), ("azure-event-grid", "code"), ("mollie-classic", "secret")]:
    row(provider, {}, url=f"https://hooks.example.com/in/src_1?x=1&{parameter}={KEY}")
row("mailchimp", {}, url=f"https://hooks.example.com/in/src_1?pass={KEY}", config={"parameter": "pass"})
row("microsoft-graph", {}, body=json.dumps({"value": [{"clientState": KEY}, {"clientState": KEY}]}).encode())

# A source that describes its sender.
row("custom", {"X-Sig": "v=" + b64(mac(TS, "|", BODY, key=b"k" * 8, algorithm="sha512")), "X-Time": TS}, secret=b64(b"k" * 8),
    config={"header": "X-Sig", "algorithm": "hmac-sha512", "encoding": "base64", "prefix": "v=", "template": "{timestamp}|{body}", "timestampHeader": "X-Time", "secretEncoding": "base64"})
row("custom", {"X-Sig": f"a={MS};b={mac(MS, BODY).hex().upper()}"},
    config={"header": "x-sig", "template": "{timestamp}{body}", "timestampKey": "a", "signatureKey": "b", "separator": ";", "timestampUnit": "ms"})
row("custom", {"X-Sig": hashlib.sha256(KEY.encode() + BODY).hexdigest()}, config={"type": "hash", "header": "X-Sig", "template": "{secret}{body}"})
row("custom", {"X-Sig": ed.sign(BODY).hex()}, secret=ed_public.hex(), config={"type": "ed25519", "header": "X-Sig"})
row("custom", {"X-Sig": b64(rsa_key.sign(BODY, padding.PKCS1v15(), hashes.SHA256()))}, secret=pem(rsa_key), config={"type": "rsa", "header": "X-Sig", "encoding": "base64"})
row("custom", {"X-Token": KEY}, config={"type": "token", "header": "X-Token"})
row("custom", {"Authorization": basic}, secret="user:pa:ss", config={"type": "basic"})

# A body that is no text.
binary = bytes(range(256))
row("github", {"X-Hub-Signature-256": "sha256=" + mac(binary).hex()}, body=binary)
row("slack", {"X-Slack-Signature": "v0=" + mac("v0:", TS, ":", b"").hex(), "X-Slack-Request-Timestamp": TS}, body=b"")

for line in rows:
    print(json.dumps(line, ensure_ascii=False))
