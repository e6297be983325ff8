"""How the site is built: ``make docs``. Nothing is fetched from the network."""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "src"))

import live_report  # noqa: E402
import reference_pages  # noqa: E402

import compromis  # noqa: E402

project = "compromis"
author = "The compromis developers"
version = release = compromis.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "pictures", "gallery/**/*.ipynb", "gallery/**/*.md5", "gallery/**/*.zip", "**/README.*"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]
smartquotes = False  # options have two dashes

myst_heading_anchors = 3
myst_enable_extensions = ["deflist", "colon_fence"]

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say what each parameter is, in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the class template lists them
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "compromis"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "_static" / "search_scorer.js")
html_show_sourcelink = False
html_sidebars = {"start": [], "method": []}  # pages without pages below them
html_context = {"default_mode": "auto"}
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
project_copyright = "The compromis developers, BSD 3-Clause licence"

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"plot_",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "copyfile_regex": "",
    "capture_repr": (),
    "remove_config_comments": True,
    "matplotlib_animations": False,
    "nested_sections": False,
}

_OUTSIDE = re.compile(r"(?<!!)\[([^\]]+)\]\(\.\./([^)#]+)(?:#[^)]*)?\)")


def _adapt(_app: object, _docname: str, source: list[str]) -> None:
    """Name files outside docs instead of linking to them."""
    source[0] = _OUTSIDE.sub(r"\1 (`\2`)", source[0])


def setup(app: object) -> None:
    """Write the reference pages and the report of the home page before Sphinx looks for sources."""
    reference_pages.write(HERE / "reference")
    live_report.write(HERE / "_static" / "live" / "report.html")
    app.connect("source-read", _adapt)  # type: ignore[attr-defined]
