"""Documents whose matter is deep: containers, hosts by name, suites of tests, a realm."""

# ruff: noqa: S104, S608, SIM905

import json
import random
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Items, Notes
from bench.fidelity.planted import Parts, kind
from bench.fidelity.set_six.words import field

IMAGES = {
    "postgres": ("16.2-alpine", "5432/tcp", "postgres"),
    "redis": ("7.2.4-alpine", "6379/tcp", "redis-server"),
    "nginx": ("1.25.4", "80/tcp", "nginx"),
    "registry.example.org/shop/api": ("4.18.0", "8080/tcp", "/app/server"),
    "registry.example.org/shop/worker": ("4.18.0", "9100/tcp", "/app/worker"),
    "registry.example.org/shop/web": ("4.17.2", "3000/tcp", "node"),
}


def _container(rng: random.Random, name: str, image: str, k: int) -> dict:
    """One container that runs well."""
    tag, port, run = IMAGES[image]
    made = datetime(2025, 4, 2, 6, tzinfo=UTC) + timedelta(seconds=rng.randint(0, 2_000_000))
    began = made + timedelta(seconds=rng.uniform(0.2, 3))
    ident, net = w.hexes(rng, 64), w.hexes(rng, 64)
    checked = datetime(2025, 5, 6, 9, 12, tzinfo=UTC) + timedelta(seconds=rng.randint(0, 25))
    published, layers = 20_000 + k * 10, "/var/lib/docker/overlay2"
    probe = {
        "Start": f"{checked:%Y-%m-%dT%H:%M:%S}.{rng.randint(10**8, 10**9 - 1)}Z",
        "End": f"{checked:%Y-%m-%dT%H:%M:%S}.{rng.randint(10**8, 10**9 - 1)}Z",
        "ExitCode": 0,
        "Output": "ok\n",
    }
    return {
        "Id": ident,
        "Created": f"{made:%Y-%m-%dT%H:%M:%S}.{rng.randint(10**8, 10**9 - 1)}Z",
        "Path": run,
        "Args": [],
        "State": {
            "Status": "running",
            "Running": True,
            "Paused": False,
            "Restarting": False,
            "OOMKilled": False,
            "Dead": False,
            "Pid": rng.randint(1200, 88_000),
            "ExitCode": 0,
            "Error": "",
            "StartedAt": f"{began:%Y-%m-%dT%H:%M:%S}.{rng.randint(10**8, 10**9 - 1)}Z",
            "FinishedAt": "0001-01-01T00:00:00Z",
            "Health": {"Status": "healthy", "FailingStreak": 0, "Log": [probe]},
        },
        "Image": f"sha256:{w.hexes(rng, 64)}",
        "ResolvConfPath": f"/var/lib/docker/containers/{ident}/resolv.conf",
        "HostnamePath": f"/var/lib/docker/containers/{ident}/hostname",
        "LogPath": f"/var/lib/docker/containers/{ident}/{ident}-json.log",
        "Name": f"/{name}",
        "RestartCount": rng.choice((0, 0, 0, 1, 2)),
        "Driver": "overlay2",
        "Platform": "linux",
        "HostConfig": {
            "Binds": [f"{name}-data:/data:rw"],
            "LogConfig": {"Type": "json-file", "Config": {"max-file": "3", "max-size": "10m"}},
            "NetworkMode": "shop_backend",
            "PortBindings": {port: [{"HostIp": "127.0.0.1", "HostPort": str(published)}]},
            "RestartPolicy": {"Name": "unless-stopped", "MaximumRetryCount": 0},
            "AutoRemove": False,
            "CapAdd": None,
            "CapDrop": ["ALL"],
            "Dns": [],
            "Privileged": False,
            "ReadonlyRootfs": True,
            "SecurityOpt": ["no-new-privileges:true"],
            "ShmSize": 67_108_864,
            "Runtime": "runc",
            "CpuShares": 0,
            "Memory": rng.choice((256, 512, 1024, 2048)) * 1_048_576,
            "NanoCpus": rng.choice((500_000_000, 1_000_000_000, 2_000_000_000)),
            "PidsLimit": 256,
        },
        "GraphDriver": {
            "Data": {
                "LowerDir": f"{layers}/{w.hexes(rng, 64)}-init/diff:{layers}/{w.hexes(rng, 64)}/diff",
                "MergedDir": f"{layers}/{w.hexes(rng, 64)}/merged",
            },
            "Name": "overlay2",
        },
        "Mounts": [
            {
                "Type": "volume",
                "Name": f"{name}-data",
                "Source": f"/var/lib/docker/volumes/{name}-data/_data",
                "Destination": "/data",
                "Driver": "local",
                "Mode": "rw",
                "RW": True,
                "Propagation": "",
            }
        ],
        "Config": {
            "Hostname": ident[:12],
            "User": "1000:1000",
            "ExposedPorts": {port: {}},
            "Tty": False,
            "Env": [
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                f"SERVICE_NAME={name}",
                f"SERVICE_TEAM={name.split('-')[0]}",
                "DB_CREDENTIALS_FILE=/run/secrets/db",
                f"LOG_LEVEL={rng.choice(('info', 'warn'))}",
            ],
            "Cmd": [run],
            "Image": f"{image}:{tag}",
            "WorkingDir": "/app",
            "Labels": {
                "com.docker.compose.project": "shop",
                "com.docker.compose.service": name,
                "com.docker.compose.version": "2.24.6",
                "maintainer": f"{name.split('-')[0]}@example.org",
            },
        },
        "NetworkSettings": {
            "SandboxID": w.hexes(rng, 64),
            "Ports": {port: [{"HostIp": "127.0.0.1", "HostPort": str(published)}]},
            "Networks": {
                "shop_backend": {
                    "Aliases": [name, ident[:12]],
                    "NetworkID": net,
                    "EndpointID": w.hexes(rng, 64),
                    "Gateway": "172.22.0.1",
                    "IPAddress": f"172.22.{k // 200}.{k % 200 + 10}",
                    "IPPrefixLen": 16,
                    "MacAddress": "02:42:ac:16:" + f"{k // 200:02x}:{k % 200 + 10:02x}",
                }
            },
        },
    }


