"""Measures import cycles, folder sizes and duplicate class names."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import grimp

PACKAGES = ("cutroom", "tests", "proofs", "eval", "dev", "bench")


def import_cycles(packages: tuple[str, ...] = PACKAGES) -> list[list[str]]:
    """Groups of modules that import each other, directly or indirectly."""
    graph = grimp.build_graph(*packages, include_external_packages=False, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    return [sorted(group) for group in _strongly_connected(imports) if len(group) > 1]


def _strongly_connected(graph: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Tarjan's algorithm, iterative so that deep graphs do not hit the recursion limit."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on_stack: set[str] = set()
    stack: list[str] = []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            child = next(successors, None)
            if child is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = stack[stack.index(node) :]
                    del stack[-len(group) :]
                    on_stack.difference_update(group)
                    yield group
            elif child not in index:
                index[child] = low[child] = len(index)
                stack.append(child)
                on_stack.add(child)
                work.append((child, iter(sorted(graph.get(child, set())))))
            elif child in on_stack:
                low[node] = min(low[node], index[child])


def files_by_folder(project: Path) -> dict[Path, int]:
    """Number of Python files directly in each folder."""
    counts: dict[Path, int] = defaultdict(int)
    for package in PACKAGES:
        for path in (project / package).rglob("*.py"):
            counts[path.parent.relative_to(project)] += 1
    return dict(counts)


def duplicate_class_names(package: Path) -> dict[str, list[Path]]:
    """Public classes whose name is declared at the top level of two or more modules."""
    places: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    return {name: paths for name, paths in places.items() if len(paths) > 1}
