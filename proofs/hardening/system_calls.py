"""System calls that programs in the sandbox must not make."""

from unittest.mock import patch

from cutroom.media import sandbox as sandbox_module
from cutroom.media.sandbox import Sandbox
from proofs.hardening.attacks import Scene
from tests.support.system_calls import ALLOW_ALL, CONTROL, DENIED, attempt_calls

FAMILY = "sandbox"
MIN_CALLS = 25
# Each is a row of its own; all of them are counted.
NAMED = ("socket", "socketpair", "ptrace", "mount", "unshare", "clone", "keyctl", "bpf", "io_uring_setup", "setns")


async def attack_sandbox(scene: Scene) -> None:
    found = await attempt_calls(Sandbox())
    with patch.object(sandbox_module, "compile_filter", lambda: ALLOW_ALL):
        unfiltered = await attempt_calls(Sandbox())
    if found.pop(CONTROL) != 0 or unfiltered["socket"] != 0:
        raise RuntimeError("the attempts fail for another reason than the filter")
    log = scene.log
    log.syscalls_tried = len(found)
    log.syscalls_allowed = sorted(name for name, number in found.items() if number not in DENIED)
    for name in NAMED:
        log.add(
            FAMILY,
            f"the system call {name}",
            DENIED.get(found[name], "allowed"),
            succeeded=name in log.syscalls_allowed,
        )
    others = [name for name in log.syscalls_allowed if name not in NAMED]
    happened = f"{len(others)} allowed"
    log.add(FAMILY, f"{len(found) - len(NAMED)} other system calls", happened, succeeded=bool(others))
