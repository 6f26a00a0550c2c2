"""A platform as the cache model sees it: levels with a bound, vector registers, accumulators of instructions.

Takes a platform; gives a core machine, and the facts of it that a row rests on, as claims list them. Must not
supply a number that the platform does not state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cachet_verify.core.machine import Level, Machine
from cachet_verify.elaborate.platform import THREADGROUP, Platform


def machine_of(platform: Platform) -> Machine:
    """The machine that a platform states. A level without a capacity is one that nothing outgrows."""
    levels = [_level((name,), stated) for name, stated in platform.levels.items() if "capacity" in stated and name not in THREADGROUP]
    shared: dict[tuple[tuple[str, int], ...], tuple[str, ...]] = {}
    for name in (name for name in THREADGROUP if name in platform.levels):
        stated = tuple(sorted(platform.levels[name].items()))
        shared[stated] = (*shared.get(stated, ()), name)
    levels += [_level(names, dict(stated)) for stated, names in shared.items()]
    lanes = _stated(platform, "lanes", "Vec")
    return Machine(platform.name, tuple(levels), lanes, platform.facts.get(("vector_registers", "Vec")), _stated(platform, "accumulators"))


def _stated(platform: Platform, *head: str) -> tuple[tuple[str, int], ...]:
    """The facts under some words, by the one word more that each of them has."""
    return tuple((words[-1], value) for words, value in platform.facts.items() if words[:-1] == head)


def _level(names: tuple[str, ...], stated: Mapping[str, int]) -> Level:
    return Level(names, stated["capacity"], stated.get("line", 1), stated.get("sharers", 1), stated.get("ways"))


def level_fact(platform: Platform, name: str) -> str:
    """What a platform states of a level, as its file does."""
    if name in THREADGROUP and set(platform.levels[name]) == {"capacity"}:
        rooms = {device: stated[THREADGROUP[0]] for device, stated in platform.devices.items() if THREADGROUP[0] in stated}
        if rooms:
            device, room = min(rooms.items(), key=lambda item: int(item[1]))
            return f"{platform.name}.{device} threadgroup = {room}"
    stated = ", ".join(f"{key} = {value}" for key, value in platform.levels[name].items())
    return f"{platform.name}.{name} = Level {{ {stated} }}"


def register_facts(platform: Platform, elems: frozenset[str]) -> Iterator[str]:
    """What a platform states of its vector registers, as far as these element types need it."""
    yield f"{platform.name}.vector_registers @Vec = {platform.facts['vector_registers', 'Vec']}"
    for elem in sorted(elems):
        yield f"{platform.name}.lanes @Vec @{elem} = {platform.facts['lanes', 'Vec', elem]}"


def accumulator_fact(platform: Platform, instruction: str) -> str:
    """What a platform states of an instruction's accumulator."""
    return f"{platform.name}.accumulators @{instruction} = {platform.facts['accumulators', instruction]}"
