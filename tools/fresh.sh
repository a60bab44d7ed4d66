#!/usr/bin/env bash
# Runs both commands of the README in a bare Debian root, so that no missing install step hides behind what this
# machine happens to have. Needs root and mmdebstrap. `tools/fresh.sh run` stops after `make run`.
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-all}
if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap > /dev/null; then
  echo "fresh: skipped: it needs root and mmdebstrap (apt-get install mmdebstrap)"
  exit 0
fi
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
root=$(mktemp -d "${TMPDIR:-/tmp}/brimgate-fresh.XXXXXX")
served=""

finish() {
  [ -z "$served" ] || kill "$served" 2> /dev/null || true
  for place in dev/pts dev proc; do
    umount "$root/$place" 2> /dev/null || umount -l "$root/$place" 2> /dev/null || true
  done
  # Never into a mount that could not be undone.
  mountpoint -q "$root/dev/pts" || mountpoint -q "$root/dev" || mountpoint -q "$root/proc" || rm -rf --one-file-system "$root"
}
trap finish EXIT

echo "fresh: a bare Debian ($suite) with git, make, python3, python3-venv and ca-certificates"
mmdebstrap --quiet --variant=minbase --include=git,make,python3,python3-venv,ca-certificates "$suite" "$root"
# How this machine reaches the registries is its own matter: names, certificates, and the variables of the clients.
cp /etc/resolv.conf /etc/hosts "$root/etc/"
[ ! -f /etc/ssl/certs/ca-certificates.crt ] || cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
for file in /etc/pip.conf /root/.pip/pip.conf /root/.config/pip/pip.conf /root/.npmrc; do
  [ ! -f "$file" ] || install -D -m 600 "$file" "$root$file"
done
git clone --quiet --no-hardlinks . "$root/brimgate"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount --bind /dev/pts "$root/dev/pts"

inside() { env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
  $(env | grep -E '^(PIP_|npm_config_|NPM_CONFIG_|SSL_CERT_|NODE_EXTRA_CA|https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY)' | grep -v ' ' || true) \
  chroot "$root" /bin/bash -c "cd /brimgate && $1"; }

echo "fresh: make run"
inside 'exec make run' > "$root/run.log" 2>&1 < /dev/null &
served=$!
for _ in $(seq 600); do
  if grep -q 'http://127.0.0.1:[0-9]*/mcp' "$root/run.log"; then break; fi
  if ! kill -0 "$served" 2> /dev/null; then cat "$root/run.log"; echo "fresh: make run ended"; exit 1; fi
  sleep 0.5
done
address=$(grep -o 'http://127.0.0.1:[0-9]*' "$root/run.log" | tail -1)
inside "python3 -c 'import urllib.request; print(urllib.request.urlopen(\"$address/health\", timeout=20).read().decode())'"
inside '.venv/bin/python -m pip list --format=freeze | wc -l' | sed 's/^/fresh: packages that running needs: /'
pkill -TERM -P "$served" 2> /dev/null || true
kill "$served" 2> /dev/null || true
wait "$served" 2> /dev/null || true
served=""
[ "$what" != run ] || exit 0

echo "fresh: make test"
inside 'make test'
