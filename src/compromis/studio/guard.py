"""ASGI middleware: host, origin, token and size checks, and security headers."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from compromis.errors import InputError

TOKEN_HEADER = "x-compromis-token"  # noqa: S105 (the name of a header)
JSON, BINARY = "application/json", "application/octet-stream"
UPLOAD = "/api/upload"
"""The only route that takes anything but JSON."""
HTTP_PORT = 80
"""The port that browsers leave out of an address."""
SINGLE = "origin", "sec-fetch-site", "content-type", "content-length", "cookie", TOKEN_HEADER
"""Headers that a request has once: of two, another program might look at the other one."""
MOST_JSON = 4 << 20
"""Bytes of a JSON request: preferences for 50,000 classes fit."""
MOST_DISCARDED, PATIENCE = 16 << 20, 2.0
"""Bytes and seconds of a refused request that are read before it is answered."""

_CSP = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


@dataclass(frozen=True, slots=True)
class Secrets:
    """The token, and the weaker key of the cookie: it opens pages, never data.

    Cookies go to every port of a host, so another local server may see ours; it must not give access to data.
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def page_key(self) -> str:
        """The value of the cookie."""
        return hmac.digest(self.token.encode(), b"page", "sha256").hex()

    def is_token(self, given: str) -> bool:
        """Whether `given` is the token, compared in constant time."""
        return hmac.compare_digest(given.encode(), self.token.encode())

    def is_page_key(self, given: str) -> bool:
        """Whether `given` is the cookie's key, compared in constant time."""
        return hmac.compare_digest(given.encode(), self.page_key.encode())


def read_token(text: str) -> Secrets:
    """Return the secrets of a token that the user chose."""
    if len(text) < 16 or not text.isascii() or not all(letter.isalnum() or letter in "-_" for letter in text):
        raise InputError("COMPROMIS_STUDIO_TOKEN must have at least 16 letters and digits (also - and _)")
    return Secrets(text)


class Guard:
    """Refuse every request that is not from this studio's own page, and add the security headers to every answer."""

    def __init__(self, app: ASGIApp, keys: Secrets, port: int, most_upload: int) -> None:
        self._app = app
        self._keys = keys
        names = "127.0.0.1", "localhost"
        self._hosts = {f"{name}:{port}" for name in names} | (set(names) if port == HTTP_PORT else set())
        self._cookie = f"compromis-{port}"
        self._most_upload = most_upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the request, then call the app."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # the studio has no websockets
            await send({"type": "websocket.close", "code": 1008})
            return
        nonce = secrets.token_urlsafe(16)
        scope["compromis.nonce"] = nonce
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        greets = refusal is None and scope["path"] == "/" and self._keys.is_token(_query_token(scope))
        guarded = _with_headers(send, scope, f"{self._cookie}={self._keys.page_key}" if greets else None)
        if refusal is not None:
            await _discard(receive)
            await _refuse(guarded, *refusal)
            return
        await self._app(scope, _bounded(receive, self._most(scope)), guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Return status and message of the first check that fails."""
        opens_page = scope["method"] == "GET" and scope["path"] == "/"
        # the file that opens the browser is another site, but it knows the token
        greeted = opens_page and self._keys.is_token(_query_token(scope))
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        repeated = next((name for name in SINGLE if len(headers.getlist(name)) > 1), None)
        if repeated is not None:
            return 400, f"the header {repeated} stands twice in the request"
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return 403, "this host is not served here; use the address that the terminal shows"
        if origin is not None and origin not in {f"http://{host}" for host in self._hosts}:
            return 403, "requests of other sites are refused"
        if site is not None and site != "same-origin" and not greeted and not (site == "none" and opens_page):
            return 403, "requests of other sites are refused"
        if not self._knows_secret(scope, headers):
            return 401, "the token is missing or wrong; open the address that the terminal shows"
        return self._content_refusal(scope, headers)

    def _content_refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        wanted = BINARY if scope["path"] == UPLOAD else JSON
        kinds = headers.getlist("content-type")
        if kinds != [wanted] and (kinds or scope["method"] not in {"GET", "HEAD"}):
            return 415, f"the content type must be {wanted}"
        length, most = headers.get("content-length", "0"), self._most(scope)
        if not length.isascii() or not length.isdigit() or int(length[:20]) > most:
            return 413, _too_large(most)
        return None

    def _knows_secret(self, scope: Scope, headers: Headers) -> bool:
        if self._keys.is_token(headers.get(TOKEN_HEADER, "")):
            return True
        if scope["path"].startswith("/api/") or scope["method"] not in {"GET", "HEAD"}:
            return False  # a cookie travels by itself; data need the header, which only our page sends
        if scope["path"] == "/" and self._keys.is_token(_query_token(scope)):
            return True
        return self._keys.is_page_key(_cookie(headers, self._cookie))

    def _most(self, scope: Scope) -> int:
        return self._most_upload if scope["path"] == UPLOAD else MOST_JSON


class TooLarge(Exception):
    """The request has more bytes than it may have."""


def _bounded(receive: Receive, most: int) -> Receive:
    """Count the bytes that arrive: the content length may be wrong, and a stream has none."""
    left = most

    async def counted() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            await _discard(receive)
            raise TooLarge(_too_large(most))
        return message

    return counted


async def _discard(receive: Receive) -> None:
    """Read and drop the rest of a request, within bounds: a client that is cut off while it sends never sees the answer."""
    left = MOST_DISCARDED
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            more = True
            while more and left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                more = message["type"] == "http.request" and message.get("more_body", False)


def _too_large(most: int) -> str:
    return f"this is larger than the {most / 1e6:,.0f} MB that are accepted"


def _query_token(scope: Scope) -> str:
    try:
        return parse_qs(scope["query_string"].decode("ascii")).get("token", [""])[-1]
    except (UnicodeDecodeError, ValueError):
        return ""


def _cookie(headers: Headers, name: str) -> str:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if cookie is None else cookie.value


def _with_headers(send: Send, scope: Scope, cookie: str | None) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(
                {
                    "Content-Security-Policy": scope.get("compromis.policy")
                    or _CSP.format(nonce=scope["compromis.nonce"]),
                    "X-Frame-Options": "DENY",
                    "X-Content-Type-Options": "nosniff",
                    "Cache-Control": "no-store",
                    "Referrer-Policy": "no-referrer",
                    "Cross-Origin-Opener-Policy": "same-origin",
                    "Cross-Origin-Resource-Policy": "same-origin",
                }
            )
            if cookie is not None:
                headers["Set-Cookie"] = f"{cookie}; Path=/; HttpOnly; SameSite=Strict"
        await send(message)

    return guarded


async def _refuse(send: Send, status: int, message: str) -> None:
    body: bytes = msgspec.json.encode({"error": message})
    headers: list[tuple[bytes, bytes]] = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    start: dict[str, Any] = {"type": "http.response.start", "status": status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": body})
