"""The blocks of a configuration are tables: in the map, and for queries."""

import pytest

from brimgate.engine.maps.block_tables import block_tables
from tests.engine.holding import Held, policy
from tests.engine.test_queries import asked

FIREWALL = (
    'config system global\n    set hostname "edge"\nend\nconfig firewall policy\n'
    + "".join(
        f'    edit {at}\n        set srcintf "port{at % 4}"\n        set dstaddr "net-{at}" "net-{at + 1}"\n'
        f"        set action {'deny' if at % 5 == 0 else 'accept'}\n"
        + (
            '        set comments "first line\nsecond line at the margin"\n        set logtraffic disable\n'
            if at == 40
            else ""
        )
        + "    next\n"
        for at in range(1, 81)
    )
    + "end\n"
)
ROUTER = "".join(
    f"interface Gi1/0/{at}\n description port of desk {at}\n switchport access vlan {100 + at % 3}\n"
    f" switchport mode access\n{' shutdown' if at == 17 else ' spanning-tree portfast'}\n!\n"
    for at in range(1, 61)
)
PROXY = "".join(
    f"backend be_{name}\n    balance roundrobin\n    server s1 10.0.{at}.1:80 check\n    timeout server 30s\n\n"
    for at, name in enumerate(one + other for one in "abcdefgh" for other in "abcdefgh")
)
SITES = "http {\n" + "".join(
    f"    server {{\n        listen 443 ssl;\n        server_name s{at}.example.org;\n        location / {{\n"
    f"            root http://10.0.0.{at};\n            proxy_read_timeout 30s;\n        }}\n    }}\n"
    for at in range(40)
)


HOSTS = "".join(
    f"!======== device sw-{site:02} (NX-2448P) exported ========\nversion 17.6\nhostname sw-{site:02}\n!\n"
    f"ntp server 10.0.0.1{'1' if site != 7 else '9'}\nntp server 10.0.0.12\n!\n"
    "ip access-list standard MGMT-IN\n permit 10.0.0.0 0.0.0.255\n deny any log\n"
    "ip access-list standard SNMP-RO\n permit 10.0.4.0 0.0.0.255\n deny any log\n!\n"
    + "".join(
        f"interface Gi{port}\n switchport access vlan {port % 4}\n switchport mode access\n!\n"
        for port in range(9)
    )
    + "line vty 0 4\n access-class MGMT-IN in\n transport input ssh\n!\nend\n"
    for site in range(24)
)


def test_blocks_of_many_hosts_tell_which_and_what_stands_in_no_block_is_a_table() -> None:
    tables = {one.title: one.rows for one in block_tables(HOSTS.split("\n"))}
    assert tables["interface"].rows[0]["section"] == "sw-00"
    assert tables["lines outside of blocks"].rows[3] == {
        "section": "sw-03", "version": "17.6", "hostname": "sw-03", "ntp server": "10.0.0.11 | 10.0.0.12",
    }  # fmt: skip
    assert [row["name"] for row in tables["ip access-list standard"].rows[:3]] == [
        "MGMT-IN",
        "SNMP-RO",
        "MGMT-IN",
    ]
    assert tables["line vty"].rows[0]["access-class"] == "MGMT-IN in"
    sql = """SELECT section FROM t1 WHERE "ntp server" NOT LIKE '%.11 |%'"""
    assert asked(sql, HOSTS) == [{"section": "sw-07"}]
    assert "10.0.0.19 | 10.0.0.12 (1 of 24)" in Held(HOSTS.encode(), policy(2_000)).opening().highlights


def test_a_block_is_a_row_and_its_lines_are_columns() -> None:
    (table,) = block_tables(FIREWALL.splitlines())
    assert table.title == "firewall policy" and len(table.rows.rows) == 80
    assert table.names == ("name", "srcintf", "dstaddr", "action", "comments", "logtraffic")
    assert table.rows.rows[38] == {
        "name": "39", "srcintf": "port3", "dstaddr": "net-39, net-40", "action": "accept",
    }  # fmt: skip
    assert FIREWALL.splitlines()[table.rows.places[38] - 1].strip() == "edit 39"


