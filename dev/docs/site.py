"""MkDocs hooks: adds the Markdown pages from the repository root and all decisions to the site."""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# Source file in the repository root -> page on the site.
ROOT_PAGES = {"CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md", "CHANGELOG.md": "changelog.md"}
DECISIONS = "decisions/*.md"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Expands the decisions pattern in the navigation."""
    folder = Path(config.docs_dir)
    names = sorted(path.relative_to(folder).as_posix() for path in folder.glob(DECISIONS) if path.name != "README.md")
    config.nav = _expand(config.nav, names)
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    root = Path(config.config_file_path).parent
    for source, page in ROOT_PAGES.items():
        files.append(File.generated(config, page, content=relink((root / source).read_text())))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Rewrites links to files in the repository root."""
    up = "../" * page.file.src_uri.count("/")
    for source, target in ROOT_PAGES.items():
        markdown = re.sub(rf"\]\((?:\.\./)+{source}", f"]({up}{target}", markdown)
    return markdown


def relink(text: str) -> str:
    """Rewrites the links of a page from the repository root for the site."""
    text = re.sub(r"\]\(docs/", "](", text)
    text = text.replace("](README.md)", "](index.md)")
    for source, page in ROOT_PAGES.items():
        text = text.replace(f"]({source}", f"]({page}")
    return text


def _expand(nav: Any, names: list[str]) -> Any:  # noqa: ANN401 (YAML)
    if isinstance(nav, dict):
        return {title: _expand(part, names) for title, part in nav.items()}
    if isinstance(nav, list):
        return [each for part in nav for each in (names if part == DECISIONS else [_expand(part, names)])]
    return nav
