"""The certificate that clients see. It can be renewed while connections stay open."""

import ssl
from hashlib import sha256
from pathlib import Path

from brimgate.errors import OperatorError


class Certificate:
    def __init__(self, cert: str, key: str = "") -> None:
        """Read both files; an empty `key` is in the first. Raise OperatorError if they cannot be used."""
        self._mark = _mark(cert, key)
        self._newest = self.context = _load(cert, key)
        """What every connection begins with, as long as we run."""
        self.context.sni_callback = self._choose

    def renew(self, cert: str, key: str = "") -> bool:
        """Read the files again, for handshakes from now on. Return whether they have changed.

        Raise OperatorError if they cannot be used: then the certificate stays as it is.
        """
        mark = _mark(cert, key)
        if mark == self._mark:
            return False
        self._newest, self._mark = _load(cert, key), mark
        return True

    def _choose(self, handshake: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        # OpenSSL calls this in every handshake, also of clients that name no host.
        handshake.context = self._newest


def _mark(*files: str) -> tuple[bytes, ...]:
    return tuple(sha256(_read(file)).digest() for file in files if file)


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except (OSError, ValueError) as error:
        raise OperatorError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None


def _load(cert: str, key: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(cert, key or None, password=_refuse_passphrase)
    except ssl.SSLError as error:
        raise OperatorError(_reason(error, cert, key or cert)) from None
    except (OSError, ValueError) as error:
        raise OperatorError(f"cannot read {cert}: {getattr(error, 'strerror', None) or error}") from None
    return context


def _refuse_passphrase() -> str:
    """Refuse an encrypted key: OpenSSL would ask for the passphrase on the terminal, and wait for ever."""
    raise OperatorError("tls_key has a passphrase: write it without one, readable by our own user alone")


def _reason(error: ssl.SSLError, cert: str, key: str) -> str:
    if "MISMATCH" in (error.reason or ""):
        return f"the key in {key} is not that of the certificate in {cert}"
    return f"{cert} and {key} must hold a certificate and its private key in PEM: {error.reason or 'no PEM'}"
