"""Deep documents: security groups with their rules, and an inventory as a map of hosts."""

# ruff: noqa: SIM905, S104, S608

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Notes
from bench.fidelity.planted import Parts, kind

from .tools import rare


def _leaf(word: str) -> str:
    """Ask for the places of a value."""
    return f"SELECT path, value FROM leaf WHERE value LIKE {w.quoted(f'%{word}%')}"


DEFAULTS = (
    (
        "AllowVnetInBound",
        "Allow",
        "Inbound",
        65000,
        "VirtualNetwork",
        "VirtualNetwork",
        "Allow inbound traffic from all VMs in VNET",
    ),
    (
        "AllowAzureLoadBalancerInBound",
        "Allow",
        "Inbound",
        65001,
        "AzureLoadBalancer",
        "*",
        "Allow inbound traffic from azure load balancer",
    ),
    ("DenyAllInBound", "Deny", "Inbound", 65500, "*", "*", "Deny all inbound traffic"),
    (
        "AllowVnetOutBound",
        "Allow",
        "Outbound",
        65000,
        "VirtualNetwork",
        "VirtualNetwork",
        "Allow outbound traffic from all VMs to all VMs in VNET",
    ),
    (
        "AllowInternetOutBound",
        "Allow",
        "Outbound",
        65001,
        "*",
        "Internet",
        "Allow outbound traffic from all VMs to Internet",
    ),
    ("DenyAllOutBound", "Deny", "Outbound", 65500, "*", "*", "Deny all outbound traffic"),
)


