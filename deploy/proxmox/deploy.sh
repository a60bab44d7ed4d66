#!/bin/sh
# Installs Brimgate as the MCP endpoint of Vikunja (vikunja-mcp.service): in a container of this Proxmox host, or here.
# Each release has a folder of its own, and a link says which one runs. One that does not get healthy is rolled back.
set -eu

usage() {
  cat << 'EOF'
usage: deploy.sh COMMAND (--ctid N | --here) [options]

commands:
  install     install, start, and wait until it is healthy
  upgrade     the same beside the release that runs; back to that one if the new one is not healthy
  rollback    run the release before
  uninstall   remove all but /etc/vikunja-mcp and the logs
  status      what runs, and whether it is healthy (exit 0)

where:
  --ctid N             in this container, by pct; on a Proxmox host
  --here               on this machine

what (install, upgrade):
  --source DIR         build it from this checkout (default: the one this script is in)
  --wheel FILE         a wheel
  --version V          this version from the package index that pip is configured for

options:
  --log-files          (install, upgrade) log to /var/log/vikunja-mcp/{out,error}.log instead of the journal
  --purge              (uninstall) remove /etc/vikunja-mcp and the logs, too
  --health-url URL     what has to answer 200 (default: http://localhost:PORT/health)
  --health-seconds N   how long to wait for it (default: 60)
  --dry-run            print what would be done
EOF
}

PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
unit=vikunja-mcp
user=vikunja
home=/opt/$unit
settings=/etc/$unit
units=/etc/systemd/system
logs=/var/log/$unit
top=$(cd "$(dirname "$0")/../.." && pwd)
work=""

say() { printf 'deploy: %s\n' "$*"; }
die() {
  printf 'deploy: %s\n' "$*" >&2
  exit "${status:-1}"
}
wrong() { status=2 die "$* (deploy.sh --help)"; }

# Runs a command, or prints it.
run() {
  if [ "$dry" = yes ]; then
    printf '  %s\n' "$*"
  else
    "$@"
  fi
}

clean() { [ -z "$work" ] || rm -rf "$work"; }
trap clean EXIT
trap 'exit 130' INT TERM

# ---------------------------------------------------------------- the command line

command="" where="" ctid="" kind=source package="" dry=no purge=no log_files=no health_url="" health_seconds=60

read_arguments() {
  while [ $# -gt 0 ]; do
    case $1 in
      install | upgrade | rollback | uninstall | status)
        [ -z "$command" ] || wrong "one command at a time: $command, $1"
        command=$1
        ;;
      --here) where="$where here" ;;
      --dry-run) dry=yes ;;
      --purge) purge=yes ;;
      --log-files) log_files=yes ;;
      -h | --help) usage && exit 0 ;;
      --ctid | --source | --wheel | --version | --health-url | --health-seconds)
        [ $# -ge 2 ] || wrong "$1 needs a value"
        read_option "$1" "$2"
        shift
        ;;
      *) wrong "unknown: $1" ;;
    esac
    shift
  done
  check_arguments
}

read_option() {
  case $1 in
    --ctid) where="$where ctid" ctid=$2 ;;
    --health-url) health_url=$2 ;;
    --health-seconds) health_seconds=$2 ;;
    *)
      [ -z "$package" ] || wrong "one of --source, --wheel and --version"
      kind=${1#--} package=$2
      ;;
  esac
}

check_arguments() {
  [ -n "$command" ] || wrong "install, upgrade, rollback, uninstall or status?"
  case $where in " here" | " ctid") ;; *) wrong "where? --ctid N or --here" ;; esac
  case $ctid in *[!0-9]*) wrong "--ctid must be a number, not $ctid" ;; esac
  case $health_seconds in "" | *[!0-9]*) wrong "--health-seconds must be a number, not $health_seconds" ;; esac
  [ "$command" = install ] || [ "$command" = upgrade ] || { kind=none && return; }
  case $kind in
    source)
      package=${package:-$top}
      [ -f "$package/pyproject.toml" ] || wrong "--source $package: there is no pyproject.toml"
      package=$(cd "$package" && pwd)
      ;;
    wheel)
      case $package in *.whl) ;; *) wrong "--wheel $package: not a .whl" ;; esac
      [ -f "$package" ] || wrong "--wheel $package: no such file"
      ;;
    version) case $package in *[!0-9A-Za-z.+!-]*) wrong "--version $package: not a version" ;; esac ;;
  esac
}

# ---------------------------------------------------------------- in a container