@kind("docker_inspect", "nested")
def docker_inspect(rng: random.Random) -> Parts:
    """`docker inspect $(docker ps -aq)`: the whole of each container."""
    size = rng.randint(46, 50)
    names = w.distinct(
        rng,
        size,
        lambda r: (
            f"{r.choice(w.TEAMS)}-{r.choice(('db', 'cache', 'api', 'worker', 'web'))}-{r.randint(1, 3)}"
        ),
    )
    suffix = {
        "db": "postgres",
        "cache": "redis",
        "api": "shop/api",
        "worker": "shop/worker",
        "web": "shop/web",
    }
    items = []
    for k, name in enumerate(names):
        end = suffix[name.split("-")[1]]
        items.append(_container(rng, name, next(one for one in IMAGES if one.endswith(end)), k))
    spots = w.spots(rng, size, 14, apart=2)
    oom, loop, mighty, sock, leak, host, wide, latest, sick, twin, root, free, old, cap = spots
    state = items[oom]["State"]
    state.update(
        Status="exited",
        Running=False,
        OOMKilled=True,
        Pid=0,
        ExitCode=137,
        FinishedAt="2025-05-05T22:41:09.118240771Z",
    )
    del state["Health"]
    times = rng.randint(900, 4800)
    items[loop]["RestartCount"] = times
    items[loop]["State"].update(Status="restarting", Restarting=True, Pid=0)
    items[mighty]["HostConfig"]["Privileged"] = True
    items[sock]["HostConfig"]["Binds"].append("/var/run/docker.sock:/var/run/docker.sock")
    secret = w.alnum(rng, 18)
    items[leak]["Config"]["Env"].insert(3, f"SMTP_PASSWORD={secret}")
    items[host]["HostConfig"].update(NetworkMode="host", PortBindings={})
    items[host]["NetworkSettings"].update(
        Ports={}, Networks={"host": {"NetworkID": w.hexes(rng, 64), "IPAddress": "", "Gateway": ""}}
    )
    port = next(iter(items[wide]["NetworkSettings"]["Ports"]))
    for part in ("HostConfig", "NetworkSettings"):
        items[wide][part]["PortBindings" if part == "HostConfig" else "Ports"][port][0]["HostIp"] = "0.0.0.0"
    image = items[latest]["Config"]["Image"].rsplit(":", 1)[0]
    items[latest]["Config"]["Image"] = f"{image}:latest"
    streak = rng.randint(140, 980)
    health = {"Status": "unhealthy", "FailingStreak": streak}
    items[sick]["State"]["Health"].update(health)
    items[sick]["State"]["Health"]["Log"][0].update(
        ExitCode=1, Output="dial tcp 172.22.0.250:5672: connect: connection refused\n"
    )
    nets = [one["NetworkSettings"]["Networks"].get("shop_backend") for one in items]
    nets[twin]["IPAddress"] = nets[twin - 1]["IPAddress"] if nets[twin - 1] else nets[twin + 1]["IPAddress"]
    other = twin - 1 if nets[twin - 1] else twin + 1
    items[root]["Config"]["User"] = "root"
    items[free]["HostConfig"]["Memory"] = 0
    year = f"201{rng.randint(8, 9)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"
    items[old]["Created"] = f"{year}T04:20:11.402118832Z"
    items[cap]["HostConfig"]["CapAdd"] = ["SYS_ADMIN"]
    n = Items("", [[name, one["Id"][:12], one["Id"]] for name, one in zip(names, items, strict=True)])
    get = "SELECT Name, {0} FROM t WHERE {1}".format
    asked = get("State.Status, State.ExitCode, State.OOMKilled", "State.ExitCode <> 0")
    n.one(
        "error",
        oom,
        ["OOMKilled", "137", "exited"],
        "/State/OOMKilled",
        "137",
        '/"OOMKilled": ?true/',
        "exited",
        sql=asked,
    )
    asked = "SELECT Name, RestartCount FROM t ORDER BY RestartCount DESC LIMIT 2"
    n.one(
        "outlier",
        loop,
        [*w.spell(times), "restarting"],
        "/RestartCount",
        "RestartCount",
        "restarting",
        str(times),
        sql=asked,
    )
    field(
        n,
        "rare value",
        mighty,
        ["Privileged"],
        "/HostConfig/Privileged",
        '/"Privileged": ?true/',
        "Privileged",
        sql=get("HostConfig.Privileged", "HostConfig.Privileged"),
    )
    asked = (get("HostConfig.Binds", "HostConfig.Binds LIKE '%docker.sock%'"), w.find("docker.sock"))
    n.one("rare value", sock, ["docker.sock"], "/HostConfig/Binds/1", "docker.sock", sql=asked)
    asked = get("'SMTP_PASSWORD' AS word", "Config.Env LIKE '%SMTP_PASSWORD%'")
    n.one(
        "secret",
        leak,
        ["SMTP_PASSWORD", "password"],
        "/Config/Env/3",
        "PASSWORD",
        "SMTP",
        hidden=secret,
        sql=asked,
    )
    asked = get("HostConfig.NetworkMode", "HostConfig.NetworkMode = 'host'")
    field(
        n,
        "rare value",
        host,
        ["NetworkMode", '"host"', "network host", "host network", "`host`"],
        "/HostConfig/NetworkMode",
        "NetworkMode",
        '"host"',
        sql=asked,
    )
    n.one(
        "rare value",
        wide,
        ["0.0.0.0"],
        "/NetworkSettings/Ports",
        "0.0.0.0",
        "HostIp",
        sql=(get("NetworkSettings.Ports", "NetworkSettings.Ports LIKE '%0.0.0.0%'"), w.find("0.0.0.0")),
    )
    n.one(
        "rare value",
        latest,
        [":latest", "latest"],
        "/Config/Image",
        ":latest",
        "latest",
        sql=get("Config.Image", "Config.Image LIKE '%:latest'"),
    )
    asked = get("State.Health.Status, State.Health.FailingStreak", "State.Health.Status = 'unhealthy'")
    n.one(
        "error",
        sick,
        ["unhealthy", "connection refused", f"FailingStreak {streak}"],
        "/State/Health",
        "unhealthy",
        "refused",
        "FailingStreak",
        sql=asked,
    )
    ip = nets[twin]["IPAddress"]
    evidence = (*w.same(ip, names[other], names[twin]), (ip, f"/{other}/", f"/{twin}/"))
    asked = (
        "SELECT NetworkSettings.Networks.shop_backend.IPAddress AS ip, count(*) AS duplicates FROM t "
        "GROUP BY 1 HAVING duplicates > 1"
    )
    n.say(
        "duplicate",
        evidence,
        ip,
        "IPAddress",
        pointer=f"/{twin}/NetworkSettings/Networks/shop_backend/IPAddress",
        sql=asked,
        derived=True,
    )
    told = [
        '"root"',
        "`root`",
        "User root",
        "User: root",
        "User=root",
        "root 1",
        "1 root",
        "root (",
        "as root",
        "|root",
        "root|",
        "root ×",
        "→ root",
        "root at",
    ]
    n.one(
        "rare value",
        root,
        told,
        "/Config/User",
        '"root"',
        "User",
        sql=get("Config.User", "Config.User = 'root'"),
    )
    asked = get("HostConfig.Memory", "HostConfig.Memory = 0")
    told = [
        "Memory 0",
        "Memory: 0",
        "Memory=0",
        '"Memory": 0',
        '"Memory":0',
        "Memory = 0",
        "Memory` 0",
        "Memory|0",
        "no memory limit",
        "Memory is 0",
        "min 0",
        "0 at",
        "without memory",
        "unlimited",
        "zero",
        "0 (",
        "Memory",
    ]
    field(n, "outlier", free, told, "/HostConfig/Memory", '/"Memory": ?0,/', "Memory", sql=asked)
    n.one(
        "time jump",
        old,
        [year, year[:7], year[:4]],
        "/Created",
        "Created",
        f"{year[:4]}-",
        sql="SELECT Name, Created FROM t ORDER BY Created LIMIT 2",
    )
    asked = (get("HostConfig.CapAdd", "HostConfig.CapAdd LIKE '%SYS_ADMIN%'"), w.find("SYS_ADMIN"))
    n.one(
        "rare value", cap, ["SYS_ADMIN", "CapAdd"], "/HostConfig/CapAdd/0", "SYS_ADMIN", "CapAdd", sql=asked
    )
    running = sum(one["State"]["Status"] == "running" for one in items)
    n.tally(
        running, ["running"], "running", "Status", sql="SELECT State.Status, count(*) AS n FROM t GROUP BY 1"
    )
    n.tally(
        size,
        ["containers", "items", "rows", "entries", "objects", "records", "elements"],
        '"RestartCount"',
        sql="SELECT count(*) AS items FROM t",
    )
    return n.parts(json.dumps(items, indent=4))


