"""One account at an API: its credentials, its share of the limits, and its errors."""

import hashlib
from collections.abc import Callable

from brimgate.back.rest.credentials import AuthorizedSender, Credentials, FixedCredentials
from brimgate.back.rest.errors import Failures
from brimgate.back.rest.model import Api
from brimgate.back.rest.rates import Rates
from brimgate.back.rest.sender import ApiReply, ApiRequest, Sender
from brimgate.http.client import Headers, HttpClient


class ApiAccount:
    def __init__(
        self,
        api: Api,
        client: HttpClient,
        failures: Failures,
        *,
        address: str,
        account: str,
        credentials: Callable[[Sender], Credentials],
        on_refused: Callable[[], None] = lambda: None,
    ) -> None:
        """Create it. `account` is an id that all with the same credentials share.

        `on_refused` is called when the API does not take the credentials.
        """
        self.failures = failures
        self.rates = Rates(
            api.rate_limits,
            address=address,
            account=account,
            max_waiting=api.max_waiting,
            max_wait_seconds=api.max_wait_seconds,
        )
        sender = Sender(
            client,
            self.rates,
            failures,
            timeout_seconds=api.timeout_seconds,
            max_answer_bytes=api.max_answer_bytes,
            reset_header=api.errors.reset,
        )
        self._credentials = credentials(sender)
        self._sender = AuthorizedSender(sender, self._credentials, failures, api.errors, on_refused)

    async def call(self, request: ApiRequest) -> ApiReply:
        """Send a request with the credentials of the account. Raise ApiError if the API refuses it."""
        return await self._sender.call(request)

    async def close(self) -> None:
        await self._credentials.close()


def account_of_caller(
    api: Api, client: HttpClient, address: str, headers: Headers, on_refused: Callable[[], None]
) -> ApiAccount:
    """Return the account of a caller who brings a credential. Nothing of it is shared with another."""
    shown = b"\n".join(name + b":" + value for name, value in headers)
    secrets = tuple(value.decode("latin-1").rpartition(" ")[2] for _, value in headers)
    return ApiAccount(
        api,
        client,
        Failures(api.title, secrets, meanings=api.errors.statuses),
        address=address,
        account=hashlib.sha256(shown).hexdigest(),
        credentials=lambda _: FixedCredentials(headers),
        on_refused=on_refused,
    )