# Does the same there: this script, its files and the package go over, and it runs with --here.
deploy_in_container() {
  command -v pct > /dev/null || die "pct is not here: --ctid is for a Proxmox host"
  case $(pct status "$ctid") in *running*) ;; *) die "container $ctid does not run: pct start $ctid" ;; esac
  case $(pct config "$ctid") in
    *nesting=1*) ;;
    *) say "note: container $ctid has no nesting, which the unit's hardening needs: pct set $ctid --features nesting=1" ;;
  esac
  work=$(mktemp -d)
  pack_bundle
  say "container $ctid: copy $(du -k "$work/bundle.tar.gz" | cut -f1) KB"
  if [ "$dry" = yes ]; then
    there=/var/tmp/$unit.XXXXXX
  else
    there=$(pct exec "$ctid" -- mktemp -d "/var/tmp/$unit.XXXXXX")
  fi
  run pct push "$ctid" "$work/bundle.tar.gz" "$there/bundle.tar.gz"
  run pct exec "$ctid" -- tar -xzf "$there/bundle.tar.gz" -C "$there"
  set -- "$command" --here --health-seconds "$health_seconds"
  [ -z "$health_url" ] || set -- "$@" --health-url "$health_url"
  [ "$purge" = no ] || set -- "$@" --purge
  [ "$log_files" = no ] || set -- "$@" --log-files
  case $kind in
    source) set -- "$@" --source "$there/source" ;;
    wheel) set -- "$@" --wheel "$there/${package##*/}" ;;
    version) set -- "$@" --version "$package" ;;
  esac
  code=0
  run pct exec "$ctid" -- sh "$there/deploy/proxmox/deploy.sh" "$@" || code=$?
  run pct exec "$ctid" -- rm -rf "$there"
  exit "$code"
}

pack_bundle() {
  mkdir "$work/bundle"
  cp -R "$top/deploy" "$work/bundle/deploy"
  mkdir -p "$work/bundle/docs/how-to"
  cp "$top/docs/how-to/deploy-vikunja.md" "$work/bundle/docs/how-to/"
  case $kind in
    wheel) cp "$package" "$work/bundle/" ;;
    source) mkdir "$work/bundle/source" && copy_source "$package" "$work/bundle/source" ;;
  esac
  tar -C "$work/bundle" -czf "$work/bundle.tar.gz" .
}

# Copies what a build needs, and nothing that a checkout gathers.
copy_source() {
  for part in pyproject.toml README.md LICENSE src requirements; do
    [ ! -e "$1/$part" ] || tar -C "$1" --exclude=__pycache__ --exclude='*.pyc' -cf - "$part" | tar -C "$2" -xf -
  done
}

# ---------------------------------------------------------------- on this machine

check_machine() {
  [ "$dry" = yes ] && return
  [ "$(id -u)" = 0 ] || die "it needs root"
  command -v systemctl > /dev/null || die "there is no systemd here"
  exec 9> "/run/$unit-deploy.lock"
  flock -n 9 || die "another deploy.sh is at work"
}

install_packages() {
  needed=""
  python3 -c 'import ensurepip, venv' 2> /dev/null || needed="$needed python3 python3-venv"
  command -v curl > /dev/null || needed="$needed curl"
  if [ -n "$needed" ]; then
    command -v apt-get > /dev/null || die "install these first:$needed"
    say "install the packages$needed"
    run apt-get update -qq
    # shellcheck disable=SC2086  # several names
    run install_quietly $needed
  fi
  [ "$dry" = yes ] || python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || die "Python 3.11 or newer is needed"
}

install_quietly() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "$@" > /dev/null
}

make_user() {
  getent group "$user" > /dev/null || { say "make the group $user" && run groupadd --system "$user"; }
  getent passwd "$user" > /dev/null && return
  say "make the user $user"
  run useradd --system --gid "$user" --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "$user"
}

make_settings() {
  run install -d -m 0750 -o root -g "$user" "$settings"
  if [ -e "$settings/environment" ]; then
    say "keep $settings/environment"
    return
  fi
  say "write $settings/environment: look at it"
  run install -m 0640 -o root -g "$user" "$top/deploy/systemd/environment.example" "$settings/environment"
}

# Puts the package into a folder of its own. Sets $release, its name: the version, and which build of it.
make_release() {
  work=${work:-$(mktemp -d)}
  required=$package
  case $kind in
    source) build_wheel ;;
    version) required="brimgate[redis]==$package" release=$package ;;
  esac
  case $required in
    *.whl)
      release=$(basename "$required" | cut -d- -f2)-$(sha256sum < "$required" | cut -c1-8)
      required="${required}[redis]"
      ;;
  esac
  if [ -e "$home/releases/$release/.complete" ]; then
    say "release $release is there already"
    return
  fi
  say "make release $release"
  run rm -rf "$home/releases/$release"
  run install -d -m 0755 "$home" "$home/releases"
  run python3 -m venv "$home/releases/$release"
  set -- --quiet --disable-pip-version-check --no-cache-dir
  [ ! -s "$work/constraints.txt" ] || set -- "$@" --constraint "$work/constraints.txt"
  if ! run "$home/releases/$release/bin/python" -m pip install "$@" "$required"; then
    rm -rf "$home/releases/$release"
    die "pip could not install it; nothing has changed"
  fi
  keep_files "$home/releases/$release"
}

