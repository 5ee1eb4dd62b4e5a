"""Compiles the seccomp filter of the sandbox: system calls that no media or text program needs are denied.

A deny list, because an allow list that fits every build of FFmpeg, glibc and Python would be guesswork. Calls newer
than NEWEST_CALL are denied as unknown, so that a newer kernel adds nothing to what the programs can reach.
"""

import errno
import platform
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

NEWEST_CALL = 450  # set_mempolicy_home_node of Linux 5.17; numbers are shared by all architectures from 424 on


@dataclass(frozen=True, slots=True)
class Architecture:
    """How the kernel names an architecture in filters, and which column of the table has its call numbers."""

    audit_arch: int
    column: int


ARCHITECTURES = {"x86_64": Architecture(0xC000003E, 0), "aarch64": Architecture(0xC00000B7, 1)}

# Numbers on x86_64 and aarch64; None where the call does not exist.
Numbers = tuple[int | None, int | None]

# Denied with EPERM, as if the caller lacked a privilege.
FORBIDDEN: dict[str, Numbers] = {
    # Network and other sockets: the programs talk through pipes and files only.
    "socket": (41, 198),
    "socketpair": (53, 199),
    # Other processes.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # Namespaces and mounts.
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    # Keyrings, and large or rarely used parts of the kernel.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "seccomp": (317, 277),
    "vmsplice": (278, 75),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "memfd_secret": (447, 447),
    "lookup_dcookie": (212, 18),
    # The machine.
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
}

# Denied with ENOSYS, as on a kernel without them, so that libraries fall back: from clone3 to clone, whose flags can be
# read by a filter.
UNAVAILABLE: dict[str, Numbers] = {
    "clone3": (435, 435),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "mbind": (237, 235),
    "get_mempolicy": (239, 236),
    "set_mempolicy": (238, 237),
    "set_mempolicy_home_node": (450, 450),
    "remap_file_pages": (216, 234),
    "uselib": (134, None),
    "ustat": (136, None),
    "sysfs": (139, None),
    "_sysctl": (156, None),
    "create_module": (174, None),
    "get_kernel_syms": (177, None),
    "query_module": (178, None),
    "nfsservctl": (180, 42),
}

# Calls that are denied by the value of one argument.
CLONE: Numbers = (56, 220)
IOCTL: Numbers = (16, 29)
PRCTL: Numbers = (157, 167)
PERSONALITY: Numbers = (135, 92)
# CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET.
NAMESPACE_FLAGS = 0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000
TIOCSTI, TIOCLINUX = 0x5412, 0x541C  # input for the terminal of the worker
PR_SET_SECCOMP, PR_SET_PTRACER = 22, 0x59616D61

# Opcodes of classic BPF (linux/bpf_common.h), and offsets in struct seccomp_data (linux/seccomp.h).
_LOAD, _RETURN = 0x20, 0x06
_IF_EQUAL, _IF_GREATER, _IF_ANY_BIT = 0x15, 0x25, 0x45
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
ALLOW, KILL, ERRNO = 0x7FFF_0000, 0x8000_0000, 0x0005_0000  # KILL ends the whole process
FORBID, HIDE = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS


class UnsupportedArchitectureError(Exception):
    """There is no table of system calls for this machine."""


@cache
def compile_filter(machine: str | None = None) -> bytes:
    """The filter for bubblewrap's `--seccomp`; by default for this machine, as `uname -m` names it."""
    machine = machine or platform.machine()
    if machine not in ARCHITECTURES:
        raise UnsupportedArchitectureError(f"There is no system call filter for {machine}.")
    return b"".join(_program(ARCHITECTURES[machine]))


def _program(architecture: Architecture) -> Iterator[bytes]:
    # A call of another architecture, such as 32-bit x86, has other numbers.
    yield _instruction(_LOAD, _ARCHITECTURE)
    yield _instruction(_IF_EQUAL, architecture.audit_arch, if_true=1)
    yield _instruction(_RETURN, KILL)
    yield _instruction(_LOAD, _NUMBER)
    yield from _return_if(_IF_GREATER, NEWEST_CALL, HIDE)  # also calls of the x32 ABI: they have bit 30 set
    for calls, action in ((FORBIDDEN, FORBID), (UNAVAILABLE, HIDE)):
        for numbers in calls.values():
            number = numbers[architecture.column]
            if number is not None:
                yield from _return_if(_IF_EQUAL, number, action)
    for numbers, argument, checks in _argument_checks():
        number = numbers[architecture.column]
        if number is not None:
            body = [_instruction(_LOAD, _ARGUMENTS + 8 * argument), *checks, _instruction(_RETURN, ALLOW)]
            yield _instruction(_IF_EQUAL, number, if_false=len(body))
            yield from body
    yield _instruction(_RETURN, ALLOW)


def _argument_checks() -> Iterator[tuple[Numbers, int, list[bytes]]]:
    """Calls, the position of an argument, and what denies them by its lower half: the kernel ignores the upper one."""
    yield CLONE, 0, [*_return_if(_IF_ANY_BIT, NAMESPACE_FLAGS, FORBID)]
    yield IOCTL, 1, [*_return_if(_IF_EQUAL, TIOCSTI, FORBID), *_return_if(_IF_EQUAL, TIOCLINUX, FORBID)]
    yield PRCTL, 0, [*_return_if(_IF_EQUAL, PR_SET_SECCOMP, FORBID), *_return_if(_IF_EQUAL, PR_SET_PTRACER, FORBID)]
    yield PERSONALITY, 0, [_instruction(_IF_EQUAL, 0, if_true=1), _instruction(_RETURN, FORBID)]


def _return_if(condition: int, value: int, action: int) -> Iterator[bytes]:
    yield _instruction(condition, value, if_false=1)
    yield _instruction(_RETURN, action)


def _instruction(code: int, value: int, *, if_true: int = 0, if_false: int = 0) -> bytes:
    """One `struct sock_filter`; jumps skip that many instructions."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