@kind("z_azure_nsgs", "nested")
def z_azure_nsgs(rng: random.Random) -> Parts:
    """What `az network nsg list` prints: security groups with their own and their default rules."""
    subscription = w.uuid(rng)
    size = rng.randint(19, 21)
    names = w.distinct(
        rng, size, lambda r: f"nsg-{r.choice(w.TEAMS)}-{r.choice(('web', 'app', 'db', 'jobs'))}"
    )
    ports = {
        "443": "https",
        "80": "http",
        "8080": "proxy",
        "5432": "pg",
        "1433": "sql",
        "6379": "redis",
        "9100": "node",
        "5671": "amqps",
    }
    place = "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.Network/{}".format
    groups: list[dict] = []

    def rule(
        group: dict,
        name: str,
        priority: int,
        src: str,
        dst: str,
        port: str,
        access: str,
        direction: str,
        default: bool,
        text: str | None,
    ) -> dict:
        made = {
            "access": access,
            "description": text,
            "destinationAddressPrefix": dst,
            "destinationAddressPrefixes": [],
            "destinationPortRange": port,
            "destinationPortRanges": [],
            "direction": direction,
            "etag": group["etag"],
            "id": f"{group['id']}/{'defaultSecurityRules' if default else 'securityRules'}/{name}",
            "name": name,
            "priority": priority,
            "protocol": "*" if default else "Tcp",
            "provisioningState": "Succeeded",
            "resourceGroup": group["resourceGroup"],
            "sourceAddressPrefix": src,
            "sourceAddressPrefixes": [],
            "sourcePortRange": "*",
            "sourcePortRanges": [],
            "type": f"Microsoft.Network/networkSecurityGroups/{'defaultSecurityRules' if default else 'securityRules'}",
        }
        return made

    for k, name in enumerate(names):
        team, tier = name.split("-")[1:]
        own = f"rg-{team}"
        group: dict = {
            "defaultSecurityRules": [],
            "etag": f'W/"{w.uuid(rng)}"',
            "id": place(subscription, own, f"networkSecurityGroups/{name}"),
            "location": "westeurope" if k % 3 else "northeurope",
            "name": name,
            "provisioningState": "Succeeded",
            "resourceGroup": own,
            "resourceGuid": w.uuid(rng),
            "securityRules": [],
            "subnets": [
                {
                    "id": place(
                        subscription, "rg-network", f"virtualNetworks/vnet-main/subnets/snet-{team}-{tier}"
                    ),
                    "resourceGroup": "rg-network",
                }
            ],
            "tags": {
                "costCenter": str(rng.randint(4000, 4999)),
                "env": rng.choice(("prod", "prod", "test")),
                "owner": f"team-{team}",
            },
            "type": "Microsoft.Network/networkSecurityGroups",
        }
        for title, access, direction, priority, src, dst, text in DEFAULTS:
            group["defaultSecurityRules"].append(
                rule(group, title, priority, src, dst, "*", access, direction, True, text)
            )
        for j, port in enumerate(rng.sample(list(ports), rng.randint(4, 6))):
            title = f"allow-{ports[port]}-{rng.choice(w.THINGS)}"
            src, dst = (f"10.{rng.randint(1, 60)}.{rng.randint(0, 250)}.0/24" for _ in range(2))
            group["securityRules"].append(
                rule(group, title, 100 + 10 * j, src, dst, port, "Allow", "Inbound", False, None)
            )
        groups.append(group)
    order = w.spots(rng, size, 12, apart=1, low=0.1, high=0.95)
    ssh, failed, loose, bare, wide, old, leak, out, public, crowd, source, other = order
    far = next(k for k in range(3, size) if k not in order)
    picked: dict[int, dict] = {}

    def own(k: int) -> dict:
        if k not in picked:
            picked[k] = rng.choice(groups[k]["securityRules"][1:])
        return picked[k]

    def rename(k: int, name: str) -> dict:
        one = own(k)
        one["id"] = one["id"].rsplit("/", 1)[0] + "/" + name
        one["name"] = name
        return one

    tail = rng.randint(100, 999)
    rename(ssh, f"allow-ssh-{tail}").update(sourceAddressPrefix="*", destinationPortRange="22")
    own(failed)["provisioningState"] = "Failed"
    groups[loose]["subnets"] = []
    del groups[bare]["tags"]
    rename(wide, f"allow-any-{tail + 1}").update(destinationPortRange="0-65535", protocol="*")
    year = rng.randint(2019, 2022)
    own(old)["description"] = f"Temporary for the migration, remove before {year}-03-31"
    secret = f"{w.alnum(rng, 3)}8Q~{w.alnum(rng, 34)}"
    groups[leak]["tags"]["deployClientSecret"] = secret
    title = f"deny-storage-{tail + 2}"
    rename(out, title).update(
        access="Deny", direction="Outbound", destinationAddressPrefix="Storage", destinationPortRange="443"
    )
    address = f"198.51.100.{rng.randint(2, 250)}"
    own(public).update(sourceAddressPrefix=f"{address}/32", destinationPortRange="5432")
    many = rng.randint(23, 28)
    for j in range(len(groups[crowd]["securityRules"]), many):
        port = rng.choice(list(ports))
        src, dst = (f"10.{rng.randint(1, 60)}.{rng.randint(0, 250)}.0/24" for _ in range(2))
        groups[crowd]["securityRules"].append(
            rule(
                groups[crowd],
                f"allow-{ports[port]}-{rng.choice(w.THINGS)}-{j}",
                100 + 10 * j,
                src,
                dst,
                port,
                "Allow",
                "Inbound",
                False,
                None,
            )
        )
    own(source)["sourcePortRange"] = "53"
    alien = w.uuid(rng)
    groups[other]["subnets"][0]["id"] = groups[other]["subnets"][0]["id"].replace(subscription, alien)
    groups[far]["location"] = "brazilsouth"
    n = Notes()

    def at(k: int, whole: bool = False) -> tuple[str, list[str]]:
        group = groups[k]
        if whole:
            return f"/{k}", [group["name"], f"/{k}/", f"/{k}", f"[{k}]", f"#{k}", f"item {k}", f"row {k}"]
        j = group["securityRules"].index(own(k))
        path = f"/{k}/securityRules/{j}"
        return path, [own(k)["name"], group["name"], path, f"[{k}]", f"/{k}/", f"#{k}"]

    def one(
        what: str,
        k: int,
        telling: list,
        path: str,
        *searches: str,
        alone: tuple = (),
        whole: bool = False,
        hidden: str = "",
        sql: str = "",
    ) -> None:
        pointer, places = at(k, whole)
        n.say(
            what,
            w.pairs(telling, places) + rare(*alone),
            *searches,
            pointer=pointer + path,
            hidden=hidden,
            sql=sql or _leaf(searches[0]),
        )

    def column(name: str) -> str:
        return f"SELECT {name}, count(*) AS k, min(name) FROM t GROUP BY 1 ORDER BY 2"

    told = [
        "any source",
        "source *",
        "sourceAddressPrefix *",
        "from anywhere",
        "from any",
        "Internet",
        "to the world",
        "world",
        'sourceAddressPrefix: "*"',
        "sourceAddressPrefix=*",
        "from *",
        "port 22",
        '"22"',
        "destinationPortRange 22",
        "destinationPortRange: 22",
        "ssh open",
        "22",
    ]
    name = own(ssh)["name"]
    n.say(
        "error",
        (*w.pairs(told, [name, *at(ssh)[1][1:4]]), *rare("22", name)),
        '/"22"/',
        "ssh",
        pointer=at(ssh)[0],
        sql="SELECT path, value FROM leaf WHERE value = '22' OR value LIKE 'allow-ssh%'",
    )
    one(
        "rare status",
        failed,
        ["Failed", "failed"],
        "/provisioningState",
        "Failed",
        "provisioningState",
        alone=("Failed",),
    )
    name = groups[loose]["name"]
    told = [
        "no subnet",
        "no subnets",
        "subnets []",
        "subnets: []",
        "not attached",
        "unattached",
        "not associated",
        "unassociated",
        "subnets empty",
        "empty subnets",
        "0 subnets",
        "without subnet",
        "unused",
        "orphan",
    ]
    n.say(
        "missing field",
        (
            *w.pairs(told, at(loose, True)[1]),
            *w.gone(at(loose, True)[1], "subnets", "subnet"),
            *w.pairs(["subnets"], ["1 empty", "empty: 1", "empty in 1", "[] 1", f"{size - 1} of {size}"]),
        ),
        '"subnets": []',
        "subnets",
        pointer=f"/{loose}/subnets",
        sql="SELECT name, subnets FROM t WHERE subnets = '[]'",
        derived=True,
    )
    n.say(
        "missing field",
        (
            *w.gone(at(bare, True)[1], "tags"),
            *w.pairs(
                ["tags"],
                [
                    f"{size - 1} of {size}",
                    "1 missing",
                    "missing: 1",
                    "1 without",
                    "missing in 1",
                    "all but 1",
                    "all but one",
                ],
            ),
        ),
        "tags",
        pointer=f"/{bare}",
        sql="SELECT name, tags.owner AS tags FROM t WHERE tags.owner IS NULL",
        derived=True,
    )
    one(
        "outlier",
        wide,
        ["0-65535", "all ports", "any port", "every port"],
        "/destinationPortRange",
        "0-65535",
        "allow-any",
        alone=("0-65535",),
    )
    one(
        "rare value",
        old,
        [f"{year}-03-31", "Temporary", "remove before"],
        "/description",
        "Temporary",
        str(year),
        alone=("Temporary for the migration", "Temporary", "remove before"),
    )
    one(
        "secret",
        leak,
        ["deployClientSecret", "client secret", "secret"],
        "/tags/deployClientSecret",
        "deployClientSecret",
        "Secret",
        alone=("deployClientSecret",),
        whole=True,
        hidden=secret,
        sql="SELECT name, 'deployClientSecret' AS tag FROM t WHERE tags.deployClientSecret IS NOT NULL",
    )
    one(
        "rare value",
        out,
        ["Storage", "Deny Outbound", "outbound deny", title],
        "/access",
        title,
        "Storage",
        alone=("Storage", title),
    )
    one(
        "rare value",
        public,
        [address, "public address", "public IP"],
        "/sourceAddressPrefix",
        address,
        "198.51.100",
        alone=(address, f"{address}/32"),
    )
    told = [f"{many} rules", f"{many} securityRules", many]
    asked = "SELECT t.name, count(*) AS rules FROM t JOIN securityRules s ON s.parent = t.n GROUP BY 1 ORDER BY 2 DESC LIMIT 2"
    place_, spots = at(crowd, True)
    n.say(
        "outlier",
        w.pairs(told, spots) + w.pairs([f"{many}"], ["most rules", "max"]),
        "securityRules",
        groups[crowd]["name"],
        pointer=f"{place_}/securityRules",
        sql=asked,
        derived=True,
    )
    one(
        "rare value",
        source,
        ["sourcePortRange", "source port"],
        "/sourcePortRange",
        "sourcePortRange",
        '"53"',
        alone=("53", "sourcePortRange 53"),
        sql="SELECT path, value FROM leaf WHERE path LIKE '%sourcePortRange' AND value = '53'",
    )
    told = [
        alien,
        alien[:8],
        "another subscription",
        "other subscription",
        "different subscription",
        "foreign subscription",
    ]
    one("outlier", other, told, "/subnets/0/id", alien[:8], "/subscriptions/", alone=(alien,), whole=True)
    one(
        "rare value",
        far,
        ["brazilsouth"],
        "/location",
        "brazilsouth",
        "location",
        alone=("brazilsouth",),
        whole=True,
        sql=column("location"),
    )
    n.tally(
        size,
        ["items", "groups", "security groups", "rows", "records", "NSGs", "networkSecurityGroups", "nsg"],
        "resourceGuid",
        sql="SELECT count(*) AS groups FROM t",
    )
    total = sum(len(one["securityRules"]) for one in groups)
    n.say(
        "count",
        w.count(total, "securityRules", "custom rules", "security rules", "own rules", "rules")
        + w.count(total + 6 * size, "rules", "access", "sourcePortRange"),
        "sourcePortRange",
        "securityRules",
        sql="SELECT count(*) AS securityRules FROM securityRules",
        derived=True,
    )
    spread = Counter(one["location"] for one in groups)
    n.tally(spread["northeurope"], ["northeurope"], "northeurope", "location", sql=column("location"))
    return n.parts(json.dumps(groups, indent=2))