build_wheel() {
  say "build a wheel from $package"
  if [ "$dry" = yes ]; then
    required="$work/brimgate-$(sed -n 's/^version = "\(.*\)"/\1/p' "$package/pyproject.toml")-DIGEST.whl"
    : > "$required"
    return
  fi
  mkdir "$work/source"
  copy_source "$package" "$work/source"
  # The versions that the tests ran with. Without their hashes: pip would want one for our own wheel, too.
  if [ -f "$work/source/requirements/dev.txt" ]; then
    sed -n '/^[A-Za-z]/{s/\[[^]]*\]//;s/ *\\$//;p}' "$work/source/requirements/dev.txt" > "$work/constraints.txt"
  fi
  python3 -m venv "$work/build"
  "$work/build/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-cache-dir --no-deps \
    --wheel-dir "$work/wheel" "$work/source" || die "the wheel could not be built; nothing has changed"
  required=$(echo "$work"/wheel/*.whl)
}

# Keeps with a release the files that belong to it: a roll back brings its unit back, too.
keep_files() {
  run install -d "$1/share/$unit"
  for file in systemd/$unit.service systemd/$unit.socket systemd/$unit.service.d/log-files.conf logrotate/$unit; do
    run install -m 0644 "$top/deploy/$file" "$1/share/$unit/$(echo "$file" | tr / _)"
  done
  [ ! -f "$top/docs/how-to/deploy-vikunja.md" ] || run install -m 0644 "$top/docs/how-to/deploy-vikunja.md" "$1/share/$unit/"
  # The user of the service reads it, and changes nothing.
  run chmod -R go=rX "$1"
  run touch "$1/.complete"
}

# Makes a release the one that runs from the next start on.
activate() {
  say "switch to release $1"
  files=$home/releases/$1/share/$unit
  run install -m 0644 "$files/systemd_$unit.service" "$units/$unit.service"
  run install -m 0644 "$files/systemd_$unit.socket" "$units/$unit.socket"
  if ! systemctl cat vikunja.service > /dev/null 2>&1; then
    say "note: vikunja.service is not on this machine, so the unit does not require it"
    run sed -i '/^Requires=vikunja.service$/d' "$units/$unit.service"
  fi
  if [ "$log_files" = yes ]; then
    run install -d -m 0755 "$units/$unit.service.d"
    run install -m 0644 "$files/systemd_$unit.service.d_log-files.conf" "$units/$unit.service.d/log-files.conf"
    run install -d -m 2750 -o root -g adm "$logs"
  fi
  [ ! -d /etc/logrotate.d ] || run install -m 0644 "$files/logrotate_$unit" "/etc/logrotate.d/$unit"
  link "releases/$1" current
  link current/bin bin
  run systemctl daemon-reload
}

# Changes a link in one step: whoever starts meanwhile finds the old or the new one.
link() {
  run ln -sfn "$1" "$home/.$2.new"
  run mv -fT "$home/.$2.new" "$home/$2"
}

# Prints the name of the release that a link leads to.
release_of() { [ ! -L "$home/$1" ] || basename "$(readlink "$home/$1")"; }

setting() { [ ! -r "$settings/environment" ] || sed -n "s/^$1=[\"']\{0,1\}\([^\"']*\)[\"']\{0,1\}\$/\1/p" "$settings/environment" | tail -n 1; }

find_health_url() {
  [ -z "$health_url" ] || return 0
  port=$(setting BRIMGATE_PORT)
  port=${port:-$(setting MCP_HTTP_PORT)}
  if systemctl is-active --quiet "$unit.socket" 2> /dev/null; then
    port=$(systemctl show --property=Listen --value "$unit.socket" | sed -n 's/.*:\([0-9]*\) (Stream).*/\1/p' | head -n 1)
  fi
  health_url=http://localhost:${port:-3010}/health
}

# Asks for both: another program may answer at that port.
is_healthy() {
  curl -fsS --noproxy '*' --max-time 5 -o /dev/null "$health_url" 2> /dev/null && systemctl is-active --quiet "$unit.service"
}

# Waits until it is healthy. Gives up early on one that ends again and again.
wait_for_health() {
  find_health_url
  say "wait for $health_url"
  [ "$dry" = yes ] && return 0
  until=$(($(date +%s) + health_seconds))
  while [ "$(date +%s)" -lt "$until" ]; do
    if is_healthy; then
      say "healthy"
      return 0
    fi
    restarts=$(systemctl show --property=NRestarts --value "$unit.service" 2> /dev/null || true)
    if [ "${restarts:-0}" -ge 5 ]; then
      say "it has ended $restarts times"
      return 1
    fi
    sleep 1
  done
  return 1
}

show_log() {
  say "$health_url says: $(curl -sS --noproxy '*' --max-time 5 "$health_url" 2>&1 | head -c 300)"
  say "its last words:"
  if [ -e "$units/$unit.service.d/log-files.conf" ]; then
    tail -n 15 "$logs/error.log" 2> /dev/null | sed 's/^/  /' || true
  fi
  journalctl --unit="$unit" --lines=15 --no-pager --output=cat 2> /dev/null | sed 's/^/  /' || true
  say "more: journalctl -u $unit -e, or $logs/error.log"
}

install_release() {
  install_packages
  make_user
  make_settings
  make_release
  before=$(release_of current)
  activate "$release"
  if [ "$before" = "$release" ] && [ "$log_files" = no ]; then
    run systemctl enable --now "$unit.service" || true
  else
    run systemctl enable "$unit.service"
    run systemctl restart "$unit.service" || true
  fi
  if wait_for_health; then
    [ -z "$before" ] || [ "$before" = "$release" ] || link "releases/$before" previous
    remove_old_releases
    say "release $release runs"
    return
  fi
  show_log
  if [ -z "$before" ] || [ "$before" = "$release" ]; then
    run systemctl disable --now "$unit.service"
    run rm -f "$home/current"
    die "release $release is not healthy, and there is none to go back to: it is stopped"
  fi
  go_back "$before" "$release"
}

go_back() {
  say "roll back"
  activate "$1"
  run systemctl restart "$unit.service" || true
  wait_for_health || die "release $2 is not healthy, nor is $1, which runs again: does Vikunja answer at $(setting VIKUNJA_API_URL)?"
  run rm -rf "$home/releases/$2"
  die "release $2 was not healthy: $1 runs again"
}

remove_old_releases() {
  for folder in "$home"/releases/*; do
    name=$(basename "$folder")
    case $name in "$(release_of current)" | "$(release_of previous)" | "*") continue ;; esac
    say "remove release $name"
    run rm -rf "$folder"
  done
}

upgrade() {
  [ -n "$(release_of current)" ] || [ "$dry" = yes ] || die "nothing is installed: deploy.sh install"
  install_release
}

roll_back() {
  release=$(release_of current) before=$(release_of previous)
  [ -n "$before" ] || die "there is no release before ${release:-this}"
  activate "$before"
  link "releases/$release" previous
  run systemctl restart "$unit.service" || true
  wait_for_health || { show_log && die "release $before is not healthy; deploy.sh rollback goes back to $release"; }
  say "release $before runs; deploy.sh rollback goes back to $release"
}

uninstall() {
  for one in "$unit.socket" "$unit.service"; do
    [ ! -e "$units/$one" ] || run systemctl disable --now "$one"
  done
  say "remove the units, $home and /var/lib/$unit"
  run rm -rf "$units/$unit.service" "$units/$unit.socket" "$units/$unit.service.d" "$units/$unit.socket.d" "/etc/logrotate.d/$unit" "$home" "/var/lib/$unit"
  run systemctl daemon-reload
  run systemctl reset-failed "$unit.service" 2> /dev/null || true
  if [ "$purge" = yes ]; then
    say "remove $settings and $logs"
    run rm -rf "$settings" "$logs"
  else
    say "keep $settings and $logs (--purge removes them)"
  fi
  say "keep the user $user: Vikunja may use it"
}

show_status() {
  current=$(release_of current) previous=$(release_of previous)
  say "release: ${current:-none}"
  say "before:  ${previous:-none}"
  say "service: $(systemctl is-active "$unit.service" 2> /dev/null || true)"
  find_health_url
  if is_healthy; then
    say "health:  $health_url answers 200"
  else
    die "health:  $health_url does not answer 200, or the service does not run"
  fi
}

read_arguments "$@"
[ "$dry" = no ] || say "dry run: nothing is changed"
[ "$where" = " here" ] || deploy_in_container
[ "$command" = status ] || check_machine
case $command in
  install) install_release ;;
  upgrade) upgrade ;;
  rollback) roll_back ;;
  uninstall) uninstall ;;
  status) show_status ;;
esac
