"""make audit: what is known against the installed versions; exit code 1 if something is, 2 if that could not be looked up.

pip-audit alone ends with 1 in both cases, and cannot leave out an editable package and be strict at the same time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request

KNOWN = "https://pypi.org/pypi/jinja2/3.1.2/json"
"""A version with published advisories, at the service that pip-audit asks: where these are missing, so may be all others."""
OURS = "compromis"


def main() -> int:
    """Ask for the advisories of every installed package, and print one sentence."""
    reason = unanswered(KNOWN)
    if reason:
        print(f"the advisory database could not be reached, so nothing was audited: {reason}")
        return 2
    command = [sys.executable, "-m", "pip_audit", "--skip-editable", "--progress-spinner", "off", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    code, sentence = judged(done.stdout, done.stderr)
    print(sentence)
    return code


def unanswered(url: str, seconds: float = 30) -> str:
    """Return why advisories cannot be had from a service; nothing if it lists those that are known to exist."""
    try:
        with urllib.request.urlopen(url, timeout=seconds) as answer:
            document = json.load(answer)
    except urllib.error.HTTPError as error:
        error.close()
        return f"{url} answered {error.code}"
    except (OSError, ValueError) as error:
        return f"{url}: {getattr(error, 'reason', error)}"
    if not (isinstance(document, dict) and document.get("vulnerabilities")):
        return f"{url} lists no advisories, but there are some"
    return ""


def judged(found: str, said: str) -> tuple[int, str]:
    """Return the exit code and a sentence for what pip-audit printed; a package that was not looked up is no clean one."""
    try:
        packages = json.loads(found)["dependencies"]
    except (ValueError, KeyError, TypeError):
        lines = said.strip().splitlines() or ["pip-audit printed nothing"]
        return 2, f"the audit failed: {lines[-1]}"
    known = [
        f"{one['name']} {one['version']} ({', '.join(flaw['id'] for flaw in one['vulns'])})"
        for one in packages
        if one.get("vulns")
    ]
    if known:
        return 1, f"vulnerabilities are known in {', '.join(known)}"
    skipped = [one["name"] for one in packages if "skip_reason" in one and one["name"] != OURS]
    if skipped or not packages:
        return 2, f"the audit is not whole: could not look up {', '.join(skipped) or 'any package'}"
    return 0, f"no vulnerability is known in the {sum('vulns' in one for one in packages)} installed packages"


if __name__ == "__main__":
    sys.exit(main())