ROLES = {"web": 26, "app": 30, "db": 14, "cache": 10, "queue": 10, "batch": 14}


@kind("z_ansible_inventory", "nested")
def z_ansible_inventory(rng: random.Random) -> Parts:
    """What `ansible-inventory --list` prints: the variables of each host, and the groups."""
    towns = rng.sample(w.TOWNS, 3)
    hosts = [
        f"{role}{k:02d}.{rng.choice(towns).lower()}.example.net"
        for role, many in ROLES.items()
        for k in range(1, many + 1)
    ]
    rng.shuffle(hosts)
    size = len(hosts)
    version = f"{rng.randint(4, 8)}.{rng.randint(1, 9)}"
    day = datetime(2025, rng.randint(3, 9), rng.randint(3, 26), 2, tzinfo=UTC)
    variables: dict[str, dict] = {}
    addresses = iter(
        w.distinct(rng, size, lambda r: f"10.{r.randint(20, 29)}.{r.randint(0, 250)}.{r.randint(2, 250)}")
    )
    for name in hosts:
        role, town = name[: name.index(".") - 2], name.split(".")[1]
        backup = day + timedelta(minutes=rng.randint(0, 200))
        variables[name] = {
            "ansible_host": next(addresses),
            "ansible_port": 22,
            "ansible_user": "deploy",
            "ansible_become": True,
            "ansible_become_password": "{{ vault_become_password }}",
            "ansible_python_interpreter": "/usr/bin/python3",
            "app_version": f"{version}.{rng.randint(0, 3)}",
            "backup": {
                "enabled": True,
                "last_success": f"{backup:%Y-%m-%dT%H:%M:%SZ}",
                "retention_days": rng.choice((14, 30)),
            },
            "datacenter": town,
            "disks": [
                {
                    "device": f"/dev/sd{letter}",
                    "mount": mount,
                    "size_gb": rng.choice((40, 80, 120, 200)),
                    "fstype": "xfs",
                }
                for letter, mount in zip("abc", ("/", "/var", "/srv")[: rng.randint(2, 3)], strict=False)
            ],
            "firewall": {
                "enabled": True,
                "allow": [
                    {"port": port, "source": "10.0.0.0/8"}
                    for port in (22, 9100, {"web": 443, "db": 5432}.get(role, 8080))
                ],
            },
            "hardware": {
                "cpus": rng.choice((4, 8, 16)),
                "memory_mb": rng.choice((16384, 32768, 65536)),
                "model": rng.choice(("R650", "R640", "DL360")),
            },
            "monitoring": {
                "agent": "node_exporter",
                "labels": {"role": role, "site": town},
                "scrape_interval": "30s",
            },
            "ntp_servers": ["10.0.0.11", "10.0.0.12"],
            "os": {
                "family": "RedHat" if role != "batch" else "Debian",
                "name": "AlmaLinux" if role != "batch" else "Ubuntu",
                "version": "9.4" if role != "batch" else "22.04",
            },
            "rack": f"{rng.choice('ABCDEF')}{rng.randint(1, 24):02d}",
        }
    spots = [hosts[k] for k in w.spots(rng, size, 13, apart=3)]
    twin, bare, knock, root, leak, snake, dead, tiny, stale, naked, lapsed, public, loner = spots
    mate = hosts[hosts.index(twin) - 1]
    shared = variables[twin]["ansible_host"] = variables[mate]["ansible_host"]
    del variables[bare]["backup"]
    port = rng.randint(22_001, 22_999)
    variables[knock]["ansible_port"] = port
    variables[root]["ansible_user"] = "root"
    secret = f"{rng.choice(w.FAMILY)}{rng.randint(1000, 9999)}#{w.alnum(rng, 5)}"
    variables[leak]["ansible_become_password"] = secret
    variables[snake]["ansible_python_interpreter"] = "/usr/bin/python2.7"
    variables[dead]["os"] = {"family": "RedHat", "name": "CentOS", "version": "6.10"}
    memory = rng.choice((256, 512, 768))
    variables[tiny]["hardware"]["memory_mb"] = memory
    past = f"1.{rng.randint(2, 9)}.{rng.randint(10, 19)}"
    variables[stale]["app_version"] = past
    variables[naked]["firewall"]["enabled"] = False
    before = f"2023-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"
    variables[lapsed]["backup"]["last_success"] = f"{before}T02:11:09Z"
    address = f"203.0.113.{rng.randint(2, 250)}"
    variables[public]["ansible_host"] = address
    groups = {
        role: {"hosts": sorted(one for one in hosts if one.startswith(role) and one != loner)}
        for role in ROLES
    }
    some = rng.choice(list(ROLES))
    ghost = f"{some}{rng.randint(61, 99)}.{towns[0].lower()}.example.net"
    place = rng.randint(3, 8)
    groups[some]["hosts"].insert(place, ghost)
    sites = {
        f"site_{town.lower()}": {
            "hosts": sorted(one for one in hosts if f".{town.lower()}." in one and one != loner)
        }
        for town in towns
    }
    body = {
        "_meta": {"hostvars": variables},
        "all": {"children": ["ungrouped", *ROLES, *sites]},
        **groups,
        "ungrouped": {"hosts": [loner]},
        **sites,
    }
    n = Notes()
    base = "/_meta/hostvars"

    def one(
        what: str,
        key: str,
        telling: list,
        path: str,
        *searches: str,
        alone: tuple = (),
        hidden: str = "",
        sql: str = "",
    ) -> None:
        names = [key, f"{key.split('.')[0]} ", f"{key.split('.')[0]}:"]
        n.say(
            what,
            w.pairs(telling, names) + rare(*alone),
            *searches,
            pointer=f"{base}/{key}{path}",
            hidden=hidden,
            sql=sql,
        )

    def get(column: str, where: str) -> str:
        return f"SELECT key, {column} FROM t WHERE {where}"

    n.say(
        "duplicate",
        (*w.same(shared), (twin, mate), (twin, shared, "ansible_host"), (twin, "also", shared)),
        shared,
        "ansible_host",
        pointer=f"{base}/{twin}/ansible_host",
        sql="SELECT ansible_host, count(*) AS duplicates FROM t GROUP BY 1 HAVING duplicates > 1",
        derived=True,
    )
    n.say(
        "missing field",
        (
            *w.gone([bare], "backup"),
            *w.pairs(
                ["backup"],
                [
                    f"{size - 1} of {size}",
                    "1 missing",
                    "missing: 1",
                    "1 without",
                    "missing in 1",
                    "all but 1",
                    "all but one",
                ],
            ),
        ),
        "backup",
        pointer=f"{base}/{bare}",
        sql=get("backup.enabled AS backup", "backup.enabled IS NULL"),
        derived=True,
    )
    one(
        "outlier",
        knock,
        [port, "ansible_port"],
        "/ansible_port",
        "ansible_port",
        str(port),
        alone=(port,),
        sql=get("ansible_port", "ansible_port <> 22"),
    )
    one(
        "rare value",
        root,
        ["root"],
        "/ansible_user",
        '"root"',
        "ansible_user",
        alone=("root",),
        sql=get("ansible_user", "ansible_user <> 'deploy'"),
    )
    told = [
        "ansible_become_password",
        "become password",
        "become_password",
        "plain text",
        "plaintext",
        "clear text",
        "not vaulted",
        "not from the vault",
    ]
    one(
        "secret",
        leak,
        told,
        "/ansible_become_password",
        "ansible_become_password",
        "vault_become_password",
        hidden=secret,
        sql=get("'ansible_become_password' AS secret", "ansible_become_password NOT LIKE '%vault%'"),
    )
    one(
        "rare value",
        snake,
        ["python2.7", "python2", "Python 2"],
        "/ansible_python_interpreter",
        "python2",
        "ansible_python_interpreter",
        alone=("python2.7", "/usr/bin/python2.7"),
        sql=get("ansible_python_interpreter", "ansible_python_interpreter LIKE '%2.7'"),
    )
    one(
        "rare value",
        dead,
        ["CentOS", "6.10"],
        "/os",
        "CentOS",
        "6.10",
        alone=("CentOS", "6.10"),
        sql=get("os.name, os.version", "os.name = 'CentOS'"),
    )
    one(
        "outlier",
        tiny,
        [memory, f"{memory} MB"],
        "/hardware/memory_mb",
        "memory_mb",
        f'"memory_mb": {memory}',
        alone=(memory,),
        sql="SELECT key, hardware.memory_mb FROM t ORDER BY 2 LIMIT 2",
    )
    one(
        "outlier",
        stale,
        [past],
        "/app_version",
        "app_version",
        past,
        alone=(past,),
        sql="SELECT key, app_version FROM t ORDER BY 2 LIMIT 2",
    )
    told = [
        "firewall",
        "enabled: false",
        "enabled false",
        "disabled",
        '"enabled": false',
        "firewall off",
        "enabled=false",
        "false",
        "enabled 0",
        "|0",
    ]
    one(
        "rare status",
        naked,
        told,
        "/firewall/enabled",
        '"enabled": false',
        "false",
        alone=("false", "firewall disabled"),
        sql=get("firewall.enabled", "NOT firewall.enabled"),
    )
    one(
        "time jump",
        lapsed,
        [before, before[:7], "2023"],
        "/backup/last_success",
        "2023-",
        "last_success",
        alone=(before,),
        sql="SELECT key, backup.last_success FROM t WHERE backup.last_success IS NOT NULL ORDER BY 2 LIMIT 2",
    )
    one(
        "outlier",
        public,
        [address, "public address", "public IP"],
        "/ansible_host",
        address,
        "203.0.113",
        alone=(address,),
        sql=get("ansible_host", "ansible_host NOT LIKE '10.%'"),
    )
    n.say(
        "rare value",
        (
            (loner, "ungrouped"),
            (loner, "no group"),
            (loner, "in no group"),
            ("ungrouped", "1 host"),
            ("ungrouped", loner.split(".")[0]),
        ),
        "ungrouped",
        loner,
        pointer="/ungrouped/hosts/0",
        sql=_leaf(loner).replace("path, value", "path, value, 'ungrouped' AS look", 1),
    )
    n.say(
        "contradiction",
        (
            *(
                (ghost, word)
                for word in (
                    *w.GONE,
                    "not defined",
                    "hostvars",
                    "contradict",
                    "undefined",
                    f"/{some}/hosts",
                    "dangling",
                )
            ),
            (ghost, some, "hosts"),
        ),
        ghost,
        "hosts",
        pointer=f"/{some}/hosts/{place}",
        sql=_leaf(ghost).replace("path, value", "path, value, 'not in hostvars' AS note", 1),
    )
    n.tally(
        size,
        ["hosts", "hostvars", "/_meta/hostvars", "_meta.hostvars", "rows", "entries", "members", "keys"],
        "ansible_host",
        sql="SELECT count(*) AS hosts FROM t",
    )
    n.tally(
        sum(1 for one in variables.values() if one["os"]["name"] == "Ubuntu"),
        ["Ubuntu"],
        "Ubuntu",
        sql="SELECT os.name, count(*) AS k FROM t GROUP BY 1",
    )
    return n.parts(json.dumps(body, indent=2))
