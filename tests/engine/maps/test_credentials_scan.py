"""Credentials are found in any text, and never shown."""

import pytest

from brimgate.engine.maps.credentials_scan import find_secrets, masked_secrets
from brimgate.engine.maps.survey import MUST_SEE


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("AWS_ACCESS_KEY_ID=AKIAQX7R2LMN4PKJ6TWD", "AWS access key (AWS_ACCESS_KEY_ID): AKIA****"),
        ('{"id": 7, "api_key": "sk_live_51HxYzAbCdEfGhIjKl"}', "Stripe live key (api_key): sk_l****"),
        ("token: ghp_a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8", "GitHub token (token): ghp_****"),
        ("url: postgres://svc:Tr0ub4dor@db.internal:5432/x", "password in a URL (user svc): ****"),
        ("db.password=Winter-2024-x9", "secret value (db.password): Wi****"),
        ("<password>Winter2024!</password>", "secret value (password): Wi****"),
        ("Authorization: Bearer abc123def456ghi789", "credential (Authorization header): abc1****"),
        (
            "it was read out: user council, password f4z9KytKzAkqw2.",
            "secret told in words (password): f4****",
        ),
        ("vault login hvs.mhGNbtkIzZMaJomCNdTuzsgEx6to", "Vault token: hvs.****"),
        ("ALTER ROLE report WITH PASSWORD 'K7Qd3fc3b50s0BDmG3K7'", "secret value (PASSWORD): K7Qd****"),
        (
            "DESCRIPTION:Room 4 \\nPasscode: zT3tahFBZ\\nHost key on the board",
            "secret value (Passcode): ****",
        ),
        ("net use Z: \\\\nas\\backup /user:svc VJDyD9HATC#26", "password of a login: VJ****"),
        ("jdbcUrl=jdbc:oracle:thin:tariff/56h6ziQd9cZx@//ora:1521/X", "password of a login: 56****"),
        ('wifi ssid="DEPOT",psk="7UF5GVd28KUMNc",rssi=-61i', "secret value (psk): 7U****"),
        (
            "The password of the training system is Copper-4184, in capitals",
            "secret told in words (password): Co****",
        ),
        ("adminPassword: changeme", "default never changed (adminPassword): ****"),
    ],
)
def test_a_credential_is_told_by_kind_and_name_without_its_value(line: str, told: str) -> None:
    assert [(one.place, one.text) for one in find_secrets(["first", line, "last"])] == [(2, told)]


@pytest.mark.parametrize(
    "line",
    [
        "password: str",
        "password: ${DB_PASSWORD}",
        'token = os.environ["API_TOKEN_2"]',
        "url: postgres://user:password@db/x",
        "aws_access_key_id: AKIAIOSFODNN7EXAMPLE",
        'next_page_token: "CAEQ1234abcd5678"',
        "max_tokens: 4000",
        "existingSecret: my-app-secret",
        'if "-----BEGIN PRIVATE KEY-----" in text:',
        '"password": "Passwort eingeben"',
        "Forgot password: see section 4",
        "The password was rotated yesterday, and is required for all",
        "net view /user:guests computers",
        "token=self._token2",
    ],
)
def test_names_references_and_placeholders_are_no_credentials(line: str) -> None:
    assert find_secrets([line]) == []


def test_the_value_may_stand_on_the_line_after_its_name() -> None:
    lines = [
        "- name: REDIS_PASSWORD",
        '  value: "q8Zp31xx!k"',
        "-----BEGIN RSA PRIVATE KEY-----",
        "MIIEowIBAAKCAQEAxyz",
    ]
    assert [(one.place, one.score) for one in find_secrets(lines)] == [(2, MUST_SEE), (3, MUST_SEE)]


def test_many_of_one_name_are_one_finding() -> None:
    rows = [f'{{"token":"f3a9c1d27b6e4a50{number:04}"}}' for number in range(900)]
    (found,) = find_secrets(rows)
    assert found.text == "secret value (token): f3a9****, 900 of them, also at 2-900"


@pytest.mark.parametrize("line", ["", "\x00\ud800", "eyJ" * 100_000, "://a:b" * 50_000, " " * 100_000])
def test_odd_input_is_survived(line: str) -> None:
    assert find_secrets([line]) == []


@pytest.mark.parametrize(
    ("text", "told", "value"),
    [
        ("paid by card 4539 1488 0343 6467 cvv 998 today", "card number: 45****", "0343"),
        ("pan=4539148803436467", "card number: 4539****", "8803"),
        (
            " username backup privilege 15 password 0 Siena2020!",
            "secret told in words (password)",
            "Siena2020",
        ),
        (
            " standby 130 authentication text DZSm2bBB",
            "secret told in words (authentication text)",
            "DZSm2bBB",
        ),
    ],
)
def test_cards_and_passwords_of_devices_are_credentials(text: str, told: str, value: str) -> None:
    (found,) = find_secrets(["nothing here", text])
    assert found.place == 2 and told.split(":")[0] in found.text and value not in found.text
    assert value not in masked_secrets(text)


@pytest.mark.parametrize(
    "text",
    [
        "4539 1488 0343 6468",
        "id 4539148803436467",
        "1111 1111 1111 1111",
        "enable secret 5 $1$abcd$xyzxyzxyz",
    ],
)
def test_other_numbers_and_hashes_are_none(text: str) -> None:
    assert find_secrets([text]) == []
