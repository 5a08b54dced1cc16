#!/usr/bin/env bash
# Tries the package with other Pythons: those named, or 3.12, 3.13 and 3.14 as far as this machine has them.
#
#   packaging/pythons.sh              what is at hand, quickly
#   packaging/pythons.sh 3.13         one
#   WHOLE=1 packaging/pythons.sh      all tests instead of a few
#   FETCH=1 packaging/pythons.sh      lets uv download Pythons that are not at hand
#
# Each gets an environment of its own under .pythons, which stays for the next time. A Python that cannot be found is told; the exit
# code is 1 where tests failed, else 0.
set -uo pipefail
cd "$(dirname "$0")/.."
QUICK="tests/session/test_session.py tests/world tests/trajectory tests/grader/importers/test_losses.py
    tests/grader/milestones/test_strict.py tests/server/test_mcp_server.py tests/run/test_play.py"

interpreter() {
    if command -v uv >/dev/null; then
        if [ -n "${FETCH:-}" ]; then
            uv python find "$1" 2>/dev/null || { uv python install --quiet "$1" >&2 && uv python find "$1"; }
        else
            uv python find --no-python-downloads "$1" 2>/dev/null
        fi && return
    fi
    command -v "python$1" && "python$1" -c '' 2>/dev/null && return
    ls "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python 2>/dev/null | tail -1 | grep .
}

failed=0
for version in "${@:-3.12 3.13 3.14}"; do for version in $version; do
    if ! python=$(interpreter "$version" | tail -1) || [ -z "$python" ]; then
        echo "Python $version: not at hand; uv python install $version, pyenv install $version, or FETCH=1 $0 $version"
        continue
    fi
    home=.pythons/$version
    if command -v uv >/dev/null; then
        [ -x "$home/bin/python" ] || uv venv --quiet --python "$python" "$home"
        uv pip install --quiet --python "$home" -e '.[dev]'
    else
        [ -x "$home/bin/python" ] || "$python" -m venv "$home"
        "$home/bin/python" -m pip install --quiet --disable-pip-version-check -e '.[dev]'
    fi || { echo "Python $version: what it needs cannot be installed"; failed=1; continue; }
    # shellcheck disable=SC2086
    if "$home/bin/pytest" -n "${JOBS:-2}" -p no:cacheprovider ${WHOLE:+tests} $([ -n "${WHOLE:-}" ] || echo $QUICK); then
        echo "Python $version: fine"
    else
        echo "Python $version: tests failed"
        failed=1
    fi
done; done
exit $failed
