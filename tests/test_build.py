"""The build backend finds a C compiler, or zig's, or says what to install; kernels built either way pass their tests."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.packaging.kernel_lines import kernel_lines

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="setuptools itself looks for Visual C++")


@pytest.fixture
def backend(monkeypatch):
    pytest.importorskip("setuptools")
    spec = importlib.util.spec_from_file_location("compromis_build", ROOT / "build_backend" / "compromis_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    for name in ("CC", "LDSHARED", "COMPROMIS_BUILD", "PIP_NO_INDEX", "UV_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    return module


@pytest.fixture
def bare(monkeypatch, tmp_path, backend):
    """A machine without a compiler."""
    monkeypatch.setenv("PATH", str(tmp_path))
    if backend.find_compiler():
        pytest.skip("this Python names its compiler by a whole path")


def test_a_compiler_that_works_is_used(backend, monkeypatch, tmp_path):
    for name, code in (("cc", 1), ("clang", 0)):  # as on macOS, where cc may only offer to install one
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {code}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(backend.sysconfig, "get_config_var", {"CC": "gcc -pthread"}.get)
    assert backend.find_compiler() == "clang"
    assert backend.missing_compiler() == []
    monkeypatch.setenv("CC", "tcc")
    assert backend.find_compiler() == "tcc"


def test_zig_is_asked_for_where_there_is_no_compiler_but_an_index(backend, bare, monkeypatch):
    monkeypatch.setattr(backend, "_index_has_zig", lambda: True)
    assert backend.missing_compiler() == ["ziglang>=0.13"]
    monkeypatch.setattr(backend, "find_spec", lambda name: name)
    assert backend.missing_compiler() == []
    backend.use_compiler()
    assert os.environ["CC"].endswith(" -m ziglang cc -mcpu=baseline")


@pytest.mark.parametrize("without", ["PIP_NO_INDEX", "UV_OFFLINE", "PIP_INDEX_URL"])
def test_without_compiler_and_index_one_sentence_says_what_to_install(backend, bare, monkeypatch, without):
    monkeypatch.setenv(without, "http://127.0.0.1:9/simple" if without == "PIP_INDEX_URL" else "1")
    assert backend.missing_compiler() == []
    with pytest.raises(
        SystemExit, match=r"no C compiler; install one .* or, from the package index, pip install ziglang"
    ):
        backend.use_compiler()


def test_missing_headers_of_python_are_told(backend, monkeypatch, tmp_path):
    monkeypatch.setattr(backend.sysconfig, "get_path", lambda _: str(tmp_path))
    with pytest.raises(SystemExit, match=r"Python\.h is missing; install the headers of Python"):
        backend.use_compiler()


def test_lines_of_c_stand_for_lines_of_kernels():
    translated = """
  /* "src/a/kernels/b.pxi":7
 *     x = y  # <<<<<<<<<<<<<<
 */
    x = y;
  /* function exit code */
    return x;
}
int other;
"""
    places = kernel_lines(translated)
    assert {place for number, place in places.items()} == {("src/a/kernels/b.pxi", 7)}
    assert max(places) == 5


@pytest.mark.integration
@pytest.mark.parametrize("hidden", [False, True], ids=["its compiler", "zig"])
def test_the_wheel_is_built_and_works_with(hidden, backend, tmp_path):
    environment = {name: value for name, value in os.environ.items() if name not in {"CC", "LDSHARED"}}
    if hidden:
        (tmp_path / "nothing").mkdir()
        environment["PATH"] = str(tmp_path / "nothing")
        if not backend._index_has_zig():
            pytest.skip("the package index does not answer, and zig comes from there")
    elif not backend.find_compiler():
        pytest.skip("there is no C compiler")
    # An sdist, because in the working tree what was compiled before counts as done.
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(command, env=environment, capture_output=True, check=True)
    (sdist,) = tmp_path.glob("*.tar.gz")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(sdist)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "package")
    environment["PYTHONPATH"] = str(tmp_path / "package")
    folders = [f"tests/{source.parent.name}" for source in ROOT.glob("src/compromis/*/_kernels.pyx")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *folders]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
