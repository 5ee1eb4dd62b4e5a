"""What the documentation site has beside docs/: pages that live at the root of the repository, and every decision."""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# A page at the root, and what it is called on the site.
ROOT_PAGES = {"CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md", "CHANGELOG.md": "changelog.md"}
DECISIONS = "decisions/*.md"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """A decision is in the navigation as soon as its file is there."""
    folder = Path(config.docs_dir)
    names = sorted(path.relative_to(folder).as_posix() for path in folder.glob(DECISIONS) if path.name != "README.md")
    config.nav = _spread(config.nav, names)
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    root = Path(config.config_file_path).parent
    for source, page in ROOT_PAGES.items():
        files.append(File.generated(config, page, content=relinked((root / source).read_text())))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Pages link to the root of the repository as GitHub shows it."""
    up = "../" * page.file.src_uri.count("/")
    for source, target in ROOT_PAGES.items():
        markdown = re.sub(rf"\]\((?:\.\./)+{source}", f"]({up}{target}", markdown)
    return markdown


def relinked(text: str) -> str:
    """Links as the root of the repository has them, as the site has them."""
    text = re.sub(r"\]\(docs/", "](", text)
    text = text.replace("](README.md)", "](index.md)")
    for source, page in ROOT_PAGES.items():
        text = text.replace(f"]({source}", f"]({page}")
    return text


def _spread(nav: Any, names: list[str]) -> Any:  # noqa: ANN401 (as YAML has it)
    if isinstance(nav, dict):
        return {title: _spread(part, names) for title, part in nav.items()}
    if isinstance(nav, list):
        return [each for part in nav for each in (names if part == DECISIONS else [_spread(part, names)])]
    return nav
