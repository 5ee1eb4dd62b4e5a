"""Import cycles, folder sizes and class names are measured as the layout proof reports them."""

from pathlib import Path

from dev.structure.modules import _strongly_connected, duplicate_class_names, files_by_folder


def test_cycles_are_found_and_chains_are_not() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}
    groups = sorted(sorted(group) for group in _strongly_connected(graph))
    assert groups == [["a", "b", "c"], ["d"], ["e"]]


def test_files_are_counted_directly_in_each_folder(tmp_path: Path) -> None:
    (tmp_path / "cutroom" / "deep").mkdir(parents=True)
    for name in ("a.py", "b.py", "c.txt", "deep/d.py"):
        (tmp_path / "cutroom" / name).touch()
    assert files_by_folder(tmp_path) == {Path("cutroom"): 2, Path("cutroom/deep"): 1}


def test_only_public_top_level_classes_count_as_duplicates(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class A: ...\nclass _B: ...\n")
    (tmp_path / "two.py").write_text("class A: ...\nclass _B: ...\nclass C: ...\n")
    assert list(duplicate_class_names(tmp_path)) == ["A"]