@kind("ansible_inventory", "nested")
def ansible_inventory(rng: random.Random) -> Parts:
    """`ansible-inventory --list`: the variables of each host by its name, then the groups."""
    hosts: dict[str, dict] = {}
    groups: dict[str, list[str]] = {}
    roles = rng.sample(w.TEAMS, 13)
    for role in roles:
        center, owner = rng.choice(("fra", "ams", "waw")), rng.choice(w.TEAMS)
        cores, disk = rng.choice((4, 8, 16)), rng.choice((100, 200, 500))
        for k in range(1, rng.randint(15, 21)):
            at = len(hosts)
            hosts[f"{role}-{k:02d}"] = {
                "ansible_connection": "ssh",
                "ansible_host": f"10.31.{at // 200}.{at % 200 + 11}",
                "ansible_port": 22,
                "ansible_python_interpreter": "/usr/bin/python3",
                "ansible_user": "deploy",
                "backup": {
                    "enabled": True,
                    "keep_days": rng.choice((14, 30)),
                    "window": f"0{rng.randint(0, 5)}:{rng.randint(0, 59):02d}",
                },
                "datacenter": f"{center}{rng.randint(1, 2)}",
                "data_disk_gb": disk,
                "env": "production",
                "monitoring": {
                    "agent": "node_exporter",
                    "port": 9100,
                    "scrape_interval": rng.choice(("15s", "30s")),
                },
                "os": w.pick(rng, {"Debian 12": 62, "Rocky 9.3": 38}),
                "owner": owner,
                "patched_on": f"2025-04-{rng.randint(1, 28):02d}",
                "rack": f"R{rng.randint(1, 24):02d}",
                "selinux": "enforcing",
                "sysctl": {"net.core.somaxconn": rng.choice((1024, 4096)), "vm.swappiness": 10},
                "vcpus": cores,
            }
            groups.setdefault(role, []).append(f"{role}-{k:02d}")
    names = sorted(hosts)
    spots = w.spots(rng, len(names), 14, apart=6)
    gone = spots[0]
    gone += next(
        d for d in range(5) if names[gone + d - 1][:-3] == names[gone + d][:-3] == names[gone + d + 1][:-3]
    )
    twin = spots[2]
    lost = names[gone]
    del hosts[lost]
    groups[lost[:-3]].remove(lost)
    at = {
        key: names[k]
        for key, k in zip(
            "leak twin bare public bak stage eol door big note py soft stale".split(), spots[1:], strict=True
        )
    }
    secret = w.alnum(rng, 16)
    hosts[at["leak"]] = dict(sorted({**hosts[at["leak"]], "ansible_become_password": secret}.items()))
    first = next(
        names[k] for k in (twin - 2, twin - 3) if names[k] in hosts and "ansible_host" in hosts[names[k]]
    )
    ip = hosts[first]["ansible_host"]
    hosts[at["twin"]]["ansible_host"] = ip
    del hosts[at["bare"]]["ansible_host"]
    outside = f"203.0.113.{rng.randint(10, 240)}"
    hosts[at["public"]]["ansible_host"] = outside
    hosts[at["bak"]]["backup"]["enabled"] = False
    hosts[at["stage"]]["env"] = "staging"
    hosts[at["eol"]]["os"] = "CentOS 6.10"
    hosts[at["py"]]["ansible_python_interpreter"] = "/usr/bin/python2.7"
    hosts[at["soft"]]["selinux"] = "disabled"
    past = f"2019-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"
    hosts[at["stale"]]["patched_on"] = past
    disk = rng.randint(41_000, 88_000)
    hosts[at["big"]]["data_disk_gb"] = disk
    hosts[at["note"]]["note"] = "decommissioned, power off after 2024-02; do not deploy here"
    port = rng.randint(20_100, 29_800)
    hosts[at["door"]]["ansible_port"] = port
    for host, facts in hosts.items():
        for key in (
            f"dc_{facts['datacenter']}",
            f"os_{facts['os'].split('.')[0].lower().replace(' ', '_')}",
            f"rack_{facts['rack']}",
        ):
            groups.setdefault(key, []).append(host)
    ghost = f"{sorted(roles)[rng.randint(3, 9)]}-77"
    place = rng.randint(2, 9)
    groups[ghost[:-3]].insert(place, ghost)
    document = {"_meta": {"hostvars": hosts}, "all": {"children": ["ungrouped", *sorted(groups)]}}
    document |= {name: {"hosts": found} for name, found in groups.items()}
    n = Notes()
    base = "/_meta/hostvars"

    def one(
        what: str, key: str, telling: list, path: str, *searches: str, hidden: str = "", sql: tuple | str = ()
    ) -> None:
        host = at[key]
        n.say(
            what, w.pairs(telling, [host]), *searches, pointer=f"{base}/{host}{path}", hidden=hidden, sql=sql
        )

    get = "SELECT key, {0} FROM t WHERE {1}".format
    asked = "SELECT key, 'ansible_become_password' AS name FROM t WHERE ansible_become_password IS NOT NULL"
    one(
        "secret",
        "leak",
        ["become_password", "password"],
        "/ansible_become_password",
        "password",
        hidden=secret,
        sql=asked,
    )
    asked = "SELECT ansible_host, count(*) AS duplicates FROM t GROUP BY 1 HAVING duplicates > 1"
    n.say(
        "duplicate",
        w.same(ip, first, at["twin"]),
        ip,
        "ansible_host",
        pointer=f"{base}/{at['twin']}/ansible_host",
        sql=asked,
        derived=True,
    )
    asked = get("'ansible_host missing' AS note", "ansible_host IS NULL")
    n.say(
        "missing field",
        w.gone([at["bare"]], "ansible_host"),
        "ansible_host",
        pointer=f"{base}/{at['bare']}",
        sql=asked,
        derived=True,
    )
    one(
        "outlier",
        "public",
        [outside, "203.0.113"],
        "/ansible_host",
        outside,
        "ansible_host",
        sql=get("ansible_host", "ansible_host NOT LIKE '10.%'"),
    )
    told = ["backup.enabled", "enabled", "backup"]
    one(
        "rare value",
        "bak",
        told,
        "/backup/enabled",
        '/"enabled": ?false/',
        "enabled",
        sql=get("backup.enabled", "NOT backup.enabled"),
    )
    one("rare value", "stage", ["staging"], "/env", "staging", "env", sql=get("env", "env <> 'production'"))
    one(
        "rare value", "eol", ["CentOS 6", "CentOS"], "/os", "CentOS", "os", sql=get("os", "os LIKE 'CentOS%'")
    )
    one(
        "rare value",
        "py",
        ["python2.7", "python2"],
        "/ansible_python_interpreter",
        "python2",
        "interpreter",
        sql=get("ansible_python_interpreter", "ansible_python_interpreter LIKE '%python2%'"),
    )
    one(
        "rare value",
        "soft",
        ["disabled", "selinux"],
        "/selinux",
        "disabled",
        "selinux",
        sql=get("selinux", "selinux <> 'enforcing'"),
    )
    one(
        "time jump",
        "stale",
        [past, past[:7], past[:4]],
        "/patched_on",
        "patched_on",
        "2019-",
        sql="SELECT key, patched_on FROM t ORDER BY 2 LIMIT 2",
    )
    one(
        "outlier",
        "big",
        w.spell(disk),
        "/data_disk_gb",
        "data_disk_gb",
        str(disk),
        sql="SELECT key, data_disk_gb FROM t ORDER BY 2 DESC LIMIT 2",
    )
    one(
        "rare value",
        "note",
        ["decommissioned", "do not deploy", "power off"],
        "/note",
        "decommissioned",
        "note",
        sql=get("note", "note IS NOT NULL"),
    )
    known = f"(SELECT count(*) FROM lines b WHERE b.text LIKE '%{ghost}\": {{%')"
    asked = w.find(ghost).replace("SELECT n, text", f"SELECT n, text, {known} AS hostvars")
    told = [
        f"/{ghost[:-3]}/hosts/{place}",
        "hostvars",
        "not defined",
        "undefined",
        "unknown",
        "no variables",
        "missing",
        "gap",
        "jump",
        "without",
    ]
    n.say(
        "contradiction",
        (*w.pairs([ghost], told),),
        ghost,
        "/-77/",
        pointer=f"/{ghost[:-3]}/hosts/{place}",
        sql=asked,
    )
    asked = "SELECT key, ansible_port FROM t ORDER BY 2 DESC LIMIT 2"
    one("outlier", "door", w.spell(port), "/ansible_port", "ansible_port", str(port), sql=asked)
    a, b = names[gone - 1], names[gone + 1]
    asked = (
        "SELECT a, b, 'gap' AS note FROM (SELECT key AS b, lag(key) OVER (ORDER BY n) AS a FROM t) "
        "WHERE substr(a, 1, length(a) - 3) = substr(b, 1, length(b) - 3) AND number(substr(b, -2)) - number(substr(a, -2)) > 1"
    )
    evidence = (
        *w.gap([lost], a, b),
        (lost[:-3], f" {lost[-2:]}", "missing"),
        (lost[:-3], f" {lost[-2:]}", "gap"),
    )
    n.say("gap", evidence, lost, a, pointer=f"{base}/{b}", sql=asked, derived=True)
    n.tally(
        len(hosts),
        ["hosts", "hostvars", "entries", "keys", "items", "members", "rows", "objects"],
        "ansible_port",
        sql="SELECT count(*) AS hosts FROM t",
    )
    return n.parts(json.dumps(document, indent=4, sort_keys=True))
