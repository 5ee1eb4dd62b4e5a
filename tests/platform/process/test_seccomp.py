"""The table and the rules of the system call filter, interpreted as the kernel does."""

import ctypes
import struct
from collections.abc import Iterator

import pytest

from cutroom.platform.process import seccomp
from cutroom.platform.process.seccomp import ALLOW, ARCHITECTURES, FORBID, HIDE, KILL, compile_filter

BY_ARGUMENT = {
    "clone": seccomp.CLONE,
    "ioctl": seccomp.IOCTL,
    "prctl": seccomp.PRCTL,
    "personality": seccomp.PERSONALITY,
}
ALWAYS = {**seccomp.FORBIDDEN, **seccomp.UNAVAILABLE}
EVERY_CALL = {**ALWAYS, **BY_ARGUMENT}
X32_BIT = 0x4000_0000
I386 = 0x4000_0003


def decide(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """Interprets the filter as the kernel does."""
    audit_arch = ARCHITECTURES[machine].audit_arch if architecture is None else architecture
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number & 0xFFFF_FFFF, audit_arch, 0, *padded)
    program = list(struct.iter_unpack("=HBBI", compile_filter(machine)))
    at, loaded = 0, 0
    while True:
        code, if_true, if_false, value = program[at]
        at += 1
        if code == 0x06:
            return int(value)
        if code == 0x20:
            (loaded,) = struct.unpack_from("<I", data, value)
            continue
        holds = {0x15: loaded == value, 0x25: loaded > value, 0x45: bool(loaded & value)}[code]
        at += if_true if holds else if_false


def numbers(machine: str) -> Iterator[tuple[str, int]]:
    for name, row in EVERY_CALL.items():
        number = row[ARCHITECTURES[machine].column]
        if number is not None:
            yield name, number


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_numbers_are_those_of_libseccomp(machine: str) -> None:
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_syscall_resolve_name_arch.argtypes = [ctypes.c_uint32, ctypes.c_char_p]
    architecture = ARCHITECTURES[machine]
    for name, row in EVERY_CALL.items():
        number = library.seccomp_syscall_resolve_name_arch(architecture.audit_arch, name.encode())
        assert (number if number >= 0 else None) == row[architecture.column], name


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_listed_calls_are_denied_and_all_others_allowed(machine: str) -> None:
    denied = dict(numbers(machine))
    for name, number in denied.items():
        if name in ALWAYS:
            assert decide(machine, number) == (FORBID if name in seccomp.FORBIDDEN else HIDE), name
    others = set(range(seccomp.NEWEST_CALL + 1)) - set(denied.values())
    assert {decide(machine, number) for number in others} == {ALLOW}


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_other_architectures_and_unknown_calls_are_denied(machine: str) -> None:
    other = next(each.audit_arch for name, each in ARCHITECTURES.items() if name != machine)
    assert decide(machine, 0, architecture=I386) == decide(machine, 0, architecture=other) == KILL
    for number in (seccomp.NEWEST_CALL + 1, 999, X32_BIT, X32_BIT | 41, -1):
        assert decide(machine, number) == HIDE


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize(
    ("call", "arguments", "action"),
    [
        ("clone", (0x0100_0011,), ALLOW),  # fork
        ("clone", (0x003D_0F00,), ALLOW),  # a thread
        *[("clone", (1 << bit | 17,), FORBID) for bit in (17, 25, 26, 27, 28, 29, 30)],
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), FORBID),
        ("ioctl", (0, 1 << 32 | 0x5412), FORBID),  # the kernel ignores the upper half
        ("ioctl", (0, 0x541C), FORBID),
        ("prctl", (15,), ALLOW),
        ("prctl", (22, 2), FORBID),
        ("prctl", (0x59616D61, 1), FORBID),
        ("personality", (0,), ALLOW),
        ("personality", (0x0040000,), FORBID),  # ADDR_NO_RANDOMIZE
    ],
)
def test_calls_are_denied_by_their_arguments(machine: str, call: str, arguments: tuple[int, ...], action: int) -> None:
    number = BY_ARGUMENT[call][ARCHITECTURES[machine].column]
    assert number is not None
    assert decide(machine, number, *arguments) == action
