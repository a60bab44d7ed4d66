"""Parts of texts that hardly any other text of a column has, and tables that such texts stand in."""

from brimgate.engine.highlights.value_parts import odd_parts, tallied_parts
from brimgate.engine.maps.credentials_scan import masked_secrets
from brimgate.engine.maps.survey import TextLines
from brimgate.engine.maps.text_table import text_rows


def test_a_rare_word_among_few_is_found() -> None:
    texts = [f"Up {at % 9} days" for at in range(200)]
    texts[77] = "Up 4 days (Paused)"
    assert odd_parts(texts) == [77]


def test_another_host_or_network_is_found() -> None:
    urls = [f"https://packages.example.org/{at}.tgz" for at in range(100)]
    urls[31] = "http://mirror.example.net/31.tgz"
    assert odd_parts(urls) == [31]
    peers = [f"10.31.{at}.7:4{at:04}" for at in range(100)]
    peers[64] = "91.240.118.9:50022"
    assert odd_parts(peers) == [64]


def test_texts_that_are_alike_have_no_odd_parts() -> None:
    assert odd_parts([f"Up {at % 9} days" for at in range(200)]) == []
    assert odd_parts(["a", "b"]) == []


def test_texts_are_counted_by_their_ending() -> None:
    counts = tallied_parts([f"unit-{at}.{'socket' if at % 4 else 'service'}" for at in range(40)])
    assert counts == {"socket": 30, "service": 10}


def test_names_one_blank_apart_name_their_columns_and_a_foot_is_no_row() -> None:
    rows = [f"tcp   {at:>6} {0:>6} 10.0.0.1:443            10.0.0.{at}:5000" for at in range(40)]
    head = "Proto Recv-Q Send-Q Local Address           Foreign Address"
    found = text_rows(TextLines.of("\n".join([head, *rows, "", "40 Connections In Total"])))
    assert found is not None
    assert len(found.rows) == 40
    assert list(found.rows[3]) == ["Proto", "Recv-Q", "Send-Q", "Local Address", "Foreign Address"]


def test_a_password_given_as_a_flag_is_masked() -> None:
    assert "RxUJQSbYHLo4Tjwr" not in masked_secrets('"redis-server --requirepass RxUJQSbYHLo4Tjwr"')
