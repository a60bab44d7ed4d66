"""deploy/vikunja/compose.yaml. No Docker is here to start it: all that it names must exist."""

import re
from typing import Any

import yaml

from brimgate.cli.main import build_parser
from brimgate.config.sources import OTHER_VARIABLES, is_store_url, variables
from tests.conftest import ROOT
from tests.deploy.test_units import UNITS

FOLDER = ROOT / "deploy" / "vikunja"
TEXT = (FOLDER / "compose.yaml").read_text()
SERVICES: dict[str, Any] = yaml.safe_load(TEXT)["services"]


def test_paths_and_volumes_exist() -> None:
    built = SERVICES["brimgate"]["build"]
    assert (FOLDER / built["context"]).resolve() == ROOT
    assert (ROOT / built["dockerfile"]).is_file()
    used = {one.partition(":")[0] for service in SERVICES.values() for one in service.get("volumes", [])}
    assert used == set(yaml.safe_load(TEXT)["volumes"])


def test_variables_exist() -> None:
    known = {key.variable for key in variables()} | OTHER_VARIABLES
    known |= set(re.findall(r"(?m)^#?([A-Z_]+)=", (UNITS / "environment.example").read_text()))
    assert set(SERVICES["brimgate"]["environment"]) <= known
    url = re.sub(r"\$\{\w+\}", "secret", SERVICES["brimgate"]["environment"]["REDIS_URL"])
    assert is_store_url(url)


def test_the_command_is_one_of_ours() -> None:
    options = build_parser().parse_args(SERVICES["brimgate"]["command"])
    assert (options.pack, options.host) == ("vikunja", "0.0.0.0")  # noqa: S104


def test_hosts_and_ports_are_those_of_the_services() -> None:
    environment = SERVICES["brimgate"]["environment"]
    assert re.search(r"//(\w+):3456", environment["VIKUNJA_API_URL"])[1] in SERVICES  # type: ignore[index]
    assert re.search(r"@(\w+):6379", environment["REDIS_URL"])[1] in SERVICES  # type: ignore[index]
    assert f"EXPOSE {environment['MCP_HTTP_PORT']}" in (ROOT / "deploy/Containerfile").read_text()


def test_everyone_has_a_health_check_and_only_this_machine_a_port() -> None:
    for name, service in SERVICES.items():
        assert service["restart"] == "no" or service["healthcheck"]["test"], name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name
    waited = SERVICES["brimgate"]["depends_on"]
    assert {one["condition"] for one in waited.values()} == {"service_healthy"}


def test_no_secret_stands_there() -> None:
    """Each is asked for, and it does not start without."""
    required = set(re.findall(r"\$\{(\w+):\?", TEXT))
    assert required == {"STORE_PASSWORD", "VIKUNJA_SECRET"}
    for name in ("REDISCLI_AUTH", "VIKUNJA_SERVICE_SECRET"):
        values = [
            service["environment"][name]
            for service in SERVICES.values()
            if name in service.get("environment", {})
        ]
        assert values and all(value.startswith("${") for value in values)