def test_a_text_in_quotes_that_goes_on_at_the_margin_ends_no_block() -> None:
    (table,) = block_tables(FIREWALL.splitlines())
    assert table.rows.rows[39]["logtraffic"] == "disable"
    assert table.rows.rows[39]["comments"] == "first line …"


def test_a_long_value_is_kept_whole() -> None:
    members = [f"host-{at}" for at in range(400)]
    text = FIREWALL.replace('"net-39" "net-40"', " ".join(f'"{one}"' for one in members))
    (row,) = asked("SELECT length(dstaddr) AS c FROM t1 WHERE name = 39", text)
    assert row == {"c": len(", ".join(members))}


def test_a_line_that_the_map_reads_cut_leaves_the_same_rows() -> None:
    members = " ".join(f'"host-{at}"' for at in range(400))
    text = FIREWALL.replace('"net-39" "net-40"', members)
    assert "t1 = firewall policy (80)" in Held(text.encode(), policy(1_000)).opening().highlights
    assert asked("SELECT count(*) AS c FROM t1", text) == [{"c": 80}]


def test_keys_of_several_words_are_learned_and_a_line_alone_is_yes() -> None:
    (table,) = block_tables(ROUTER.splitlines())
    assert table.title == "interface"
    assert table.rows.rows[16] == {
        "name": "Gi1/0/17", "description port of desk": "17", "switchport access vlan": "102",
        "switchport mode": "access", "shutdown": "yes",
    }  # fmt: skip


@pytest.mark.parametrize("count", [20, 100, 5_000, 6_000])
def test_many_blocks_of_equal_length_are_seen(count: int) -> None:
    """Whatever lines are looked at first: none of them may be always the same line of its block."""
    lines = [line for at in range(count) for line in (f"edit {at}", f" set mtu {at}", " set mode up", "next")]
    (table,) = block_tables(lines)
    assert len(table.rows.rows) == count


def test_braces_and_names_of_letters_alone_are_blocks_too() -> None:
    assert [(one.title, len(one.rows.rows)) for one in block_tables(PROXY.splitlines())] == [("backend", 64)]
    tables = {one.title: one for one in block_tables(SITES.splitlines())}
    assert set(tables) == {"http / server", "http / server / location"}
    assert tables["http / server"].rows.rows[7] == {"listen": "443 ssl", "server_name": "s7.example.org"}
    assert tables["http / server / location"].rows.rows[7]["root"] == "http://10.0.0.7"


def test_the_first_reply_names_the_tables_and_a_query_reads_them() -> None:
    told = Held(FIREWALL.encode(), policy(1_000)).opening().highlights
    assert "tables for query: t = lines (n, text); t1 = firewall policy (80)" in told
    assert "action accept 64, deny 16" in told
    assert asked("SELECT name FROM t1 WHERE logtraffic = 'disable'", FIREWALL) == [{"name": 40}]
    assert asked('SELECT count(*) AS c FROM t1 WHERE "switchport access vlan" = 101', ROUTER) == [{"c": 20}]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\n" * 10,
        "".join(f"def name{at}(self):\n    return {at}\n    # done\n" for at in range(50)),
        "".join(f"key{at}:\n  value: {at}\n  other: {at}\n" for at in range(50)),
        "".join(f"Chapter {at}\n  The roof of house {at} is red.\n  Nobody saw it.\n" for at in range(50)),
    ],
)
def test_code_yaml_and_prose_have_no_such_tables(text: str) -> None:
    assert block_tables(text.splitlines()) == []


@pytest.mark.parametrize(
    "text",
    [
        "".join("\t" * (at % 200) + f"edit {at}\n" for at in range(4_000)),
        "".join(f'edit {at}\n  set a "{"x" * 5_000}\n' for at in range(50)),
        '  "\n' * 500,
        "\x00\ud800\n  \ud800\n" * 100,
        "{\n {\n  {\n" * 300,
        " a\n" * 1_000,
    ],
)
def test_odd_text_is_survived(text: str) -> None:
    for table in block_tables(text.splitlines()):
        assert table.title and len(table.rows.rows) == len(table.rows.places)
